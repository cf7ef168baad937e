"""The index of a crawl folder: one SQLite file that can be made again at any time.

It has the text of the sentence pairs and a full-text index over it, the document pairs with
their evidence, and where each document stands in its file. Only `Indexer` writes to it;
readers see the last commit and never wait.
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from bilingual_crawler.web.search.folding import TOKENIZER

INDEX = "search.sqlite"
FORMAT = 1
MAPPED_BYTES = 1 << 30

SCHEMA = {
    "sources": """
CREATE TABLE sources (
    name TEXT PRIMARY KEY, offset INTEGER NOT NULL, line INTEGER NOT NULL, read INTEGER NOT NULL,
    digest BLOB NOT NULL, bad INTEGER NOT NULL
) WITHOUT ROWID;
""",
    "pairs": """
CREATE TABLE pairs (
    id INTEGER PRIMARY KEY, pair TEXT NOT NULL UNIQUE,
    url1 TEXT NOT NULL UNIQUE, url2 TEXT NOT NULL UNIQUE,
    lang1 TEXT NOT NULL, lang2 TEXT NOT NULL, site TEXT NOT NULL,
    score REAL NOT NULL, evidence TEXT NOT NULL
);
CREATE INDEX pairs_by_site ON pairs (site);
""",
    "documents": """
CREATE TABLE documents (
    url TEXT PRIMARY KEY, language TEXT NOT NULL, title TEXT NOT NULL,
    offset INTEGER NOT NULL, line INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX documents_by_language ON documents (language);
""",
    "sentences": f"""
CREATE TABLE aligned (
    id INTEGER PRIMARY KEY, pair TEXT NOT NULL UNIQUE, url1 TEXT NOT NULL, url2 TEXT NOT NULL,
    lang1 TEXT NOT NULL, lang2 TEXT NOT NULL
);
CREATE TABLE sentences (
    id INTEGER PRIMARY KEY, aligned INTEGER NOT NULL, at INTEGER NOT NULL,
    text1 TEXT NOT NULL, text2 TEXT NOT NULL,
    beads TEXT NOT NULL, kind TEXT NOT NULL, score REAL NOT NULL, dropped TEXT NOT NULL
);
CREATE UNIQUE INDEX sentences_by_place ON sentences (aligned, at);
CREATE VIRTUAL TABLE words USING fts5(
    text1, text2, chars1, chars2, content='', prefix='2 3', tokenize="{TOKENIZER}"
);
""",
}
"""What each part of the index consists of; a part is made anew when its file was replaced."""

TABLES = {
    "pairs": ("pairs",),
    "documents": ("documents",),
    "sentences": ("aligned", "sentences", "words"),
}


def open_to_write(path: Path) -> sqlite3.Connection:
    """The index, empty if it was missing, of another version or damaged."""
    try:
        return _open_to_write(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and "malformed" not in str(error):
            raise
    remove(path)
    return _open_to_write(path)


def _open_to_write(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, FORMAT):
            connection.close()
            remove(path)
            return _open_to_write(path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -64000")
        if version == 0:
            statements = "".join(SCHEMA.values())
            connection.executescript(f"BEGIN; {statements} PRAGMA user_version = {FORMAT}; COMMIT;")
    except BaseException:
        connection.close()
        raise
    return connection


def remove(path: Path) -> None:
    """Delete the index; it will be made again."""
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def clear(connection: sqlite3.Connection, part: str) -> None:
    """Begin a part of the index anew, inside the transaction that fills it again."""
    for table in TABLES[part]:
        connection.execute(f"DROP TABLE {table}")
    for statement in SCHEMA[part].split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.execute("DELETE FROM sources WHERE name = ?", (part,))


@contextlib.contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that cannot change anything, with one state of the index for all it asks."""
    address = f"file:{quote(str(path))}?mode=rw"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA query_only = 1")
        connection.execute(f"PRAGMA mmap_size = {MAPPED_BYTES}")
        connection.execute("BEGIN")
        yield connection
    finally:
        connection.close()
