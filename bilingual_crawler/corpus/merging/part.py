"""A crawl folder that is merged: held against writers, read as its last checkpoint left it.

A worker that was killed leaves files that are longer than its journal vouches for, or a file
that was to be renamed. Both are read here as a restarted worker would read them, and nothing in
the folder is changed.
"""

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

from bilingual_crawler.corpus.pages import unpack_line
from bilingual_crawler.documents.serialise import key_of
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.pairing.pair import PairingPage
from bilingual_crawler.store.folder import DOCUMENTS, JOURNAL, REPORT, REWRITE
from bilingual_crawler.store.input_files import DAMAGED_GZIP, bounded_lines, unpacked
from bilingual_crawler.store.journal import FORMAT, holding_off_writers, open_read_only
from bilingual_crawler.store.json_lines import Damage
from bilingual_crawler.store.warc import FILE_NAME

PAGES = """
SELECT url, language, signature, page,
    CASE WHEN node = url THEN hashes
    ELSE COALESCE((SELECT first.hashes FROM pages first WHERE first.url = pages.node), x'') END
FROM pages ORDER BY url
"""
"""A page with the text of another has the hashes of that one."""
OFF_TOPIC = "off_topic"


class PartPage(NamedTuple):
    """What a folder knows of a page."""

    url: str
    language: str
    signature: bytes
    page: bytes
    hashes: bytes
    part: int
    """Which of the folders it is in."""
    is_off_topic: bool = False

    @property
    def fullness(self) -> tuple[int, bytes, bytes]:
        """By which of several answers of one URL the best is chosen: the longest text first."""
        page = PairingPage.unpack(self.url, self.language, self.page)
        return page.profile.characters, self.signature, self.page


class DocumentLine(NamedTuple):
    """A document as it is written, and its key."""

    key: str
    text: str


class CrawlPart:
    """One of the folders; a context manager, because it is held while it is read."""

    def __init__(self, path: Path, number: int) -> None:
        self.path = path
        self.number = number
        self.damage = Damage()
        self._held = contextlib.ExitStack()
        try:
            self._hold_off_writers()
            self._connection = self._held.enter_context(open_read_only(path / JOURNAL, held=True))
            self._tables = self._check()
        except BaseException:
            self._held.close()
            raise
        self.facts = {str(name): str(value) for name, value in self.rows("facts")}
        self.report = _report(path / REPORT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def _hold_off_writers(self) -> None:
        if not self._held.enter_context(holding_off_writers(self.path / JOURNAL)):
            raise ConfigurationError(
                f"{self.path} is being written: wait until its crawl has ended, or stop that with "
                "Ctrl-C; then merge."
            )

    def _check(self) -> frozenset[str]:
        """The tables of the journal, if it is one that can be read."""
        try:
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            names = self._connection.execute("SELECT name FROM sqlite_master").fetchall()
        except sqlite3.DatabaseError as error:
            raise ConfigurationError(f"{self.path / JOURNAL} cannot be read: {error}.") from error
        if version != FORMAT and names:
            raise ConfigurationError(
                f"{self.path} was written by another version of the crawler (format {version}, "
                f"this one reads {FORMAT}): merge it with that version."
            )
        return frozenset(str(name) for (name,) in names)

    @property
    def langs(self) -> str:
        """The languages of the crawl, as its journal names them."""
        return self.facts.get("langs", "")

    @property
    def topic(self) -> str:
        """The topic of the crawl, as its journal names it; "" for none."""
        return self.facts.get("topic", "")

    @property
    def is_finished(self) -> bool:
        """Whether nothing was left to fetch."""
        return self.facts.get("finished") == "yes"

    def rows(self, table: str, order: str = "") -> Iterator[tuple[Any, ...]]:
        """Every row of a table, none if the crawl ended before it was made."""
        if table not in self._tables:
            return iter(())
        by = f" ORDER BY {order}" if order else ""
        return self._connection.execute(f"SELECT * FROM {table}{by}")  # noqa: S608 - our own names

    def page_count(self) -> int:
        """How many pages it knows."""
        if "pages" not in self._tables:
            return 0
        (count,) = self._connection.execute("SELECT COUNT(*) FROM pages").fetchone()
        return int(count)

    def pages(self) -> Iterator[PartPage]:
        """Every page, in the order of URLs."""
        off_topic = {str(url) for (url,) in self.rows(OFF_TOPIC)}
        if "pages" in self._tables:
            for url, language, signature, page, hashes in self._connection.execute(PAGES):
                known = language, signature, page, hashes
                yield PartPage(url, *known, self.number, url in off_topic)

    def lines(self) -> Iterator[DocumentLine]:
        """Every document, those in the file first, then those that were put aside."""
        with self._file(DOCUMENTS) as file:
            try:
                for text in bounded_lines(unpacked(file)):
                    line = None if text is None else _line(text)
                    if line is None:
                        self.damage.add(f"{self.path / DOCUMENTS}", "not a document")
                    else:
                        yield line
            except DAMAGED_GZIP:
                self.damage.add(f"{self.path / DOCUMENTS}", "cut off or damaged")
        for url, packed in self.rows("spares", "url"):
            yield DocumentLine(url, unpack_line(packed))

    def archives(self) -> Iterator[tuple[str, int]]:
        """The WARC files with their lengths, the oldest first."""
        for name, size in sorted(self.rows("files")):
            if FILE_NAME.fullmatch(name) and (self.path / name).is_file():
                yield name, size

    @contextlib.contextmanager
    def archive(self, name: str, size: int) -> Iterator[BinaryIO]:
        """A WARC file up to the length that the journal vouches for."""
        with (self.path / name).open("rb", buffering=0) as raw:
            yield BufferedReader(_Limited(raw, size))

    @contextlib.contextmanager
    def _file(self, name: str) -> Iterator[BufferedReader]:
        """An output file as the journal vouches for it; an empty one if there is none."""
        fresh = self.path / f"{name}.new"
        renamed = self.facts.get(REWRITE + name) == "yes" and fresh.is_file()
        path = fresh if renamed else self.path / name
        size = next((size for each, size in self.rows("files") if each == name), 0)
        try:
            with path.open("rb", buffering=0) as raw:
                yield BufferedReader(_Limited(raw, size))
        except OSError as error:
            raise ConfigurationError(f"{path} cannot be read: {error.strerror}.") from error


class _Limited(RawIOBase):
    """The beginning of a file."""

    def __init__(self, raw: Any, size: int) -> None:
        self._raw = raw
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = int(self._raw.readinto(memoryview(buffer)[: self._left]))
        self._left -= count
        return count


def _line(text: bytes) -> DocumentLine | None:
    try:
        return DocumentLine(key_of(json.loads(text)), text.decode())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _report(path: Path) -> dict[str, Any]:
    """crawl.json, or nothing where a kill came before the first one."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
