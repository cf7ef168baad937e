"""Backlinks from files too large for memory: an index on disk, made once beside the file.

The files are read a line at a time into a SQLite file that SQLite sorts by itself, so memory
stays the same whatever their size. The index remembers the sizes and times of the files that
it was made from, and is made anew when they have changed.
"""

import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.durable import put_in_place
from bilingual_crawler.store.input_files import bounded_lines, open_unpacked

logger = logging.getLogger(__name__)

FORMAT = 1
BATCH = 10_000
LONGEST_LINE = 10_000
Fill = Callable[[sqlite3.Connection], int]
"""Writes the tables of an index and tells how many lines it could not read."""


def open_index(path: Path, files: Sequence[Path], fill: Fill) -> sqlite3.Connection:
    """The index at `path`, made from `files` if it is missing or older than they are.

    One thread at a time may use what is returned, any thread.
    """
    made_from = f"{FORMAT} " + " ".join(
        f"{file.name}:{stat.st_size}:{stat.st_mtime_ns}" for file in files for stat in [file.stat()]
    )
    if _made_from(path) != made_from:
        names = ", ".join(file.name for file in files)
        logger.info("Reading %s once, to have an index of backlinks: %s", names, path)
        _make(path, made_from, fill)
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)


def read_columns(files: Iterable[Path]) -> Iterator[list[str]]:
    """The columns of every line of text files, compressed or not; too long lines are cut."""
    for file in files:
        with open_unpacked(file) as content:
            for line in bounded_lines(content, LONGEST_LINE):
                yield line.decode("utf-8", "replace").rstrip("\r\n").split("\t")


def insert(connection: sqlite3.Connection, sql: str, rows: Iterator[tuple[object, ...]]) -> None:
    """Write rows as they come."""
    while some := list(islice(rows, BATCH)):
        connection.executemany(sql, some)


def _made_from(path: Path) -> str:
    if not path.exists():
        return ""
    try:
        with closing(sqlite3.connect(path)) as connection:
            (made_from,) = connection.execute("SELECT made_from FROM about").fetchone()
            return str(made_from)
    except (sqlite3.Error, TypeError):
        return ""


def _make(path: Path, made_from: str, fill: Fill) -> None:
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with closing(sqlite3.connect(fresh, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("BEGIN")
            unreadable = fill(connection)
            connection.execute("CREATE TABLE about (made_from TEXT NOT NULL)")
            connection.execute("INSERT INTO about VALUES (?)", (made_from,))
            connection.execute("COMMIT")
        put_in_place(fresh, path)
    except (OSError, EOFError, sqlite3.Error) as error:
        raise ConfigurationError(
            f"BILINGUAL_BACKLINKS: the index {path} cannot be made ({error}). Its folder must be "
            "writable, and the files it is made from whole."
        ) from error
    finally:
        fresh.unlink(missing_ok=True)
    if unreadable:
        logger.warning("%d lines of the files of %s could not be read", unreadable, path)
