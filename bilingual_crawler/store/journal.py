"""The journal of a crawl: everything that must survive a kill.

A crawl changes many things at once: URLs are queued and done, documents and pairs are written,
counters grow. Each checkpoint takes all changes since the last one, appends to the output files,
and then commits one SQLite transaction with the rest *and the lengths of the files*. On a restart
the files are cut to the lengths of the last commit, so that files and frontier always show the
same moment: nothing is lost and nothing is duplicated. Before it appends, a checkpoint notes the
maximum that it may append: a longer rest was not left by a kill and must not be thrown away. The
work is done on a separate thread, because neither SQLite nor compression should block the event
loop.
"""

import contextlib
import fcntl
import hashlib
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

from bilingual_crawler.errors import ConfigurationError, why_unwritable, writing
from bilingual_crawler.store.durable import sync_folder

Statement = tuple[str, Sequence[tuple[Any, ...]]]
FORMAT = 1
BUSY_SECONDS = 5.0
LOCK_TRIES, LOCK_WAIT = 5, 0.02
"""A page that shows whether a crawl is running holds its lock for a moment, too."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS files (name TEXT PRIMARY KEY, size INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ends (name TEXT PRIMARY KEY, digest BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS growth (name TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;
"""
TABLES = frozenset({"files", "facts", "ends", "growth"})
"""The tables of the journal itself."""
END_BYTES = 4096
"""The part at the end of a file that is compared."""
DAMAGED = frozenset({sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT})


class JournalSource(Protocol):
    """A part of the crawl whose state is saved in the journal."""

    def changes(self) -> Iterable[Statement]:
        """Return SQL with its rows for everything that changed since the last call."""


class Sink(Protocol):
    """An output file that grows at its end; only the thread of the journal uses it."""

    name: str
    moved_aside: list[Path]
    """Files with data from beyond the length that the journal vouches for."""

    def most_bytes(self, items: list[Any]) -> int:
        """Return the maximum by which these items make the file longer."""

    def append(self, items: list[Any]) -> None:
        """Write the items, so that the file is complete and readable."""

    def sync(self) -> dict[str, int]:
        """Flush everything to disk and return the length of each file."""

    def close(self) -> None:
        """Close the file; nothing is written after this."""


class FileEnd(NamedTuple):
    """The end of the part of an output file that belongs to the last checkpoint."""

    size: int = 0
    explained: int = 0
    """Bytes after the end that an interrupted checkpoint may have written."""
    digest: bytes | None = None
    """Distinguishes the file from another one of this length; None if unknown."""


class FolderHeldError(ConfigurationError):
    """Another process writes into the folder."""


class JournalError(Exception):
    """The journal can no longer be written (a full disk, say), so the crawl must stop."""


class Journal:
    """One SQLite file and the output files whose lengths it vouches for.

    `begun` is the number of the checkpoint that last collected changes, `committed` that of the
    last one on disk: compare them to know whether something is safe.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = _lock(path.with_suffix(".lock"))
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            os.close(self._lock)
            raise
        self._sources: list[JournalSource] = []
        self._sinks: dict[str, Sink] = {}
        self._appends: dict[str, list[Any]] = {}
        self._written: dict[str, _Written] = {}
        self._batches: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        self._idle = threading.Event()
        self._idle.set()
        self._error: Exception | None = None
        self.begun = 0
        self.committed = 0
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()

    def _prepare(self) -> None:
        try:
            self._open_database()
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode not in DAMAGED:
                raise
            raise ConfigurationError(
                f"{self.path} is damaged, or not the journal of a crawl ({error}): restore an"
                " intact copy, or start again in another folder with -a output=DIR. The output of"
                " the crawl is in the other files of the folder."
            ) from None

    def _open_database(self) -> None:
        connection = self._connection
        distrust(connection, self.path)
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, FORMAT):
            raise ConfigurationError(
                f"{self.path} was written by another version of the crawler (format {version}, "
                f"this one reads {FORMAT}): choose a new folder with -a output=DIR."
            )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # files are renamed after a commit
        connection.executescript(SCHEMA)
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        sync_folder(self.path.parent)

    def define(self, schema: str) -> None:
        """Create the tables of a source, if they are missing."""
        with writing(self.path.parent, "Make room there, or choose another folder."):
            self._connection.executescript(schema)

    def read(self, sql: str, row: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield rows of the last checkpoint; for use before the crawl begins."""
        return self._connection.execute(sql, row)

    def fact(self, name: str) -> str | None:
        """Return a fact as of the last checkpoint."""
        row = self._connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def file_size(self, name: str) -> int:
        """Return the length of an output file at the last checkpoint."""
        return self._number("SELECT size FROM files WHERE name = ?", name)

    def growth(self, sink_name: str) -> int:
        """Return the maximum that an interrupted checkpoint may have appended to a file."""
        return self._number("SELECT bytes FROM growth WHERE name = ?", sink_name)

    def file_end(self, name: str, sink_name: str | None = None) -> FileEnd:
        """Return the end of an output file at the last checkpoint, and what may follow it."""
        found = self._connection.execute("SELECT digest FROM ends WHERE name = ?", (name,))
        row = found.fetchone()
        explained = self.growth(name if sink_name is None else sink_name)
        return FileEnd(self.file_size(name), explained, None if row is None else row[0])

    def _number(self, sql: str, name: str) -> int:
        row = self._connection.execute(sql, (name,)).fetchone()
        number = 0 if row is None else row[0]
        if not isinstance(number, int) or number < 0:
            raise ConfigurationError(
                f"{self.path} is damaged: it says that {name} has {str(number)[:40]} bytes. Restore"
                " an intact copy, or start again in another folder with -a output=DIR."
            )
        return number

    def file_names(self) -> list[str]:
        """Return the names of the output files at the last checkpoint."""
        return [str(name) for (name,) in self._connection.execute("SELECT name FROM files")]

    def attach(self, source: JournalSource) -> None:
        """Ask `source` for its changes at every checkpoint."""
        self._sources.append(source)

    def detach(self, source: JournalSource) -> None:
        """Ask a source for changes no more."""
        self._sources.remove(source)

    def attach_sink(self, sink: Sink) -> None:
        """Let `append` write to `sink`."""
        self._sinks[sink.name] = sink
        self._appends[sink.name] = []

    def detach_sink(self, name: str) -> None:
        """Close a file to which nothing is left to be written."""
        self._sinks.pop(name).close()
        self._appends.pop(name)

    def record_size(self, name: str, size: int, written_as: Path | None = None) -> None:
        """Let the next checkpoint vouch for a file that was not written through the journal.

        `written_as` is its path until it gets its name; it must be on disk already.
        """
        self._written[name] = _Written(size, written_as or self.path.with_name(name))

    def append(self, sink_name: str, item: Any) -> None:
        """Append an item to an output file, with the next checkpoint."""
        self._appends[sink_name].append(item)

    def checkpoint(self, *, wait: bool = False) -> bool:
        """Make everything up to now durable, in the background or, with `wait`, at once.

        Return True if a checkpoint was begun. While the thread is busy with the last one, the
        changes wait for the next, so a slow disk costs durability, but never blocks the crawl.
        """
        if wait:
            self._idle.wait()
        self._raise_error()
        if not self._idle.is_set():
            return False
        self.begun += 1
        statements = [each for source in self._sources for each in source.changes() if each[1]]
        appends = {name: items for name, items in self._appends.items() if items}
        for name in appends:
            self._appends[name] = []
        written, self._written = self._written, {}
        if statements or appends or written:
            self._idle.clear()
            self._batches.put(_Batch(self.begun, statements, appends, written))
        else:
            self.committed = self.begun
        if wait:
            self._idle.wait()
            self._raise_error()
        return True

    def close(self, *, save: bool = True) -> None:
        """Make everything durable, unless `save` is False, and release the folder."""
        try:
            if save and self._error is None:
                self.checkpoint(wait=True)
        finally:
            self._batches.put(None)
            self._thread.join()
            for sink in self._sinks.values():
                sink.close()
            self._connection.close()
            os.close(self._lock)

    def _raise_error(self) -> None:
        if self._error is not None:
            why = why_unwritable(self._error)
            raise JournalError(f"{self.path.parent} cannot be written: {why}") from self._error

    def _work(self) -> None:
        while (batch := self._batches.get()) is not None:
            try:
                self._write(batch)
            except Exception as error:  # noqa: BLE001 - shown by the next checkpoint
                self._error = error
            finally:
                self._idle.set()

    def _write(self, batch: "_Batch") -> None:
        written = dict(batch.written)
        if batch.appends:
            growth = [
                (name, self._sinks[name].most_bytes(items)) for name, items in batch.appends.items()
            ]
            self._commit([("INSERT OR REPLACE INTO growth VALUES (?, ?)", growth)])
        for name, items in batch.appends.items():
            self._sinks[name].append(items)
            for file, size in self._sinks[name].sync().items():
                written[file] = _Written(size, self.path.with_name(file))
        sizes = [(name, size) for name, (size, _) in written.items()]
        self._commit(
            [
                *batch.statements,
                ("INSERT OR REPLACE INTO files VALUES (?, ?)", sizes),
                ("INSERT OR REPLACE INTO ends VALUES (?, ?)", list(_digests(written))),
                ("DELETE FROM growth WHERE name = ?", [(name,) for name in batch.appends]),
            ]
        )
        self.committed = batch.number

    def _commit(self, statements: Iterable[Statement]) -> None:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            for sql, rows in statements:
                connection.executemany(sql, rows)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # SQLite ends it by itself when the disk is full
                connection.execute("ROLLBACK")
            raise


class _Written(NamedTuple):
    """A file that the next checkpoint vouches for: its length and its present path."""

    size: int
    path: Path


def _digests(files: dict[str, _Written]) -> Iterator[tuple[str, bytes]]:
    """Yield what distinguishes files from others of their length."""
    for name, (size, path) in files.items():
        with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
            yield name, digest_of_end(file.fileno(), size)


class _Batch(NamedTuple):
    """The content of one checkpoint."""

    number: int
    statements: list[Statement]
    appends: dict[str, list[Any]]
    written: dict[str, _Written]


@contextlib.contextmanager
def open_read_only(path: Path, *, held: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a connection that does not disturb a running crawl and sees its last checkpoint.

    If writers are `held` off and the last one ended normally, no file is written next to the
    journal either, so that it may be on a read-only medium.
    """
    left = path.with_name(f"{path.name}-wal")
    still = "&immutable=1" if held and not left.exists() else ""
    connection = sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?mode=ro{still}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
    )
    try:
        with contextlib.suppress(sqlite3.Error):  # raised again by reading
            distrust(connection, path)
        yield connection
    finally:
        connection.close()


def distrust(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database with more than rows in it: a folder may come from someone else."""
    connection.execute("PRAGMA trusted_schema = OFF")
    odd = connection.execute(
        "SELECT type, name FROM sqlite_master"
        " WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%' LIMIT 1"
    ).fetchone()
    if odd is not None:
        raise ConfigurationError(
            f"{path} has a {odd[0]} in it ({str(odd[1])[:40]!r}), which no crawl creates: it is not"
            " opened, because it might do harm. Choose another folder."
        )


def digest_of_end(descriptor: int, size: int) -> bytes:
    """Return a digest of the end of an output file, to tell it from another of that length."""
    begin = max(size - END_BYTES, 0)
    return hashlib.blake2b(os.pread(descriptor, size - begin, begin), digest_size=8).digest()


@contextlib.contextmanager
def holding_off_writers(path: Path) -> Iterator[bool]:
    """Keep crawls out of the folder of a journal; yield False if one is running there already.

    Without a lock file there was no crawl, as in a copy of a folder.
    """
    try:
        descriptor = os.open(path.with_suffix(".lock"), os.O_RDONLY)
    except FileNotFoundError:
        yield True
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Return True if a crawl is running in the folder of a journal."""
    with holding_off_writers(path) as alone:
        return not alone


def _lock(path: Path) -> int:
    """Lock the folder for this process; the kernel unlocks it when the process ends."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    for _ in range(LOCK_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(LOCK_WAIT)
        else:
            return descriptor
    os.close(descriptor)
    raise FolderHeldError(
        f"Another crawl is running in {path.parent}: wait for it, or choose another folder "
        "with -a output=DIR."
    )
