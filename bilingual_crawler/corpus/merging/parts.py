"""The crawl folders that are merged, read as their last checkpoints left them.

A worker that was killed leaves files that are longer than its journal vouches for, or a file
that was about to be renamed. Both are read here as a restarted worker would read them. Nothing
in the folders is changed, and writers are kept out while they are read.
"""

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from io import BufferedReader, RawIOBase
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

from bilingual_crawler.corpus.pages import unpack_line
from bilingual_crawler.documents.serialise import key_of
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.pairing.pair import PairingPage
from bilingual_crawler.store.folder import DOCUMENTS, JOURNAL, REPORT, REWRITE
from bilingual_crawler.store.input_files import DAMAGED_GZIP, Damage, bounded_lines, unpacked
from bilingual_crawler.store.journal import FORMAT, holding_off_writers, open_read_only
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
    """What a folder knows about a page."""

    url: str
    language: str
    signature: bytes
    page: bytes
    hashes: bytes
    part: int
    """The number of the folder it is in."""
    is_off_topic: bool = False

    @property
    def fullness(self) -> tuple[int, bytes, bytes]:
        """The sort key among several responses of one URL: the longest text is best."""
        page = PairingPage.unpack(self.url, self.language, self.page)
        return page.profile.characters, self.signature, self.page


class DocumentLine(NamedTuple):
    """A document as it is written, with its key."""

    key: str
    text: str


class CrawlPart:
    """One of the folders; a context manager, because it is locked while it is read."""

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
                f"{self.path} is being written: wait until its crawl has ended, or stop it with "
                "Ctrl-C, then merge."
            )

    def _check(self) -> frozenset[str]:
        """Return the tables of the journal; raise an error if it cannot be read."""
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
        """Yield every row of a table; none if the crawl ended before it was created."""
        if table not in self._tables:
            return iter(())
        by = f" ORDER BY {order}" if order else ""
        return self._connection.execute(f"SELECT * FROM {table}{by}")  # noqa: S608 - our own names

    def page_count(self) -> int:
        """Return the number of pages it knows."""
        if "pages" not in self._tables:
            return 0
        (count,) = self._connection.execute("SELECT COUNT(*) FROM pages").fetchone()
        return int(count)

    def pages(self) -> Iterator[PartPage]:
        """Yield every page, in the order of URLs."""
        off_topic = {str(url) for (url,) in self.rows(OFF_TOPIC)}
        if "pages" in self._tables:
            for url, language, signature, page, hashes in self._connection.execute(PAGES):
                known = language, signature, page, hashes
                yield PartPage(url, *known, self.number, url in off_topic)

    def lines(self) -> Iterator[DocumentLine]:
        """Yield every document: first those in the file, then those that were set aside."""
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
        """Yield the WARC files with their lengths, oldest first."""
        for name, size in sorted(self.rows("files")):
            if FILE_NAME.fullmatch(name) and (self.path / name).is_file():
                yield name, size

    @contextlib.contextmanager
    def archive(self, name: str, size: int) -> Iterator[BinaryIO]:
        """Open a WARC file up to the length that the journal vouches for."""
        with (self.path / name).open("rb", buffering=0) as raw:
            yield BufferedReader(_Limited(raw, size))

    @contextlib.contextmanager
    def _file(self, name: str) -> Iterator[BufferedReader]:
        """Open an output file up to the length that the journal vouches for."""
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
    """The first `size` bytes of a file."""

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
    """Read crawl.json; return {} if the crawl was killed before it wrote one."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def find_folders(given: Sequence[Path], target: Path) -> list[Path]:
    """Return the crawl folders that the arguments name, sorted."""
    found: list[Path] = []
    for path in given:
        found += _crawls_in(path)
        if target.resolve().is_relative_to(path.resolve()):
            raise ConfigurationError(
                f"--into {target} is inside {path}, which is merged: choose a folder outside of it."
            )
    folders = sorted(path.resolve() for path in found)
    for folder, following in pairwise(folders):
        if folder == following:
            raise ConfigurationError(f"{folder} is named twice: name every folder once.")
    return folders


def _crawls_in(path: Path) -> list[Path]:
    """Return the path itself if it is a crawl folder, or else the crawl folders in it."""
    if (path / JOURNAL).is_file():
        return [path]
    if not path.is_dir():
        problem = "is not a folder" if path.exists() else "does not exist"
        raise ConfigurationError(f"{path} {problem}: name the folders of crawls.")
    found = [each for each in path.iterdir() if (each / JOURNAL).is_file()]
    if not found:
        raise ConfigurationError(
            f"There is no crawl in {path} (no {JOURNAL}, nor in its folders): name the folders "
            "that were given as -a output=DIR, or the folder that contains them all."
        )
    return found


@contextlib.contextmanager
def open_parts(folders: Iterable[Path]) -> Iterator[list[CrawlPart]]:
    """Open and lock all folders in which a crawl began; they must have the same languages.

    A worker that was killed before its first checkpoint leaves an empty folder.
    """
    with contextlib.ExitStack() as held:
        opened = [held.enter_context(CrawlPart(folder, at)) for at, folder in enumerate(folders)]
        parts = [part for part in opened if part.langs]
        if not parts:
            raise ConfigurationError(
                f"There is nothing to merge: the crawl of {opened[0].path} never began."
            )
        for part in parts:
            if part.langs != parts[0].langs:
                raise ConfigurationError(
                    f"{parts[0].path} holds a crawl for {parts[0].langs}, and {part.path} one for "
                    f"{part.langs}: merge crawls of the same languages, in the same order."
                )
            if part.topic != parts[0].topic:
                raise ConfigurationError(
                    f"{parts[0].path} and {part.path} hold crawls for different topics: merge "
                    "crawls of one topic, or of none."
                )
        yield parts
