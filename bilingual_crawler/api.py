r"""The public names of bilingual-crawler: what a program may import, and what stays as it is.

Everything else in the package may move from one version to the next. A program reads a crawl,
pairs and aligns documents of its own, or brings plug-ins: a scorer, a pair detector, an exporter,
a backlink provider, a language identifier, a tagger. None of this needs Scrapy's engine.

    from bilingual_crawler.api import align, build_document, pair_documents

    documents = [build_document(url, body) for url, body in pages]
    pairs = pair_documents(documents, "spa-eus")
    for sentence in align(documents, pairs):
        print(sentence.text1, sentence.text2, sep="\t")
"""

import gzip
import json
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bilingual_crawler.alignment.two_passes import align_folder
from bilingual_crawler.corpus.pair_search import PairSearch
from bilingual_crawler.discovery.backlinks import BacklinkProvider
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import Alternate, Document, Link, Paragraph
from bilingual_crawler.documents.language import Identification, LanguageIdentifier
from bilingual_crawler.documents.serialise import document_from_dict, document_to_dict
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.exporters import Exporter
from bilingual_crawler.export.taggers import Tagger
from bilingual_crawler.languages import LanguagePair, LanguagePairError, UnknownLanguageError
from bilingual_crawler.outcomes import Outcome
from bilingual_crawler.pairing.detectors import PairDetector, PairOpinion, UserDetectors
from bilingual_crawler.pairing.pair import DocumentPair, Evidence
from bilingual_crawler.pairing.resources import PairingAids
from bilingual_crawler.scoring.scorer import Factor, LinkScorer
from bilingual_crawler.store.folder import DOCUMENTS, PAIRS, REPORT
from bilingual_crawler.store.input_files import Damage, read_json_lines
from bilingual_crawler.store.sentence_pair import SENTENCES, SentencePair, read_sentences

__all__ = [
    "Alternate",
    "BacklinkProvider",
    "ConfigurationError",
    "CrawlContents",
    "Document",
    "DocumentPair",
    "Evidence",
    "Exporter",
    "Factor",
    "Identification",
    "LanguageIdentifier",
    "Link",
    "LinkScorer",
    "Outcome",
    "PairDetector",
    "PairOpinion",
    "Paragraph",
    "SentencePair",
    "Tagger",
    "align",
    "build_document",
    "pair_documents",
    "read_crawl",
]


@dataclass(frozen=True, slots=True)
class CrawlContents:
    """What a crawl folder holds, read anew each time it is asked for, one row at a time."""

    folder: Path

    @property
    def report(self) -> dict[str, Any]:
        """The report of the crawl: crawl.json."""
        try:
            report: dict[str, Any] = json.loads((self.folder / REPORT).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"{self.folder / REPORT} cannot be read: {error}.") from error
        return report

    def documents(self) -> Iterator[Document]:
        """Yield the documents that were kept; a line that is no document is left out."""
        for fields in self._lines(DOCUMENTS):
            try:
                yield document_from_dict(fields)
            except (KeyError, TypeError, ValueError, AttributeError):
                continue

    def pairs(self) -> Iterator[DocumentPair]:
        """Yield the document pairs."""
        for fields in self._lines(PAIRS):
            if fields.get("verdict") == "rejected":  # of a list of files that scrapy pairs judged
                continue
            try:
                yield DocumentPair.from_dict(fields)
            except (KeyError, TypeError, ValueError):
                continue

    def sentences(self) -> Iterator[SentencePair]:
        """Yield the sentence pairs; nothing before the crawl is aligned."""
        file = self.folder / SENTENCES
        if file.is_file():
            yield from read_sentences(file)

    def _lines(self, name: str) -> Iterator[dict[str, Any]]:
        file = self.folder / name
        if file.is_file():
            for _, fields in read_json_lines(file, Damage()):
                yield fields


def read_crawl(folder: str | Path) -> CrawlContents:
    """Open the folder of a crawl, running or finished."""
    path = Path(folder)
    if not (path / REPORT).is_file() and not (path / DOCUMENTS).is_file():
        raise ConfigurationError(
            f"{path} is not the folder of a crawl: it has no {REPORT}."
            " Give the folder that -a output= named."
        )
    return CrawlContents(path)


def pair_documents(
    documents: Iterable[Document], langs: str, detectors: Iterable[PairDetector] = ()
) -> list[DocumentPair]:
    """Return which documents are translations of one another, one-to-one, surest first.

    `langs` are two languages, such as "spa-eus"; documents in other languages are left out.
    `detectors` add evidence of your own.
    """
    try:
        pair = LanguagePair.parse(langs)
    except (LanguagePairError, UnknownLanguageError) as error:
        raise ConfigurationError(f"langs={langs!r}: {error}") from error
    search = PairSearch(pair, aids=PairingAids(detectors=UserDetectors(detectors)))
    for document in documents:
        search.take(document)
    search.finish()
    return sorted(search.pairs, key=lambda found: (-found.score, found.first))


def align(documents: Iterable[Document], pairs: Iterable[DocumentPair]) -> list[SentencePair]:
    """Return the sentence pairs of document pairs, as `scrapy align` makes them.

    Those that a cleaning rule would drop are there too, with the rule in `dropped`.
    """
    with tempfile.TemporaryDirectory(prefix="align-") as name:
        folder = Path(name)
        _write(folder / DOCUMENTS, map(document_to_dict, documents))
        _write(folder / PAIRS, (pair.to_dict() for pair in pairs))
        out = folder / SENTENCES
        align_folder(folder, out)
        return list(read_sentences(out))


def _write(file: Path, rows: Iterable[dict[str, Any]]) -> None:
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else content)
