"""One site at a time: what a task of a cluster does, with the functions of a build in one process.

A task takes the pages of one site through `CorpusBuilding` into a folder of its own, which is gone
afterwards. So opt-outs, languages, duplicates, pairing and alignment are those of `scrapy corpus
build`, and there is no second implementation to keep equal.
"""

import gzip
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from bilingual_crawler.alignment.documents import PairedDocuments
from bilingual_crawler.alignment.two_passes import Learned, align_folder, first_pass
from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.build import BuildTask, CorpusBuilding, open_built
from bilingual_crawler.corpus.sources.reading import Alias
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.serialise import document_from_dict, key_of
from bilingual_crawler.documents.sitemap import Sitemap, SitemapPage
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.resources import PairingAids
from bilingual_crawler.store.folder import DOCUMENTS, PAIRS, PAIRS_REFUSED
from bilingual_crawler.store.input_files import Damage, read_json_lines
from bilingual_crawler.store.sentence_pair import SENTENCES, SentencePair, read_sentences

_MEMORY = Path("/dev/shm")  # noqa: S108 - folders with names of their own are made in it
SHARE_OF_MEMORY = 1 / 64
"""A site with more data than this share of the free memory is worked on in a folder on the disk."""
ALIAS, CLAIM, DOCUMENT = "alias", "claim", "document"
"""The kinds of things that sources give, as a table has them."""


class PairWithTexts(NamedTuple):
    """A document pair with its two documents, each as a line of JSON."""

    pair: str
    first: str
    second: str


@dataclass(slots=True)
class SiteHarvest:
    """What a site gave."""

    pairs: list[PairWithTexts] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    """How its pages ended, and why pairs were refused."""


def found_in(kind: str, data: str) -> Document | Alias | Sitemap | None:
    """Return a thing from its row in a table; None if the row cannot be read."""
    try:
        fields: Any = json.loads(data)
        if kind == DOCUMENT:
            document = document_from_dict(fields)
            document.robots |= frozenset(fields.get("robots", ()))
            document.tdm_reservation = bool(fields.get("tdm_reservation"))
            return document
        if kind == ALIAS:
            return Alias(str(fields[0]), str(fields[1]))
        alternates = tuple((str(url), str(code)) for url, code in fields[1])
        return Sitemap([SitemapPage(str(fields[0]), alternates)])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def scratch_folder(size: int) -> Path | None:
    """Return where to work on a site with so many bytes; None for the usual temporary folder.

    Memory is faster, but other tasks need it too, and a container has 64 MB of it.
    """
    try:
        free = shutil.disk_usage(_MEMORY).free
    except OSError:
        return None
    return _MEMORY if size <= free * SHARE_OF_MEMORY else None


def harvest_site(
    things: Sequence[tuple[str, str]],
    languages: LanguagePair,
    config: Config,
    aids: PairingAids,
) -> SiteHarvest:
    """Return the pairs of one site, whose pages, redirects and claims come in any order."""
    harvest = SiteHarvest()
    size = sum(len(data) for _, data in things)
    with tempfile.TemporaryDirectory(dir=scratch_folder(size)) as name:
        place = Path(name) / "site"
        folder = open_built(place, languages)
        try:
            task = BuildTask(
                inputs=(), folder=place, languages=languages, config=config, settings={}, aids=aids
            )
            building = CorpusBuilding(task, folder, lambda _: None, lambda *_: None)
            building.open_corpus()
            found = (found_in(*each) for each in things)
            building.take_things("site", (each for each in found if each is not None))
            report = building.finish()
        except BaseException:
            folder.close(save=False)
            raise
        folder.close()
        _count(harvest.counts, report)
        for fields in _lines(place / PAIRS_REFUSED):
            harvest.counts[f"pairs refused: {fields.get('refused')}"] += 1
        pairs = list(_lines(place / PAIRS))
        paired = {fields[name] for fields in pairs for name in ("url1", "url2")}
        documents = {
            key: json.dumps(fields)
            for fields in (_lines(place / DOCUMENTS) if pairs else ())
            if (key := key_of(fields)) in paired
        }
        for fields in pairs:
            first, second = documents.get(fields["url1"]), documents.get(fields["url2"])
            if first is not None and second is not None:
                harvest.pairs.append(PairWithTexts(json.dumps(fields), first, second))
    return harvest


def _count(counts: Counter[str], report: Mapping[str, Any]) -> None:
    counts["pages"] += report.get("pages", 0)
    counts["pairs"] += report.get("pairs", 0)
    for reason, each in report.get("urls_ended", {}).items():
        counts[f"pages: {reason}"] += each["count"]
    for reason, number in report.get("skipped", {}).items():
        counts[f"skipped: {reason}"] += number


def learn_from(rows: Iterable[PairWithTexts]) -> dict[tuple[str, str], Learned]:
    """Return what a first pass of the alignment learns from some document pairs."""
    with _folder_with(rows) as folder:
        documents = PairedDocuments(folder, lambda _done, _size: None)
        try:
            return first_pass(documents.at_random())
        finally:
            documents.close()


def align_site(
    rows: Iterable[PairWithTexts], learned: Mapping[tuple[str, str], Learned]
) -> tuple[list[SentencePair], Counter[str]]:
    """Return the sentence pairs of a site that are kept, and counts of the others."""
    with _folder_with(rows) as folder:
        counts = align_folder(folder, folder / SENTENCES, learned=learned)
        kept = [each for each in read_sentences(folder / SENTENCES) if not each.dropped]
    account = Counter({f"sentences: {reason}": n for reason, n in counts.dropped.items()})
    account["sentence pairs"] = counts.sentence_pairs
    return kept, account


@contextmanager
def _folder_with(rows: Iterable[PairWithTexts]) -> Iterator[Path]:
    """Provide a folder with some pairs and their documents."""
    pairs: list[str] = []
    documents: dict[str, str] = {}
    for row in rows:
        pairs.append(f"{row.pair}\n")
        fields = json.loads(row.pair)
        documents[fields["url1"]] = row.first
        documents[fields["url2"]] = row.second
    size = sum(map(len, documents.values()))
    with tempfile.TemporaryDirectory(dir=scratch_folder(size)) as name:
        folder = Path(name)
        (folder / PAIRS).write_text("".join(pairs), encoding="utf-8")
        with gzip.open(folder / DOCUMENTS, "wt", 1, encoding="utf-8") as out:
            out.writelines(f"{line}\n" for line in documents.values())
        yield folder


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    if file.is_file():
        for _, fields in read_json_lines(file, Damage()):
            yield fields
