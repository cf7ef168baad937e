"""The tables between the stages of a build on a cluster: their columns, and what makes their rows.

Rows travel in the format of Arrow, which Spark and Python both read without a copy of each value.
What is here runs in the tasks, and knows nothing of Spark.
"""

import json
import pickle
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bilingual_crawler.alignment.two_passes import Learned
from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.cluster.near_copies import bands_of, number_of, signature_of
from bilingual_crawler.corpus.cluster.site_harvest import (
    PairWithTexts,
    align_site,
    harvest_site,
    learn_from,
)
from bilingual_crawler.corpus.cluster.site_parts import parts_of
from bilingual_crawler.corpus.cluster.source_rows import rows_of
from bilingual_crawler.corpus.keep_rule import pairing_aids
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.resources import PairingAids
from bilingual_crawler.store.sentence_pair import SentencePair

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_AT_ONCE = 500
ACCOUNT = "account"
"""The kind of rows that have counts and nothing else."""
PAGES = (
    "site string, kind string, keys array<long>, sides array<long>, source long, place long,"
    " data string, counts string"
)
PLACES = "site string, source long, place long, chosen long"
PAIRS = (
    "langs string, site string, part long, url1 string, url2 string, pair string, first string,"
    " second string, exact long, signature array<long>, bands array<long>, counts string"
)
LEARNED = "langs string, learned binary"
_TYPES = {"int": "long", "float": "double", "str": "string"}
_COLUMNS = fields(SentencePair)
SENTENCES = ", ".join(
    (
        "langs string",
        *(f"{f.name} {_TYPES[getattr(f.type, '__name__', str(f.type))]}" for f in _COLUMNS),
        "counts string",
    )
)

Words = dict[tuple[str, str], Learned]


def page_tables(
    number: int, source: str, pairs: Sequence[LanguagePair], config: Config
) -> Iterator["pa.Table"]:
    """Yield what one source has, a piece at a time, and its counts last."""
    counts: Counter[str] = Counter()
    waiting: list[tuple[Any, ...]] = []
    for row in rows_of(source, pairs, config, counts):
        waiting.append((row.site, row.kind, row.keys, row.sides, number, row.place, row.data, None))
        if len(waiting) >= ROWS_AT_ONCE:
            yield _table_of(waiting, PAGES)
            waiting = []
    waiting.append(("", ACCOUNT, [], [], number, 0, None, json.dumps(counts)))
    yield _table_of(waiting, PAGES)


def place_table(site: str, pages: "pa.Table") -> "pa.Table":
    """Return the part of each page of a site that is split."""
    chosen = parts_of(pages.column("keys").to_pylist(), pages.column("parts")[0].as_py())
    places = (pages.column(name).to_pylist() for name in ("source", "place"))
    return _table_of([(site, *each) for each in zip(*places, chosen, strict=True)], PLACES)


def pair_table(
    site: str, part: int, things: "pa.Table", pairs: Sequence[LanguagePair], config: Config
) -> "pa.Table":
    """Return the pairs of one site, or of a part of it, and the counts of each two languages."""
    ordered = things.sort_by([("source", "ascending"), ("place", "ascending")])
    kinds, data = (ordered.column(name).to_pylist() for name in ("kind", "data"))
    found = list(zip(kinds, data, strict=True))
    made: list[tuple[Any, ...]] = []
    for number in things.column("pairs")[0].as_py():
        languages = pairs[number]
        harvest = harvest_site(found, languages, config, _aids(config))
        for row in harvest.pairs:
            pair = json.loads(row.pair)
            texts = [_text_of(line) for line in (row.first, row.second)]
            signature = signature_of("\n".join(texts))
            about = (str(languages), site, part, pair["url1"], pair["url2"])
            numbers = (number_of("\0".join(texts)), signature, bands_of(signature))
            made.append((*about, *row, *numbers, None))
        counts = json.dumps({f"{languages}: {name}": n for name, n in harvest.counts.items()})
        made.append((str(languages), site, part, *(None,) * 8, counts))
    return _table_of(made, PAIRS)


def learned_table(langs: str, pairs: "pa.Table") -> "pa.Table":
    """Return what some pairs of two languages teach the alignment."""
    return _table_of([(langs, pickle.dumps(learn_from(_texts_in(pairs))))], LEARNED)


def words_in(packed: bytes) -> Words:
    """Return what `learned_table` has packed."""
    words: Words = pickle.loads(packed)  # noqa: S301 - made above, by a task of this build
    return words


def sentence_table(
    langs: str, pairs: "pa.Table", learned: Mapping[tuple[str, str], Learned]
) -> "pa.Table":
    """Return the sentence pairs of one site, and the counts of what was dropped."""
    kept, counts = align_site(sorted(_texts_in(pairs)), learned)
    made = [(langs, *astuple(each), None) for each in kept]
    nothing = (None,) * len(_COLUMNS)
    return _table_of([*made, (langs, *nothing, json.dumps(counts))], SENTENCES)


@lru_cache(maxsize=1)
def _aids(config: Config) -> PairingAids:
    """Return the models of a worker process, read once."""
    return pairing_aids(config)


def _texts_in(table: "pa.Table") -> list[PairWithTexts]:
    columns = (table.column(name).to_pylist() for name in PairWithTexts._fields)
    return [PairWithTexts(*each) for each in zip(*columns, strict=True)]


def _text_of(line: str) -> str:
    paragraphs = json.loads(line)["paragraphs"]
    return "\n".join(each["text"] for each in paragraphs if not each["boilerplate"])


def _table_of(rows: Sequence[tuple[Any, ...]], schema: str) -> "pa.Table":
    """Return rows as a table of Arrow with the columns of a schema."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    kinds = {
        "string": pa.string(),
        "long": pa.int64(),
        "double": pa.float64(),
        "array<long>": pa.list_(pa.int64()),
        "binary": pa.binary(),
    }
    named = [part.strip().partition(" ") for part in schema.split(",")]
    columns = list(zip(*rows, strict=True)) or [()] * len(named)
    return pa.table(
        [
            pa.array(column, kinds[kind])
            for column, (_, _, kind) in zip(columns, named, strict=True)
        ],
        names=[name for name, _, _ in named],
    )
