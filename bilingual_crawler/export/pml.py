"""Paragraph Markup Language of Almeida et al.: one file per language, with paragraphs only.

The documents of all pairs follow each other in `file` elements, in the same order and with the
same ids on both sides: an aligner that synchronises on the id of `file` never aligns across
documents. What is a paragraph was decided when the page was read; boilerplate and text in other
languages are left out.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TextIO

from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.serialise import document_from_dict, document_to_dict
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.exporters import Exporter
from bilingual_crawler.export.ilsp import MISSING
from bilingual_crawler.export.safe_text import DECLARATION, XmlText
from bilingual_crawler.export.source import Account, CorpusSource, DocumentPairRow
from bilingual_crawler.languages import language_tag
from bilingual_crawler.store.durable import text_file
from bilingual_crawler.store.sentence_pair import pair_id

SCRATCH = "documents.sqlite"
Both = tuple[DocumentPairRow, Document, Document]


class Pml(Exporter):
    """Paragraph Markup Language."""

    name = "pml"
    about = "a folder: paragraphs of the paired documents, one file per language"
    documents = True

    def write(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write LANG1.pml and LANG2.pml."""
        first = next(source.document_pairs(), None)
        if first is None:
            raise ConfigurationError(
                "There are no document pairs to export, so the languages are not known."
            )
        languages = first.lang1, first.lang2
        safe = XmlText(account.changed)
        with (
            text_file(path / f"{languages[0]}.pml") as one,
            text_file(path / f"{languages[1]}.pml") as two,
        ):
            for file, language in zip((one, two), languages, strict=True):
                file.write(f'{DECLARATION}<pml xml:lang="{language_tag(language)}">\n')
            for found in paired_documents(source, path / SCRATCH):
                if not isinstance(found, tuple):
                    account.left_out[MISSING] += 1
                    continue
                pair, *documents = found
                if (pair.lang1, pair.lang2) != languages:
                    account.left_out[f"languages other than {'-'.join(languages)}"] += 1
                    continue
                name = pair_id(pair.url1, pair.url2)
                for file, document in zip((one, two), documents, strict=True):
                    _write_document(file, name, document, safe)
                account.written["document pairs"] += 1
            for file in (one, two):
                file.write("</pml>\n")


def _write_document(file: TextIO, name: str, document: Document, safe: XmlText) -> None:
    file.write(f'<file id="{name}" url="{safe.attribute(document.url)}">\n')
    file.writelines(f"<p>{safe.text(each.text)}</p>\n" for each in document.main_paragraphs)
    file.write("</file>\n")


def paired_documents(
    source: CorpusSource, scratch: Path, *, whole: bool = False
) -> Iterator[DocumentPairRow | Both]:
    """Yield each pair once with both documents, or alone if one of them is missing.

    With `whole` they come as they are, and the exporter takes those that it writes.

    Pairs and documents are in two files in unrelated orders. To keep memory flat, the documents
    that are in a pair are first put into a database at `scratch`, which is deleted at the end.
    """
    try:
        with closing(sqlite3.connect(scratch)) as database:
            database.executescript(
                "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8000;"
                "CREATE TABLE document (url TEXT PRIMARY KEY, packed BLOB) WITHOUT ROWID;"
                "CREATE TABLE pair (url1 TEXT, url2 TEXT, PRIMARY KEY (url1, url2)) WITHOUT ROWID;"
            )
            for pair in source.document_pairs():
                urls = [(pair.url1,), (pair.url2,)]
                database.executemany("INSERT OR IGNORE INTO document VALUES (?, NULL)", urls)
            for document in source.documents(whole=True):
                packed = zlib.compress(json.dumps(document_to_dict(document)).encode(), 1)
                database.execute(
                    "UPDATE document SET packed = ? WHERE url = ?", (packed, document.key)
                )
            for found in _joined(source, database):
                if isinstance(found, tuple) and not whole:
                    for document in found[1:]:
                        source.take(document)
                yield found
    finally:
        scratch.unlink(missing_ok=True)


def _joined(source: CorpusSource, database: sqlite3.Connection) -> Iterator[DocumentPairRow | Both]:
    for pair in source.document_pairs():
        urls = (pair.url1, pair.url2)
        if database.execute("INSERT OR IGNORE INTO pair VALUES (?, ?)", urls).rowcount == 0:
            continue
        first, second = (_document(database, url) for url in urls)
        yield (pair, first, second) if first and second else pair


def _document(database: sqlite3.Connection, url: str) -> Document | None:
    row = database.execute("SELECT packed FROM document WHERE url = ?", (url,)).fetchone()
    packed = row[0] if row else None
    return None if packed is None else document_from_dict(json.loads(zlib.decompress(packed)))
