"""The corpus as the pages show it: document pairs and their sentences."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bilingual_crawler.documents.serialise import key_of
from bilingual_crawler.store.folder import DOCUMENTS
from bilingual_crawler.store.marks import Key
from bilingual_crawler.web.search.index import LinePlace, line_at

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


class SentenceCount(NamedTuple):
    """The sentence pairs of a corpus: those that cleaning kept, and those that it dropped."""

    kept: int
    dropped: int


def count_sentences(connection: sqlite3.Connection) -> SentenceCount:
    """Count the sentence pairs; both numbers come from an index."""
    (number,) = connection.execute("SELECT COALESCE(MAX(id), 0) FROM sentences").fetchone()
    ask = "SELECT COUNT(*) FROM sentences WHERE dropped != ''"
    (dropped,) = connection.execute(ask).fetchone()
    return SentenceCount(number - dropped, dropped)


def count_pairs(connection: sqlite3.Connection) -> int:
    """Return the number of document pairs."""
    (number,) = connection.execute("SELECT COUNT(*) FROM pairs").fetchone()
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


def sentence_at(connection: sqlite3.Connection, pair: str, at: int) -> SentenceView | None:
    """Return one sentence pair of a document pair; None if there is none."""
    row = connection.execute(
        "SELECT s.at, s.text1, s.text2, s.beads, s.kind, s.score, s.dropped FROM sentences s"
        " JOIN aligned a ON a.id = s.aligned WHERE a.pair = ? AND s.at = ?",
        (pair, at),
    ).fetchone()
    return None if row is None else SentenceView(*row)


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
