"""What has changed between two crawls of the same sites: new, changed and gone.

`documents.tsv` has every document pair that is new, gone, or has a side that changed. If one side
changed and the other did not, the other may be out of date, which is what translators look for.
`new.jsonl` and `gone.jsonl` have the sentence pairs that only one of the crawls has, so that a
corpus or a translation memory can be brought up to date without writing all of it again.

Only hashes of paragraphs and of sentence pairs are held, in a temporary SQLite database.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from bilingual_crawler.documents.document import Document
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.exporters import Exporter
from bilingual_crawler.export.rows import to_line
from bilingual_crawler.export.safe_text import one_line
from bilingual_crawler.export.source import Account, CorpusSource, DocumentPairRow
from bilingual_crawler.store.durable import text_file
from bilingual_crawler.store.sentence_pair import SentencePair

DOCUMENTS, NEW, GONE = "documents.tsv", "new.jsonl", "gone.jsonl"
COLUMNS = (
    *("status", "url1", "url2", "lang1", "lang2"),
    *("changed1", "changed2", "out_of_date"),
)
SIZE = 8
"""Bytes of the hash of a paragraph."""
_SCHEMA = """
CREATE TABLE pages (crawl INTEGER, url TEXT, hashes BLOB, PRIMARY KEY (crawl, url)) WITHOUT ROWID;
CREATE TABLE pairs (
    crawl INTEGER, url1 TEXT, url2 TEXT, PRIMARY KEY (crawl, url1, url2)
) WITHOUT ROWID;
CREATE TABLE rows (crawl INTEGER, hash BLOB, PRIMARY KEY (crawl, hash)) WITHOUT ROWID;
"""
_BEFORE, _NOW = 0, 1


class Delta(Exporter):
    """A folder with the differences to an earlier crawl."""

    name = "delta"
    about = "a folder: documents and sentence pairs that are new, changed or gone (--since DIR)"
    documents = True
    earlier = True

    def write(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write documents.tsv, new.jsonl and gone.jsonl."""
        before = source.earlier
        if before is None:
            raise ConfigurationError(
                "delta compares two crawls: write --since DIR, the earlier one. A crawl that was"
                " revisited (BILINGUAL_REVISIT) is compared with what it was before."
            )
        with closing(sqlite3.connect("", isolation_level=None)) as database:
            database.executescript(_SCHEMA)
            database.execute("BEGIN")
            for crawl, each in ((_BEFORE, before), (_NOW, source.looking_ahead())):
                _note_pages(database, crawl, each)
            with text_file(path / DOCUMENTS) as file:
                file.write("\t".join(COLUMNS) + "\n")
                for change in _changes(database, before, source):
                    account.written[f"{change.status} document pairs"] += 1
                    values = (one_line(str(value), account.changed) for value in change)
                    file.write("\t".join(values) + "\n")
            _write_sentences(database, before, source, path, account)


class Change(NamedTuple):
    """What became of a document pair; `changed` is the share of paragraphs that only one has."""

    status: str
    url1: str
    url2: str
    lang1: str
    lang2: str
    changed1: float = 1.0
    changed2: float = 1.0
    out_of_date: str = ""
    """The number of the side that did not change although the other did, or ""."""


def _note_pages(database: sqlite3.Connection, crawl: int, source: CorpusSource) -> None:
    pairs = ((crawl, pair.url1, pair.url2) for pair in source.document_pairs())
    database.executemany("INSERT OR IGNORE INTO pairs VALUES (?, ?, ?)", pairs)
    pages = ((crawl, each.key, _hashes(each)) for each in source.documents(whole=True))
    database.executemany("INSERT OR REPLACE INTO pages VALUES (?, ?, ?)", pages)


def _hashes(document: Document) -> bytes:
    """Return the hashes of the paragraphs of a page's content, whatever their spacing."""
    return b"".join(
        blake2b(" ".join(each.text.split()).encode("utf-8", "replace"), digest_size=SIZE).digest()
        for each in document.main_paragraphs
    )


def _changes(
    database: sqlite3.Connection, before: CorpusSource, now: CorpusSource
) -> Iterator[Change]:
    for pair in now.looking_ahead().document_pairs():
        if not _has(database, _BEFORE, pair):
            yield Change("new", pair.url1, pair.url2, pair.lang1, pair.lang2)
            continue
        changed1, changed2 = (_changed_share(database, url) for url in (pair.url1, pair.url2))
        if changed1 or changed2:
            stale = "" if changed1 and changed2 else "2" if changed1 else "1"
            known = pair.url1, pair.url2, pair.lang1, pair.lang2
            yield Change("changed", *known, changed1, changed2, stale)
    for pair in before.document_pairs():
        if not _has(database, _NOW, pair):
            yield Change("gone", pair.url1, pair.url2, pair.lang1, pair.lang2)


def _has(database: sqlite3.Connection, crawl: int, pair: DocumentPairRow) -> bool:
    found = database.execute(
        "SELECT 1 FROM pairs WHERE crawl = ? AND url1 = ? AND url2 = ?",
        (crawl, pair.url1, pair.url2),
    )
    return found.fetchone() is not None


def _changed_share(database: sqlite3.Connection, url: str) -> float:
    """Return the share of a page's paragraphs, of both crawls, that only one of them has."""
    found = database.execute("SELECT hashes FROM pages WHERE url = ? ORDER BY crawl", (url,))
    texts = [_counted(hashes) for (hashes,) in found]
    if len(texts) < 2:  # noqa: PLR2004 - one per crawl; a page that cannot be read has not changed
        return 0.0
    one, two = texts
    different = (one - two).total() + (two - one).total()
    return round(different / max(1, one.total() + two.total()), 4)


def _counted(hashes: bytes) -> Counter[bytes]:
    return Counter(hashes[at : at + SIZE] for at in range(0, len(hashes), SIZE))


def _write_sentences(
    database: sqlite3.Connection,
    before: CorpusSource,
    now: CorpusSource,
    path: Path,
    account: Account,
) -> None:
    for crawl, source in ((_BEFORE, before), (_NOW, now.looking_ahead())):
        rows = ((crawl, _row_hash(row)) for row in source.sentences())
        database.executemany("INSERT OR IGNORE INTO rows VALUES (?, ?)", rows)
    for name, crawl, source in ((NEW, _BEFORE, now), (GONE, _NOW, before)):
        with text_file(path / name) as file:
            for row in source.sentences():
                if not _has_row(database, crawl, row):
                    file.write(to_line(row))
                    account.written[f"{Path(name).stem} sentence pairs"] += 1


def _has_row(database: sqlite3.Connection, crawl: int, row: SentencePair) -> bool:
    found = database.execute(
        "SELECT 1 FROM rows WHERE crawl = ? AND hash = ?", (crawl, _row_hash(row))
    )
    return found.fetchone() is not None


def _row_hash(row: SentencePair) -> bytes:
    key = f"{row.lang1}\n{row.lang2}\n{row.text1}\n{row.text2}"
    return blake2b(key.encode("utf-8", "replace"), digest_size=SIZE).digest()
