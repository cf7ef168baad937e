"""Backlinks from files on disk: a web graph of hosts, or lines of target and source."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from bilingual_crawler.config.seeds import read_address
from bilingual_crawler.discovery.backlinks.index import insert, open_index, read_columns
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.urls.hosts import host_of, site_of

INDEX = "backlinks.sqlite"


class FileBacklinks(Protocol):
    """Answers from a file; slow enough to be asked on a thread."""

    def sources_of(self, site: str, most: int) -> list[str]:
        """URLs of pages that link to a site, `most` at most."""

    def close(self) -> None:
        """Let go of the file."""


class LinkFile:
    """A text file of `target<TAB>source` lines, both URLs or host names; gzip too.

    Whatever knows links can be made into one: a search engine's export, the link records of
    Common Crawl's WAT files, the log of another crawl.
    """

    def __init__(self, path: Path) -> None:
        index = path.with_name(f"{path.name}.{INDEX}")
        self._index = open_index(index, [path], lambda into: _fill_links(into, path))

    def sources_of(self, site: str, most: int) -> list[str]:
        """URLs of pages that link to a site, as they stand in the file."""
        rows = self._index.execute("SELECT source FROM links WHERE site = ? LIMIT ?", (site, most))
        return [str(source) for (source,) in rows]

    def close(self) -> None:
        """Let go of the index."""
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


class WebGraph:
    """Common Crawl's graph of hosts or domains: text files of vertices and of edges.

    The folder holds files with `vertices` in their names (id<TAB>reversed name) and files with
    `edges` in theirs (from<TAB>to). A host stands for its home page.
    """

    def __init__(self, folder: Path) -> None:
        vertices = _parts(folder, "vertices")
        edges = _parts(folder, "edges")
        self._index = open_index(
            folder / INDEX, [*vertices, *edges], lambda into: _fill_graph(into, vertices, edges)
        )

    def sources_of(self, site: str, most: int) -> list[str]:
        """The home pages of hosts that link to a host of the site."""
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
        """Let go of the index."""
        self._index.close()


def reversed_name(name: str) -> str:
    """A host name with its labels the other way round: org.example.www."""
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
