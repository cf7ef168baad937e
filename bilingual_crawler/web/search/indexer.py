"""Keeps the index up to date with the files, on a thread of its own.

A file that has grown is read from where the last pass ended. A file that was replaced is read
from its beginning in one transaction, so that searches see the old corpus until the new one is
complete. The place in the file is committed together with the rows: a server that was killed
resumes there.
"""

import logging
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

from bilingual_crawler.web.folder_thread import FolderThread
from bilingual_crawler.web.search.index import (
    INDEX,
    PARTS,
    DamagedFileError,
    IndexedLine,
    IndexPart,
    LinePlace,
    clear,
    lines_from,
    open_to_write,
)

logger = logging.getLogger(__name__)

LOCK = "search.lock"
BATCH = 2_000
"""Lines per commit: searches see them soon, and a commit is cheap."""
POLL_SECONDS = 1.0
WAIT_SECONDS = 30.0
"""How long to wait after a failed write to the disk."""
SHARE = 0.25
"""The share of the time that reading may take while a file keeps growing."""
DIGESTED = 1 << 16
MANY = 20_000
"""New sentence pairs after which the full-text index is optimised."""


class IndexProgress(NamedTuple):
    """How much of a file was read (0 to 1), and what was wrong with it."""

    share: float
    bad: int
    problem: str = ""


@dataclass(slots=True)
class _Source:
    """How far a file was read: the next line, the bytes read so far, and their digest."""

    place: LinePlace = field(default_factory=LinePlace)
    read: int = 0
    digest: bytes = b""
    bad: int = 0


class Indexer:
    """The only writer of a folder's index; a second server only reads until the first has ended."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.path = folder / INDEX
        self.progress: dict[str, IndexProgress] = {}
        self._stamps: dict[str, tuple[int, int, int]] = {}
        self._refreshing = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._thread = FolderThread("indexer", folder / LOCK, self._work)
        self._stop = self._thread.stop
        self._hold()

    @property
    def is_writer(self) -> bool:
        """Whether this process writes the index; if not, another one does."""
        return self._thread.holds

    def start(self) -> None:
        """Follow the files until `close`."""
        self._thread.start()

    def close(self) -> None:
        """Stop at the last commit, and release the folder."""
        self._thread.close(self._interrupt, self._shut)

    def _interrupt(self) -> None:
        if self._connection is not None:
            self._connection.interrupt()

    def _shut(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def refresh(self) -> int:
        """Read what is new in every file. Return the number of lines."""
        with self._refreshing:
            connection = self._hold()
            if connection is None:
                return 0
            return sum(self._refresh(connection, part) for part in PARTS)

    def _hold(self) -> sqlite3.Connection | None:
        """Return the index for writing; None while another process has it."""
        if self._thread.hold() and self._connection is None:
            self._connection = open_to_write(self.path)
        return self._connection

    def _work(self) -> None:
        wait = 0.0
        while not self._stop.wait(wait):
            begun = time.monotonic()
            try:
                self.refresh()
            except sqlite3.Error as error:
                if self._stop.is_set():
                    return
                logger.error("The index %s cannot be written: %s", self.path, error)  # noqa: TRY400 - the disk, not our code
                self._report(
                    "sentences", IndexProgress(0, 0, f"The index cannot be written: {error}")
                )
                wait = WAIT_SECONDS
                continue
            wait = max(POLL_SECONDS, (time.monotonic() - begun) * (1 / SHARE - 1))

    def _refresh(self, connection: sqlite3.Connection, part: IndexPart) -> int:
        path = self._folder / part.file
        try:
            found = path.stat()
        except FileNotFoundError:
            self._forget(connection, part)
            return 0
        stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
        if self._stamps.get(part.name) == stamp:
            return 0
        try:
            with path.open("rb") as file:
                number = self._read_on(connection, part, path, file)
        except OSError as error:
            self._report(
                part.name, IndexProgress(0, 0, f"{part.file} cannot be read: {error.strerror}")
            )
            number = 0
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        if not self._stop.is_set():
            self._stamps[part.name] = stamp
        return number

    def _forget(self, connection: sqlite3.Connection, part: IndexPart) -> None:
        """Empty a part whose file is gone."""
        self._stamps.pop(part.name, None)
        self.progress = {name: each for name, each in self.progress.items() if name != part.name}
        if _load(connection, part.name).read:
            connection.execute("BEGIN IMMEDIATE")
            clear(connection, part.name)
            connection.execute("COMMIT")

    def _read_on(
        self, connection: sqlite3.Connection, part: IndexPart, path: Path, file: BinaryIO
    ) -> int:
        source = _load(connection, part.name)
        if _digest(file, source.read) == source.digest:
            number = self._insert(connection, part, path, file, source)
        else:
            connection.execute("BEGIN IMMEDIATE")
            clear(connection, part.name)
            number = self._insert(connection, part, path, file, _Source())
            connection.execute("ROLLBACK" if self._stop.is_set() else "COMMIT")
        if part.name == "sentences" and number >= MANY and not self._stop.is_set():
            connection.execute("INSERT INTO words (words) VALUES ('optimize')")
        return number

    def _insert(
        self,
        connection: sqlite3.Connection,
        part: IndexPart,
        path: Path,
        file: BinaryIO,
        source: _Source,
    ) -> int:
        """Index all further lines, with one transaction per batch unless one is open already."""
        by_batch = not connection.in_transaction
        size = path.stat().st_size
        number, problem = 0, ""
        batches = _batches(lines_from(file, path, source.place))
        while not self._stop.is_set():
            try:
                batch = next(batches, None)
            except DamagedFileError as error:
                problem, batch = f"{part.file} is damaged: {error}", None
            if not batch:
                self._report(part.name, IndexProgress(1.0, source.bad, problem))
                break
            if by_batch:
                connection.execute("BEGIN IMMEDIATE")
            source.bad += part.insert(connection, batch)
            source.place = batch[-1].after
            self._save(connection, part, source, file)
            if by_batch:
                connection.execute("COMMIT")
            number += len(batch)
            self._report(
                part.name, IndexProgress(min(0.99, source.read / max(1, size)), source.bad)
            )
        return number

    def _save(
        self, connection: sqlite3.Connection, part: IndexPart, source: _Source, file: BinaryIO
    ) -> None:
        at = file.tell()
        source.read, source.digest = at, _digest(file, at)
        connection.execute(
            "INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?)",
            (part.name, *source.place, source.read, source.digest, source.bad),
        )
        file.seek(at)

    def _report(self, name: str, progress: IndexProgress) -> None:
        self.progress = {**self.progress, name: progress}


def _load(connection: sqlite3.Connection, name: str) -> _Source:
    row = connection.execute(
        "SELECT offset, line, read, digest, bad FROM sources WHERE name = ?", (name,)
    ).fetchone()
    return _Source() if row is None else _Source(LinePlace(row[0], row[1]), *row[2:])


def _digest(file: BinaryIO, read: int) -> bytes:
    """Return a digest of the beginning and end of the bytes that were read; b"" for none.

    Appended bytes do not change it; another file in its place does.
    """
    if not read:
        return b""
    digest = blake2b(digest_size=16)
    for begins in (0, max(0, read - DIGESTED)):
        file.seek(begins)
        digest.update(file.read(min(DIGESTED, read - begins)))
    return digest.digest()


def _batches(lines: Iterator[IndexedLine]) -> Iterator[Sequence[IndexedLine]]:
    """Yield batches of lines; those before a damaged place come before the error."""
    while True:
        batch: list[IndexedLine] = []
        try:
            batch.extend(islice(lines, BATCH))
        except DamagedFileError:
            if batch:
                yield batch
            raise
        if not batch:
            return
        yield batch
