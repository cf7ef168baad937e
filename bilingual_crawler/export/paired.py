"""Documents by pair: both documents of each pair at the same time, with flat memory.

Pairs and documents stand in two files in unrelated orders. The documents that are in a pair
go into a database on disk first and are looked up there.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.serialise import document_from_dict, document_to_dict
from bilingual_crawler.export.source import CorpusSource, DocumentPairRow

Both = tuple[DocumentPairRow, Document, Document]


def paired_documents(source: CorpusSource, scratch: Path) -> Iterator[DocumentPairRow | Both]:
    """Each pair once with its documents, or alone where one of them is missing.

    `scratch` is the name of a file to work with, which is there no more at the end.
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
            for document in source.documents():
                packed = zlib.compress(json.dumps(document_to_dict(document)).encode(), 1)
                database.execute(
                    "UPDATE document SET packed = ? WHERE url = ?", (packed, document.key)
                )
            yield from _joined(source, database)
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
