"""Backlinks, the pages that link to a site: from files, HTTP APIs and classes of the user.

Files may be too large for memory. They are read one line at a time into a SQLite index beside
them, which SQLite sorts itself. The index records the sizes and times of its files and is made
again when they have changed.
"""

import json
import logging
import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.plugins import PluginKind
from bilingual_crawler.store.durable import put_in_place
from bilingual_crawler.store.input_files import bounded_lines, open_unpacked
from bilingual_crawler.urls.addresses import read_address
from bilingual_crawler.urls.hosts import host_of, site_of

INDEX = "backlinks.sqlite"


class BacklinkProvider(ABC):
    """A source of backlinks, called from one thread of its own, so that it may block.

    Users name their own as python:package.module.Class in BILINGUAL_BACKLINKS; it is made without
    arguments.
    """

    @abstractmethod
    def sources_of(self, site: str, most: int) -> list[str]:
        """Return URLs of pages that link to a site such as `museo.org`, `most` at most."""

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """Release files and connections: nothing more will be asked."""


BACKLINK_PLUGINS = PluginKind(
    "a backlink provider", "bilingual_crawler.backlinks", BacklinkProvider
)


class LinkFile(BacklinkProvider):
    """A text file of `target<TAB>source` lines, both URLs or host names; gzipped or not.

    Many things can be turned into one: a search engine's export, the link records of Common
    Crawl's WAT files, the log of another crawl.
    """

    def __init__(self, path: Path) -> None:
        index = path.with_name(f"{path.name}.{INDEX}")
        self._index = open_index(index, [path], lambda into: _fill_links(into, path))

    def sources_of(self, site: str, most: int) -> list[str]:
        """Return the URLs of pages that link to a site, as the file has them."""
        rows = self._index.execute("SELECT source FROM links WHERE site = ? LIMIT ?", (site, most))
        return [str(source) for (source,) in rows]

    def close(self) -> None:
        """Close the index."""
        self._index.close()


def _fill_links(into: sqlite3.Connection, path: Path) -> int:
    unreadable = 0

    def rows() -> Iterator[tuple[str, str]]:
        nonlocal unreadable
        for columns in read_columns([path]):
            try:
                target, source = (read_address(each.strip()) for each in columns[:2])
            except ValueError:
                unreadable += 1
                continue
            yield site_of(host_of(target)), source

    into.execute("CREATE TABLE links (site TEXT NOT NULL, source TEXT NOT NULL)")
    insert(into, "INSERT INTO links VALUES (?, ?)", rows())
    into.execute("CREATE INDEX links_to ON links (site, source)")
    return unreadable


class WebGraph(BacklinkProvider):
    """Common Crawl's graph of hosts or domains: text files of vertices and edges.

    The folder holds files with `vertices` in their names (id<TAB>reversed name) and files with
    `edges` in theirs (from<TAB>to). A host is returned as its home page.
    """

    def __init__(self, folder: Path) -> None:
        vertices = _parts(folder, "vertices")
        edges = _parts(folder, "edges")
        self._index = open_index(
            folder / INDEX, [*vertices, *edges], lambda into: _fill_graph(into, vertices, edges)
        )

    def sources_of(self, site: str, most: int) -> list[str]:
        """Return the home pages of hosts that link to a host of the site."""
        name = reversed_name(site)
        rows = self._index.execute(
            "SELECT DISTINCT source.name FROM hosts AS target"
            " JOIN edges ON edges.target = target.id"
            " JOIN hosts AS source ON source.id = edges.source"
            " WHERE target.name = ?1 OR (target.name > ?1 || '.' AND target.name < ?1 || '/')"
            " LIMIT ?2",
            (name, most),
        )
        return [f"https://{reversed_name(source)}/" for (source,) in rows]

    def close(self) -> None:
        """Close the index."""
        self._index.close()


def reversed_name(name: str) -> str:
    """Return a host name with its labels in reverse order: org.example.www."""
    return ".".join(reversed(name.split(".")))


def _parts(folder: Path, word: str) -> list[Path]:
    found = sorted(
        path for path in folder.glob(f"*{word}*") if path.suffix in {".gz", ".txt", ".tsv"}
    )
    if not found:
        raise ConfigurationError(
            f"BILINGUAL_BACKLINKS: {folder} has no file with {word!r} in its name. A web graph is "
            "a folder with *vertices*.txt.gz and *edges*.txt.gz, as Common Crawl publishes them."
        )
    return found


def _fill_graph(into: sqlite3.Connection, vertices: list[Path], edges: list[Path]) -> int:
    unreadable = 0

    def numbered(columns: list[str]) -> int | None:
        nonlocal unreadable
        if len(columns) > 1 and columns[0].isdecimal():
            return int(columns[0])
        unreadable += 1
        return None

    def hosts() -> Iterator[tuple[int, str]]:
        for columns in read_columns(vertices):
            if (number := numbered(columns)) is not None:
                yield number, columns[1]

    def links() -> Iterator[tuple[int, str]]:
        for columns in read_columns(edges):
            if (number := numbered(columns)) is not None:
                yield number, columns[1]

    into.execute("CREATE TABLE hosts (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
    insert(into, "INSERT OR REPLACE INTO hosts VALUES (?, ?)", hosts())
    into.execute("CREATE INDEX hosts_by_name ON hosts (name)")
    into.execute("CREATE TABLE edges (source INTEGER NOT NULL, target INTEGER NOT NULL)")
    insert(into, "INSERT INTO edges VALUES (?, ?)", links())
    into.execute("CREATE INDEX edges_to ON edges (target, source)")
    return unreadable


logger = logging.getLogger(__name__)

FORMAT = 1
BATCH = 10_000
LONGEST_LINE = 10_000
Fill = Callable[[sqlite3.Connection], int]
"""Writes the tables of an index and returns the number of unreadable lines."""


def open_index(path: Path, files: Sequence[Path], fill: Fill) -> sqlite3.Connection:
    """Return the index at `path`, made from `files` if it is missing or out of date.

    Any thread may use the connection, but only one at a time.
    """
    made_from = f"{FORMAT} " + " ".join(
        f"{file.name}:{stat.st_size}:{stat.st_mtime_ns}" for file in files for stat in [file.stat()]
    )
    if _made_from(path) != made_from:
        names = ", ".join(file.name for file in files)
        logger.info("Reading %s once to make an index of backlinks: %s", names, path)
        _make(path, made_from, fill)
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)


def read_columns(files: Iterable[Path]) -> Iterator[list[str]]:
    """Yield the columns of every line of text files, compressed or not, but for endless lines."""
    for file in files:
        with open_unpacked(file) as content:
            for line in bounded_lines(content, LONGEST_LINE):
                if line is not None:
                    yield line.decode("utf-8", "replace").rstrip("\r\n").split("\t")


def insert(connection: sqlite3.Connection, sql: str, rows: Iterator[tuple[object, ...]]) -> None:
    """Insert rows in batches."""
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
            "writable, and the files that it is made from complete."
        ) from error
    finally:
        fresh.unlink(missing_ok=True)
    if unreadable:
        logger.warning("%d lines in the files for %s could not be read", unreadable, path)


DEEPEST = 20


def question(template: str, url: str, site: str) -> str:
    """Return the address that asks for the backlinks of a page; the path after # is ours."""
    address = template.partition("#")[0]
    return address.format(url=quote(url, safe=""), site=quote(site, safe=""))


def read_answer(template: str, body: bytes, most: int) -> list[str]:
    """Return the valid addresses at the path after # of the template in a JSON answer.

    Raise ValueError if it is not JSON. A path is keys with dots between them; every item of a
    list on the way is read.
    """
    path = [step for step in template.partition("#")[2].split(".") if step]
    try:
        answer = json.loads(body)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return valid_addresses(_values(answer, path, 0), most)


def valid_addresses(texts: Iterable[str], most: int) -> list[str]:
    """Return the first `most` distinct addresses among some texts, without those that are none."""
    found: dict[str, None] = {}
    for text in texts:
        try:
            found[read_address(text.strip())] = None
        except ValueError:
            continue
        if len(found) == most:
            break
    return list(found)


def _values(data: Any, path: list[str], depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        return
    if isinstance(data, list):
        for each in data:
            yield from _values(each, path, depth + 1)
    elif path and isinstance(data, dict):
        yield from _values(data.get(path[0]), path[1:], depth + 1)
    elif not path and isinstance(data, str):
        yield data
