"""Runs a query over the index, and highlights the hits.

Hits come in the order of the corpus, which the index yields without looking at all of them: so
the first page of a common word is as fast as that of a rare one. A search that would take long
is stopped, and what was found until then is shown with a note.
"""

import contextlib
import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from bilingual_crawler.languages.normal_forms import UNSPACED
from bilingual_crawler.web.search.query import (
    Query,
    Side,
    Span,
    Words,
    anchor_of,
    parse_pattern,
    parse_words,
)

MAX_COUNTED = 1_000
"""Hits that are counted; above that, the page says "more than"."""
SECONDS = 2.0
"""How long one search may take."""
COUNT_SECONDS = 0.1
"""How much of that time counting may take: the first hits must not wait for it."""
STEPS = 2_000
"""SQLite instructions between two looks at the clock."""
SCANNED_AT_ONCE = 500

In = Literal["any", "1", "2"]
SIDES: dict[str, tuple[Side, ...]] = {"any": (1, 2), "1": (1,), "2": (2,)}
COLUMNS = (
    "s.id, s.aligned, s.at, s.text1, s.text2, s.beads, s.kind, s.score, s.dropped,"
    " a.pair, a.url1, a.url2, a.lang1, a.lang2"
)
ELLIPSIS = "…"
_STEP = re.compile(rf"[{UNSPACED}]{{2}}|[^\s{UNSPACED}]+")
"""A word; in scripts without spaces, two characters count as a word."""


class Piece(NamedTuple):
    """A part of a text, and whether it is a hit."""

    text: str
    hit: bool = False


def pieces(text: str, spans: Sequence[Span], words: int | None = None) -> list[Piece]:
    """Split a text at its hits; with `words`, keep only that many words around them."""
    begin, end = (0, len(text)) if words is None or not spans else _window(text, spans, words)
    found: list[Piece] = [Piece(ELLIPSIS)] if begin > 0 else []
    at = begin
    for start, stop in spans:
        if start < at or stop > end:
            continue
        if start > at:
            found.append(Piece(text[at:start]))
        found.append(Piece(text[start:stop], hit=True))
        at = stop
    if at < end:
        found.append(Piece(text[at:end]))
    if end < len(text):
        found.append(Piece(ELLIPSIS))
    return found


def _window(text: str, spans: Sequence[Span], words: int) -> Span:
    """Return the span from `words` before the first hit to `words` after the last one in reach."""
    first = spans[0]
    before = [each.start() for each in _STEP.finditer(text, 0, first[0])]
    begin = before[-words] if len(before) > words else 0
    end = first[1]
    for span in spans:
        if span[0] > end:
            break
        after = [each.end() for each in _first(text, span[1], words + 1)]
        end = after[words - 1] if len(after) > words else len(text)
    return begin, max(end, first[1])


def _first(text: str, begin: int, most: int) -> list[re.Match[str]]:
    found = []
    for each in _STEP.finditer(text, begin):
        found.append(each)
        if len(found) == most:
            break
    return found


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """What to search for, where, and how much to show."""

    text: str
    within: In = "any"
    other: str = ""
    """What the translation must contain."""
    is_pattern: bool = False
    match_case: bool = False
    dropped: bool = False
    """Whether to show pairs that broke a cleaning rule."""
    langs: tuple[str, str] | None = None
    """The two languages to search; None for all."""
    page: int = 1
    size: int = 20
    words: int | None = None
    """Words of context on each side; None for the whole sentence."""
    neighbours: bool = False
    after: int = 0
    """A search by regular expression continues after this sentence pair."""


class Neighbour(NamedTuple):
    """The sentence pair before or after a hit."""

    text1: str
    text2: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A sentence pair that matches."""

    id: int
    pair: str
    at: int
    url1: str
    url2: str
    lang1: str
    lang2: str
    pieces1: list[Piece]
    pieces2: list[Piece]
    beads: str
    score: float
    dropped: str
    before: Neighbour | None = None
    after: Neighbour | None = None


@dataclass(slots=True)
class SearchResults:
    """The hits of one page, and how many there are."""

    hits: list[Hit] = field(default_factory=list)
    total: int | None = None
    """The number of hits; `MAX_COUNTED` + 1 if there are more, None if they were not counted."""
    more: bool = False
    go_on: int | None = None
    """Where a search by regular expression can continue."""
    scanned: float = 1.0
    """The share of the corpus that was searched."""
    note: str = ""
    seconds: float = 0.0


def language_pairs(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return every two languages that have sentence pairs."""
    return [
        (str(lang1), str(lang2))
        for lang1, lang2 in connection.execute("SELECT DISTINCT lang1, lang2 FROM aligned")
    ]


def search(connection: sqlite3.Connection, question: SearchQuestion) -> SearchResults:
    """Answer a question; raise a QueryError if it is not valid."""
    begun = time.monotonic()
    deadline = _Deadline(begun + SECONDS)
    connection.set_progress_handler(deadline.is_over, STEPS)
    try:
        if question.is_pattern:
            found = _Scan(connection, question, deadline).run()
        else:
            found = _by_words(connection, question, deadline)
    finally:
        connection.set_progress_handler(None, STEPS)
    found.seconds = time.monotonic() - begun
    return found


@dataclass(slots=True)
class _Deadline:
    """The time at which a search must stop, by the monotonic clock."""

    until: float

    def is_over(self) -> bool:
        """Return whether it is time to stop; SQLite calls this while it works."""
        return time.monotonic() > self.until


def _by_words(
    connection: sqlite3.Connection, question: SearchQuestion, deadline: _Deadline
) -> SearchResults:
    query = parse_words(question.text)
    other = parse_words(question.other) if question.other.strip() else None
    expression = _expression(query, other, SIDES[question.within])
    found = SearchResults()
    good, bound = _chosen(question)
    matching = (
        "FROM words JOIN sentences s ON s.id = words.rowid JOIN aligned a ON a.id = s.aligned"
        f" WHERE words MATCH ?{good}"
    )
    ask = f"SELECT {COLUMNS} {matching} ORDER BY words.rowid LIMIT ? OFFSET ?"
    offset = (question.page - 1) * question.size
    rows: list[sqlite3.Row] = []
    with _until_interrupted():
        found.note = f"The search was stopped after {SECONDS:.0f} seconds: make it more specific."
        rows.extend(connection.execute(ask, (expression, *bound, question.size + 1, offset)))
        found.note = ""
        found.more = len(rows) > question.size
        del rows[question.size :]
        deadline.until = min(deadline.until, time.monotonic() + COUNT_SECONDS)
        count = f"SELECT COUNT(*) FROM (SELECT 1 {matching} LIMIT ?)"  # noqa: S608 - our own names
        (found.total,) = connection.execute(count, (expression, *bound, MAX_COUNTED + 1)).fetchone()
    connection.set_progress_handler(None, STEPS)
    found.hits = [_hit(connection, row, question, query, other) for row in rows]
    return found


def _chosen(question: SearchQuestion) -> tuple[str, tuple[str, ...]]:
    """Return the conditions for a sentence pair besides its text, and their values."""
    good = "" if question.dropped else " AND s.dropped = ''"
    if question.langs is None:
        return good, ()
    of_pair = " AND s.aligned IN (SELECT id FROM aligned WHERE lang1 = ? AND lang2 = ?)"
    return good + of_pair, question.langs


@contextlib.contextmanager
def _until_interrupted() -> Iterator[None]:
    """Ignore an interruption by the deadline."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "interrupted" not in str(error):
            raise


def _expression(query: Words, other: Words | None, sides: tuple[Side, ...]) -> str:
    """Return the query for SQLite: one side matches, and the other query matches opposite."""
    choices = []
    for side in sides:
        choice = query.in_fts5(side)
        choices.append(
            choice if other is None else f"({choice} AND {other.in_fts5(_opposite(side))})"
        )
    return " OR ".join(choices)


def _opposite(side: Side) -> Side:
    return 2 if side == 1 else 1


class _Scan:
    """Matches every sentence pair with a regular expression, until a page is full."""

    def __init__(
        self, connection: sqlite3.Connection, question: SearchQuestion, deadline: _Deadline
    ) -> None:
        self._connection = connection
        self._question = question
        self._deadline = deadline
        case = question.match_case
        self._query = parse_pattern(question.text, match_case=case)
        self._other = parse_pattern(question.other, match_case=case) if question.other else None

    def run(self) -> SearchResults:
        """Return the next hits after `question.after`."""
        found = SearchResults()
        at, wanted = self._question.after, self._question.size
        ids: list[int] = []
        rows = self._rows()
        try:
            while len(ids) <= wanted and (some := rows.fetchmany(SCANNED_AT_ONCE)):
                for number, text1, text2 in some:
                    if self._matches(text1, text2):
                        ids.append(number)
                        if len(ids) > wanted:
                            break
                    at = number
                if self._deadline.is_over():
                    break
            else:
                found.more = len(ids) > wanted
                found.go_on = ids[wanted - 1] if found.more else None
                return self._show(found, ids, at if found.more else None)
        except sqlite3.OperationalError as error:
            if "interrupted" not in str(error):
                raise
        found.go_on = at
        found.note = (
            f"The search was stopped after {SECONDS:.0f} seconds; it can continue from there."
        )
        return self._show(found, ids, at)

    def _rows(self) -> sqlite3.Cursor:
        """Return the sentence pairs that may match, in order: all, or those from the index."""
        question = self._question
        good, bound = _chosen(question)
        anchor = anchor_of(question.text)
        if anchor is None:
            ask = f"SELECT id, text1, text2 FROM sentences s WHERE id > ?{good} ORDER BY id"  # noqa: S608 - our own names
            return self._connection.execute(ask, (question.after, *bound))
        ask = (
            "SELECT s.id, s.text1, s.text2 FROM words JOIN sentences s ON s.id = words.rowid"  # noqa: S608 - our own names
            f" WHERE words MATCH ? AND words.rowid > ?{good} ORDER BY words.rowid"
        )
        wanted = " OR ".join(anchor.in_fts5(side) for side in SIDES[question.within])
        return self._connection.execute(ask, (wanted, question.after, *bound))

    def _show(self, found: SearchResults, ids: list[int], at: int | None) -> SearchResults:
        self._connection.set_progress_handler(None, STEPS)
        if at is not None:
            (last,) = self._connection.execute("SELECT MAX(id) FROM sentences").fetchone()
            found.scanned = at / max(1, last or 1)
        ask = f"SELECT {COLUMNS} FROM sentences s JOIN aligned a ON a.id = s.aligned WHERE s.id = ?"  # noqa: S608 - our own names
        rows = (
            self._connection.execute(ask, (each,)).fetchone() for each in ids[: self._question.size]
        )
        found.hits = [
            _hit(self._connection, row, self._question, self._query, self._other) for row in rows
        ]
        return found

    def _matches(self, text1: str, text2: str) -> bool:
        for side in SIDES[self._question.within]:
            here, there = (text1, text2) if side == 1 else (text2, text1)
            if self._query.matches(here) and (self._other is None or self._other.matches(there)):
                return True
        return False


def _hit(
    connection: sqlite3.Connection,
    row: sqlite3.Row,
    question: SearchQuestion,
    query: Query,
    other: Query | None,
) -> Hit:
    sides = SIDES[question.within]
    shown = []
    for side, text in ((1, row["text1"]), (2, row["text2"])):
        spans = query.spans(text) if side in sides else []
        if other is not None and (side not in sides or (len(sides) > 1 and not spans)):
            spans = other.spans(text)
        shown.append(pieces(text, spans, question.words))
    before = after = None
    if question.neighbours:
        before = _neighbour(connection, row["aligned"], row["at"] - 1)
        after = _neighbour(connection, row["aligned"], row["at"] + 1)
    facts = ("id", "pair", "at", "url1", "url2", "lang1", "lang2", "beads", "score", "dropped")
    return Hit(
        **{name: row[name] for name in facts},
        pieces1=shown[0],
        pieces2=shown[1],
        before=before,
        after=after,
    )


def _neighbour(connection: sqlite3.Connection, aligned: int, at: int) -> Neighbour | None:
    row = connection.execute(
        "SELECT text1, text2 FROM sentences WHERE aligned = ? AND at = ?", (aligned, at)
    ).fetchone()
    return None if row is None else Neighbour(row["text1"], row["text2"])
