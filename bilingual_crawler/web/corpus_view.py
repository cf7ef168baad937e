"""The corpus as the pages show it: document pairs, their sentences, and the marks of users."""

import json
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bilingual_crawler.documents.serialise import key_of
from bilingual_crawler.store.durable import replacing
from bilingual_crawler.store.folder import DOCUMENTS
from bilingual_crawler.web.search.index import LinePlace, line_at

LABELS = "labels.tsv"
COLUMNS = 3
SENTENCES_PER_PAGE = 300
MAX_PARAGRAPHS = 1_000
ORDERS = {"found": "p.id", "newest": "p.id DESC", "doubtful": "p.score, p.id"}
"""The orders in which pairs can be listed."""
_PAIR = """
SELECT p.id, p.pair, p.url1, p.url2, p.lang1, p.lang2, p.score, p.evidence,
    COALESCE((SELECT title FROM documents WHERE url = p.url1), '') AS title1,
    COALESCE((SELECT title FROM documents WHERE url = p.url2), '') AS title2,
    (SELECT COUNT(*) FROM sentences s JOIN aligned a ON a.id = s.aligned
        WHERE a.pair = p.pair AND s.dropped = '') AS sentences
FROM pairs p
"""
_REPLACED = """
SELECT 0 AS id, p.pair, p.url1, p.url2, p.lang1, p.lang2, NULL AS score, '[]' AS evidence,
    COALESCE((SELECT title FROM documents WHERE url = p.url1), '') AS title1,
    COALESCE((SELECT title FROM documents WHERE url = p.url2), '') AS title2,
    (SELECT COUNT(*) FROM sentences s WHERE s.aligned = p.id AND s.dropped = '') AS sentences
FROM aligned p
"""
Key = tuple[str, str]


class MarkError(ValueError):
    """A mark that cannot be saved; the message says why."""


class Marks:
    """Accept and reject marks of document pairs: labels.tsv in the folder of the crawl.

    A line has two URLs and 1 or 0, separated by tabs, which is what training reads. The whole
    file is replaced with every mark, so each pair is in it once. It may also be edited by hand:
    lines that are not understood are kept. Any thread may read and change the marks.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / LABELS
        self._lock = threading.Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._marks: dict[Key, bool] = {}
        self._others: list[str] = []

    def of(self, url1: str, url2: str) -> bool | None:
        """Return True for an accepted pair, False for a rejected one, None without a mark."""
        with self._lock:
            self._read()
            return self._marks.get((url1, url2))

    def all(self) -> dict[Key, bool]:
        """Return every mark."""
        with self._lock:
            self._read()
            return dict(self._marks)

    def put(self, url1: str, url2: str, good: bool | None) -> None:
        """Accept or reject a pair, or remove its mark; it is on disk when this returns."""
        if any(set(url) & set("\t\r\n") or url.startswith("#") for url in (url1, url2)):
            raise MarkError("A pair whose URL has a tab or a line break cannot be marked.")
        with self._lock:
            self._read()
            self._marks.pop((url1, url2), None)
            if good is not None:
                self._marks[url1, url2] = good
            self._write()

    def _read(self) -> None:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            self._stamp, self._marks, self._others = None, {}, []
            return
        stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
        if stamp == self._stamp:
            return
        self._stamp, self._marks, self._others = stamp, {}, []
        for line in self.path.read_text("utf-8", "surrogateescape").split("\n"):
            parts = line.rstrip("\r").split("\t")
            if len(parts) == COLUMNS and parts[2] in {"0", "1"}:
                self._marks[parts[0], parts[1]] = parts[2] == "1"
            elif line.strip():
                self._others.append(line)

    def _write(self) -> None:
        lines = [*self._others, *(f"{a}\t{b}\t{int(ok)}" for (a, b), ok in self._marks.items())]
        with (
            replacing(self.path) as fresh,
            fresh.open("x", encoding="utf-8", errors="surrogateescape", newline="\n") as file,
        ):
            file.writelines(f"{line}\n" for line in lines)
        self._stamp = None


class ShownEvidence(NamedTuple):
    """The evidence of one detector about a pair."""

    detector: str
    score: float
    why: str


@dataclass(frozen=True, slots=True)
class PairView:
    """A document pair as a page shows it."""

    pair: str
    url1: str
    url2: str
    lang1: str
    lang2: str
    title1: str
    title2: str
    score: float | None
    """None for a pair that the crawl has replaced since it was aligned."""
    evidence: Sequence[ShownEvidence]
    sentences: int
    id: int = 0


class SentenceView(NamedTuple):
    """A sentence pair in its document."""

    at: int
    text1: str
    text2: str
    beads: str
    kind: str
    score: float
    dropped: str


class ParagraphView(NamedTuple):
    """A paragraph of a document that is not aligned."""

    text: str
    kind: str


def count_of(connection: sqlite3.Connection, table: str) -> int:
    """Return the number of rows of a table that only grows."""
    ask = "SELECT COALESCE(MAX(id), 0) FROM sentences"
    if table != "sentences":
        ask = f"SELECT COUNT(*) FROM {table}"  # noqa: S608 - our own names
    (number,) = connection.execute(ask).fetchone()
    return int(number)


def list_pairs(connection: sqlite3.Connection, order: str, page: int, size: int) -> list[PairView]:
    """Return one page of the document pairs."""
    ask = f"{_PAIR} ORDER BY {ORDERS[order]} LIMIT ? OFFSET ?"
    return [_view(row) for row in connection.execute(ask, (size, (page - 1) * size))]


def find_pair(connection: sqlite3.Connection, pair: str) -> PairView | None:
    """Return the document pair with this id, even one that was replaced; None if there is none."""
    for ask in (_PAIR, _REPLACED):
        row = connection.execute(f"{ask} WHERE p.pair = ?", (pair,)).fetchone()
        if row is not None:
            return _view(row)
    return None


def next_unmarked(
    connection: sqlite3.Connection, after: int, marks: Mapping[Key, bool]
) -> str | None:
    """Return the next pair without a mark; after the last one, start again."""
    for sign, limit in ((">", after), ("<", after)):
        rows = connection.execute(
            f"SELECT pair, url1, url2 FROM pairs WHERE id {sign} ? ORDER BY id",  # noqa: S608 - our own signs
            (limit,),
        )
        for pair, url1, url2 in rows:
            if (url1, url2) not in marks:
                return str(pair)
    return None


def sentences_of(connection: sqlite3.Connection, pair: str, page: int) -> list[SentenceView]:
    """Return one page of the sentence pairs of a document pair, in order, with dropped ones."""
    rows = connection.execute(
        "SELECT s.at, s.text1, s.text2, s.beads, s.kind, s.score, s.dropped FROM sentences s"
        " JOIN aligned a ON a.id = s.aligned WHERE a.pair = ? ORDER BY s.at LIMIT ? OFFSET ?",
        (pair, SENTENCES_PER_PAGE, (page - 1) * SENTENCES_PER_PAGE),
    )
    return [SentenceView(*row) for row in rows]


def paragraphs_of(connection: sqlite3.Connection, folder: Path, url: str) -> list[ParagraphView]:
    """Return the text of a document without menus, read from its place in the file."""
    row = connection.execute("SELECT offset, line FROM documents WHERE url = ?", (url,)).fetchone()
    line = None if row is None else line_at(folder / DOCUMENTS, LinePlace(*row))
    if line is None:
        return []
    try:
        found: dict[str, Any] = json.loads(line)
        if key_of(found) != url:
            return []
        return [
            ParagraphView(str(each["text"]), str(each["kind"]))
            for each in found["paragraphs"][:MAX_PARAGRAPHS]
            if not each["boilerplate"]
        ]
    except (ValueError, KeyError, TypeError):
        return []


def _view(row: sqlite3.Row) -> PairView:
    evidence = []
    for each in json.loads(row["evidence"]):
        if isinstance(each, dict):
            score = each.get("score")
            number = float(score) if isinstance(score, (int, float)) else 0.0
            evidence.append(ShownEvidence(str(each.get("detector")), number, str(each.get("why"))))
    names = ("id", "pair", "url1", "url2", "lang1", "lang2", "title1", "title2", "score")
    return PairView(
        **{name: row[name] for name in names}, evidence=evidence, sentences=row["sentences"]
    )
