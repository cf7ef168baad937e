"""The documents of an earlier crawl, as it wrote them."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bilingual_crawler.corpus.sources.reading import Alias, Found, SourceReading
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.serialise import document_from_dict
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.folder import DOCUMENTS, JOURNAL
from bilingual_crawler.store.input_files import DAMAGED_GZIP, bounded_lines, unpacked


def is_crawl(path: Path) -> bool:
    """Whether a path is the folder of a crawl, or its file of documents."""
    if path.is_dir():
        return (path / DOCUMENTS).is_file()
    return path.name.lower().endswith((".jsonl", ".jsonl.gz"))


def crawl_documents(path: Path, reading: SourceReading) -> Iterator[Found]:
    """Every document of a crawl; of a folder also the redirects that the crawl followed."""
    if path.is_dir():
        yield from _aliases(path / JOURNAL, reading)
        path /= DOCUMENTS
    place = 0
    try:
        with path.open("rb") as plain:
            for number, line in enumerate(bounded_lines(unpacked(plain)), 1):
                document = None if line is None else _document(line)
                if document is None:
                    reading.skips.add("not a document of a crawl", f"{path}, line {number}")
                else:
                    yield document
                reading.progress(plain.tell() - place)
                place = plain.tell()
    except DAMAGED_GZIP:
        reading.skips.add("cut off or damaged", str(path))
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.") from error


def _document(line: bytes) -> Document | None:
    try:
        fields: Any = json.loads(line)
        return document_from_dict(fields)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _aliases(journal: Path, reading: SourceReading) -> Iterator[Alias]:
    """The redirects in the journal of a crawl, which may be running."""
    if not journal.is_file():
        return
    try:
        connection = sqlite3.connect(f"{journal.absolute().as_uri()}?mode=ro", uri=True)
        try:
            for source, target in connection.execute("SELECT source, target FROM aliases"):
                yield Alias(source, target)
        finally:
            connection.close()
    except sqlite3.Error as error:
        reading.skips.add("the redirects of the crawl cannot be read", f"{journal}: {error}")
