"""A table of captures on the disk, found by the URL of a page.

An archive may have a hundred million captures, and a crawl asks for single URLs, so they are in
SQLite: 60 bytes of keys per capture, and no memory. It is a cache of what index files and index
servers say: a damaged one is made anew.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from bilingual_crawler.store.archive.capture import Capture, best_of, exact_key, loose_key

SCHEMA = """
CREATE TABLE IF NOT EXISTS captures (
    exact INTEGER NOT NULL, loose INTEGER NOT NULL, url TEXT NOT NULL, moment TEXT NOT NULL,
    status INTEGER NOT NULL, mime TEXT NOT NULL, digest TEXT NOT NULL, file TEXT NOT NULL,
    at INTEGER NOT NULL, length INTEGER NOT NULL, truncated INTEGER NOT NULL,
    UNIQUE (exact, moment, file, at));
CREATE INDEX IF NOT EXISTS by_loose ON captures (loose);
CREATE TABLE IF NOT EXISTS sources (name TEXT PRIMARY KEY, stamp TEXT NOT NULL) WITHOUT ROWID;
"""
_FIELDS = "url, moment, status, mime, digest, file, at, length, truncated"
BATCH = 10_000
MOST_CAPTURES = 200
"""Captures of one page that are looked at."""


class CaptureIndex:
    """Captures by page, and which sources (files, hosts, pages) they were taken from."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._connection = self._open()
        except sqlite3.DatabaseError:
            path.unlink(missing_ok=True)
            self._connection = self._open()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=OFF")
        connection.executescript(SCHEMA)
        return connection

    def __len__(self) -> int:
        row = self._connection.execute("SELECT count(*) FROM captures").fetchone()
        return int(row[0])

    def add(self, captures: Iterable[Capture]) -> int:
        """Add captures that are not there yet; return how many were given."""
        added, waiting = 0, iter(captures)
        while rows := [_row(each) for each in islice(waiting, BATCH)]:
            marks = ", ".join("?" * len(rows[0]))
            self._connection.executemany(f"INSERT OR IGNORE INTO captures VALUES ({marks})", rows)  # noqa: S608 - question marks
            added += len(rows)
        return added

    def take_source(self, name: str, stamp: str, captures: Iterable[Capture]) -> int:
        """Add the captures of a source and note it, in one transaction; return their number."""
        with self._connection:
            added = self.add(captures)
            self._connection.execute("INSERT OR REPLACE INTO sources VALUES (?, ?)", (name, stamp))
        return added

    def stamp_of(self, name: str) -> str | None:
        """Return what was noted about a source; None if it was not taken in."""
        found = self._connection.execute("SELECT stamp FROM sources WHERE name = ?", (name,))
        row = found.fetchone()
        return None if row is None else str(row[0])

    def sources(self, endings: tuple[str, ...]) -> dict[str, str]:
        """Return the sources whose names have one of these endings, with what was noted of each."""
        found = self._connection.execute("SELECT name, stamp FROM sources")
        return {str(name): str(stamp) for name, stamp in found if str(name).endswith(endings)}

    def forget(self, sources: Iterable[str]) -> None:
        """Forget all captures, and that they were taken from these sources."""
        with self._connection:
            self._connection.execute("DELETE FROM captures")
            names = [(name,) for name in sources]
            self._connection.executemany("DELETE FROM sources WHERE name = ?", names)

    def clear(self) -> None:
        """Forget everything."""
        with self._connection:
            self._connection.execute("DELETE FROM captures")
            self._connection.execute("DELETE FROM sources")

    def find(self, url: str) -> Capture | None:
        """Return the best capture of a page; of a nearly equal URL if there is none of its own."""
        own = best_of(self._select("exact", exact_key(url)))
        return own or best_of(self._select("loose", loose_key(url)))

    def original_of(self, revisit: Capture, url: str) -> Capture | None:
        """Return the capture that has the body of a revisit, under the URL it refers to."""
        there = [each for each in self._select("exact", exact_key(url)) if not each.is_revisit]
        same = [each for each in there if each.digest == revisit.digest and each.digest]
        return best_of(same or there)

    def _select(self, column: str, key: int) -> Iterator[Capture]:
        rows = self._connection.execute(
            f"SELECT {_FIELDS} FROM captures WHERE {column} = ?"  # noqa: S608 - our own names
            f" ORDER BY moment DESC LIMIT {MOST_CAPTURES}",
            (key,),
        )
        for *fields, truncated in rows:
            yield Capture._make((*fields, bool(truncated)))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def _row(capture: Capture) -> tuple[int | str, ...]:
    return (exact_key(capture.url), loose_key(capture.url), *capture)
