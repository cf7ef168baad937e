"""The documents of a crawl's pairs, split into sentences, and the file of sentence pairs.

A temporary SQLite database holds the documents: it stays in memory while it is small, spills into
the folder for temporary files when it is not, and disappears with the process, however that ends.
(SQLITE_TMPDIR names another folder.) A folder that a crawl is writing to can be read; what is
incomplete is left out.

The same pairs give the same bytes in sentences.jsonl.gz, which is written completely or not at all.
"""

import fcntl
import gzip
import json
import math
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from bilingual_crawler.alignment.frames import frame_of
from bilingual_crawler.alignment.splitting import Segment, segments_of
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.serialise import document_from_dict, key_of
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import ParallelLanguages
from bilingual_crawler.pairing.pair import SPEAKS_FOR
from bilingual_crawler.store.durable import replacing
from bilingual_crawler.store.folder import DOCUMENTS, PAIRS
from bilingual_crawler.store.input_files import DAMAGED_GZIP, bounded_lines, unpacked
from bilingual_crawler.store.sentence_pair import SentencePair

SCHEMA = """
CREATE TABLE pairs (
    id INTEGER PRIMARY KEY, url1 TEXT, url2 TEXT, lang1 TEXT, lang2 TEXT, place BLOB,
    score REAL, evidence TEXT,
    UNIQUE (lang1, lang2, url1), UNIQUE (lang1, lang2, url2)
);
CREATE TABLE texts (
    key TEXT PRIMARY KEY, segments BLOB, frame BLOB, fetched TEXT, licence TEXT, machine TEXT
) WITHOUT ROWID;
CREATE INDEX first ON pairs (url1);
CREATE INDEX second ON pairs (url2);
"""
TEXTS = """
SELECT url1, url2, lang1, lang2, one.segments, two.segments, score, evidence,
    one.frame, two.frame, one.fetched, one.licence, one.machine,
    two.fetched, two.licence, two.machine FROM pairs
JOIN texts one ON one.key = url1 JOIN texts two ON two.key = url2 WHERE id = ?
"""
MOST_SENTENCES = 20_000
"""The most sentences per document; one with more is a dump, and would hold up all others."""
_EVERY = 100
"""Lines between two reports of progress."""


class PageProvenance(NamedTuple):
    """What is known about a page: when it was fetched, its licence, its machine translation."""

    fetched: str = ""
    licence: str = ""
    machine: str = ""


class PairOfTexts(NamedTuple):
    """Two documents that are translations of each other, as sentences, and their provenance."""

    url1: str
    url2: str
    lang1: str
    lang2: str
    first: list[Segment]
    second: list[Segment]
    score: float = 1.0
    evidence: str = ""
    about1: PageProvenance = PageProvenance()
    about2: PageProvenance = PageProvenance()
    frame1: Sequence[Segment] = ()
    frame2: Sequence[Segment] = ()
    """The text around the content: menus, titles, descriptions."""


@dataclass
class FolderReading:
    """What was found in a folder, and what could not be used."""

    document_pairs: int = 0
    unreadable_lines: int = 0
    too_large_documents: int = 0
    is_unfinished: bool = False


class PairedDocuments:
    """The document pairs of a folder, to be read more than once."""

    def __init__(
        self,
        folder: Path,
        progress: Callable[[int, int], None],
        langs: ParallelLanguages | None = None,
    ) -> None:
        self._langs = langs
        self._connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._connection.executescript(SCHEMA)
        self.reading = FolderReading()
        self._connection.execute("BEGIN")
        self._read_pairs(folder / PAIRS)
        self._read_documents(folder / DOCUMENTS, progress)
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Discard everything."""
        self._connection.close()

    def __len__(self) -> int:
        return self.reading.document_pairs

    def in_order(self) -> Iterator[PairOfTexts]:
        """Return every pair whose documents are both there, in the order of their URLs."""
        return self._texts(self._connection.execute("SELECT id FROM pairs ORDER BY url1, url2, id"))

    def at_random(self) -> Iterator[PairOfTexts]:
        """Return the same pairs in an order unrelated to that of the crawl."""
        return self._texts(self._connection.execute("SELECT id FROM pairs ORDER BY place, id"))

    def _texts(self, numbers: Iterable[tuple[int]]) -> Iterator[PairOfTexts]:
        for number in numbers:
            row = self._connection.execute(TEXTS, number).fetchone()
            if row is not None:
                url1, url2, lang1, lang2, first, second, score, evidence, *rest = row
                yield PairOfTexts(
                    *(url1, url2, lang1, lang2, _unpack(first), _unpack(second), score, evidence),
                    *(PageProvenance(*rest[2:5]), PageProvenance(*rest[5:])),
                    *(_unpack(rest[0]), _unpack(rest[1])),
                )

    def _read_pairs(self, path: Path) -> None:
        """Read the last pair of each page: a better find may have replaced an earlier one."""
        for fields in self._lines(path, lambda _: None):
            if fields.get("verdict") == "rejected":  # of a list of files that scrapy pairs judged
                continue
            try:
                row = [fields[name] for name in ("url1", "url2", "lang1", "lang2")]
                first, second = row[0], row[1]
                if self._langs is not None and not self._langs.admits(row[2], row[3]):
                    continue
                place = blake2b(f"{first}\t{second}".encode(), digest_size=8).digest()
                self._connection.execute(
                    "INSERT OR REPLACE INTO pairs"
                    " (url1, url2, lang1, lang2, place, score, evidence)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (first, second, *row[2:], place, *_support(fields)),
                )
            except (KeyError, TypeError, ValueError, OverflowError, sqlite3.Error):
                self.reading.unreadable_lines += 1

    def _read_documents(self, path: Path, progress: Callable[[int, int], None]) -> None:
        size = path.stat().st_size if path.is_file() else 0
        for fields in self._lines(path, lambda done: progress(done, size)):
            try:
                key = key_of(fields)
                if self._is_wanted(key):
                    self._keep(key, document_from_dict(fields))
            except (AttributeError, KeyError, TypeError, ValueError, sqlite3.Error):
                self.reading.unreadable_lines += 1
        counted = self._connection.execute(
            "SELECT count(*) FROM pairs WHERE url1 IN (SELECT key FROM texts)"
            " AND url2 IN (SELECT key FROM texts)"
        )
        (self.reading.document_pairs,) = counted.fetchone()

    def _keep(self, key: str, document: Document) -> None:
        segments = segments_of(document, document.language or "")
        if len(segments) > MOST_SENTENCES:
            self.reading.too_large_documents += 1
            return
        facts = document.fetched_at, document.licence, document.machine_translated
        frame = frame_of(document, document.language or "")
        row = key, _pack(segments), _pack(frame), *map(str, facts)
        self._connection.execute("INSERT OR REPLACE INTO texts VALUES (?, ?, ?, ?, ?, ?)", row)

    def _is_wanted(self, key: str) -> bool:
        found = self._connection.execute(
            "SELECT 1 FROM pairs WHERE url1 = ? UNION ALL SELECT 1 FROM pairs WHERE url2 = ?",
            (key, key),
        )
        return found.fetchone() is not None

    def _lines(self, path: Path, progress: Callable[[int], None]) -> Iterator[dict[str, Any]]:
        """Yield the lines of a file that may be growing; count what cannot be read."""
        try:
            raw = path.open("rb")
        except OSError as error:
            raise ConfigurationError(
                f"{path} cannot be read ({error.strerror}): name the folder of a crawl, which"
                f" has {PAIRS} and {DOCUMENTS} in it."
            ) from error
        with raw:
            try:
                for number, line in enumerate(bounded_lines(unpacked(raw))):
                    if number % _EVERY == 0:
                        progress(raw.tell())
                    fields = self._read_line(line)
                    if fields is not None:
                        yield fields
            except DAMAGED_GZIP:
                self.reading.is_unfinished = True

    def _read_line(self, line: bytes | None) -> dict[str, Any] | None:
        if line is None:
            self.reading.unreadable_lines += 1
            return None
        if not line.endswith(b"\n"):
            self.reading.is_unfinished = True
            return None
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            fields = None
        if not isinstance(fields, dict):
            self.reading.unreadable_lines += 1
            return None
        return fields


def _support(fields: dict[str, Any]) -> tuple[float, str]:
    """Return the score of a document pair and the names of what speaks for it."""
    score = float(fields.get("score", 1.0))
    if not math.isfinite(score):
        raise TypeError("not a score")
    names = {
        str(each["detector"]): None
        for each in fields.get("evidence", ())
        if float(each["score"]) >= SPEAKS_FOR
    }
    return score, " ".join(names)


def _pack(segments: list[Segment]) -> bytes:
    rows = [(each.text, each.paragraph, each.kind, each.number) for each in segments]
    return zlib.compress(json.dumps(rows).encode(), 1)


def _unpack(packed: bytes) -> list[Segment]:
    return [Segment(*row) for row in json.loads(zlib.decompress(packed))]


LEVEL = 6


def write_sentences(file: Path, pairs: Iterable[SentencePair]) -> int:
    """Write a file of sentence pairs; return how many there were.

    It replaces an older file at once, when it is complete on disk. What a killed run leaves behind
    is overwritten by the next run.
    """
    count = 0
    with (
        replacing(file) as fresh,
        fresh.open("xb") as raw,
        gzip.GzipFile("", "wb", LEVEL, raw, mtime=0) as packed,
    ):
        for count, pair in enumerate(pairs, 1):  # noqa: B007 - told at the end
            packed.write(to_line(pair))
    return count


def to_line(pair: SentencePair) -> bytes:
    """Return a sentence pair as a line of the file."""
    return json.dumps(pair.to_dict(), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


@contextmanager
def sole_writer(file: Path) -> Iterator[None]:
    """Lock a file's folder against another alignment; the kernel releases it in the end."""
    descriptor = os.open(file.parent, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConfigurationError(
                f"Another alignment is writing to {file.parent}: wait for it, or name another"
                " file with --out."
            ) from None
        yield
    finally:
        os.close(descriptor)
