"""Formats with one sentence pair per row: JSON lines, TSV, Parquet, and Moses' parallel texts."""

import json
from collections.abc import Iterator
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.exporters import Exporter
from bilingual_crawler.export.safe_text import has_breaks, one_line
from bilingual_crawler.export.source import EMPTY, Account, CorpusSource, of_one_pair
from bilingual_crawler.store.durable import text_file
from bilingual_crawler.store.sentence_pair import FIELDS, SentencePair

COLUMNS = {
    "src_url": "url1",
    "trg_url": "url2",
    "src_text": "text1",
    "trg_text": "text2",
    "score": "score",
    "src_lang": "lang1",
    "trg_lang": "lang2",
    "pair": "pair",
    "at": "at",
    "beads": "beads",
    "kind": "kind",
    "dropped": "dropped",
}
"""The columns of a TSV file, and the field of a sentence pair that each one holds."""
TYPES = (
    dict.fromkeys(FIELDS, "string")
    | dict.fromkeys(("at", "paragraph1", "paragraph2", "sentence1", "sentence2"), "int64")
    | dict.fromkeys(("score", "pair_score"), "float64")
)
"""The columns of a Parquet file and their types."""
ROW_GROUP = 20_000
"""Rows of Parquet that are in memory at once, and that a reader may skip at once."""
STEM = "corpus"
IDS = f"{STEM}.ids"
_encode = json.JSONEncoder(ensure_ascii=False).encode


def to_line(row: SentencePair) -> str:
    """Return a sentence pair as a line of JSON; the scores are always floats."""
    values = {name: getattr(row, name) for name in FIELDS}
    values["score"], values["pair_score"] = float(row.score), float(row.pair_score)
    return f"{_encode(values)}\n"


class JsonLines(Exporter):
    """One JSON object per line, always with the same keys and types."""

    name = "jsonl"
    about = "one JSON object per line"
    ending = ".jsonl"
    dropped = True

    def write(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write the sentence pairs of a source."""
        with text_file(path) as file:
            for row in source.sentences():
                file.write(to_line(row))
                account.written["sentence pairs"] += 1


class Tsv(Exporter):
    """A table with a header: Bitextor's columns under their names, then our own.

    Nothing is quoted: a line is a row and a tab ends a field, whatever the text is.
    """

    name = "tsv"
    about = "a table: src_url, trg_url, src_text, trg_text, score, ..."
    ending = ".tsv"
    dropped = True

    def write(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write the sentence pairs of a source."""
        values_of = attrgetter(*COLUMNS.values())
        with text_file(path) as file:
            file.write("\t".join(COLUMNS) + "\n")
            for row in source.sentences():
                values = list(map(str, values_of(row)))
                if has_breaks("".join(values)):
                    values = [one_line(value, account.changed) for value in values]
                file.write("\t".join(values) + "\n")
                account.written["sentence pairs"] += 1


class Moses(Exporter):
    """Two plain texts, line by line translations of each other, and a file of ids."""

    name = "moses"
    about = "a folder: two plain texts with the same number of lines, and their ids"

    def write(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write corpus.LANG1, corpus.LANG2 and corpus.ids.

        A line of ids has the document pair, the position in it, both URLs and the score.
        """
        (lang1, lang2), rows = of_one_pair(source.sentences(), account)
        changed = account.changed
        with (
            text_file(path / f"{STEM}.{lang1}") as first,
            text_file(path / f"{STEM}.{lang2}") as second,
            text_file(path / IDS) as ids,
        ):
            for row in rows:
                text1, text2 = (one_line(each, changed).strip() for each in (row.text1, row.text2))
                if not (text1 and text2):
                    account.left_out[EMPTY] += 1
                    continue
                first.write(f"{text1}\n")
                second.write(f"{text2}\n")
                about = (row.pair, str(row.at), row.url1, row.url2, str(row.score))
                ids.write("\t".join(one_line(each, changed) for each in about) + "\n")
                account.written["sentence pairs"] += 1


class Parquet(Exporter):
    """Parquet with a typed schema, written one row group at a time."""

    name = "parquet"
    about = "Parquet with a typed schema (pip install 'bilingual-crawler[parquet]')"
    ending = ".parquet"
    dropped = True

    def write(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write the sentence pairs of a source."""
        pa = pyarrow()
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra that only this format needs

        schema = pa.schema(
            [pa.field(name, pa.type_for_alias(of), nullable=False) for name, of in TYPES.items()]
        )
        with pq.ParquetWriter(path, schema, compression="zstd") as file:
            for rows in _groups(source.sentences()):
                columns = [
                    pa.array([getattr(row, each.name) for row in rows], each.type)
                    for each in schema
                ]
                table = pa.Table.from_arrays(columns, schema=schema)
                file.write_table(table, row_group_size=ROW_GROUP)
                account.written["sentence pairs"] += len(rows)


def _groups(rows: Iterator[SentencePair]) -> Iterator[list[SentencePair]]:
    while group := list(islice(rows, ROW_GROUP)):
        yield group


def pyarrow() -> Any:
    """Return the library, or say how to install it."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra that only this format needs
    except ImportError as error:
        raise ConfigurationError(
            "Parquet needs pyarrow: pip install 'bilingual-crawler[parquet]', "
            "or export --to jsonl, which holds the same."
        ) from error
    return pa
