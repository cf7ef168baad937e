"""Questions to the concordance: words in a row on one side, and which sentence pairs count.

A query is read word by word. A `*` inside a word is any letters, a `*` alone is any word. Each word
is looked up in the table of distinct words, which gives the forms that the texts have; only these
are then looked for in the postings.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

from bilingual_crawler.web.concordance.index_file import Asking
from bilingual_crawler.web.concordance.word_forms import COLUMN_OF, Level, form_maker, placed_words
from bilingual_crawler.web.search.query import MAX_QUERY_LENGTH, QueryError, fold

ANY = "*"
MAX_WORDS = 12
MIN_LETTERS = 2
"""Letters that a word with a `*` must have."""
MOST_FORMS = 1_000
"""Forms of one word of a query that are looked for: the most frequent ones."""


@dataclass(frozen=True, slots=True)
class ConcordanceQuestion:
    """What is looked for, on which side, and in which sentence pairs."""

    text: str = ""
    side: str = "1"
    level: Level = "word"
    other: str = ""
    """Words that the other side must have."""
    site: str = ""
    score: float = 0.0
    kind: str = ""
    since: date | None = None
    until: date | None = None

    @property
    def has_filter(self) -> bool:
        """Return True if some sentence pairs do not count."""
        return bool(self.site or self.score or self.kind or self.since or self.until)


class CountedForm(NamedTuple):
    """A form that the texts have, and how often."""

    word: str
    number: int
    wid: int
    """Its number in the postings."""


@dataclass(frozen=True, slots=True)
class HitSource:
    """The hits of a question: an SQL query for `id` and `place`, its values, what is known."""

    statement: str
    values: tuple[Any, ...]
    length: int
    """Words of a hit."""
    forms: tuple[CountedForm, ...]
    """The forms of the first word, most frequent first."""
    number: int | None
    """How many hits there are, if that is known without counting."""

    @property
    def is_in_order(self) -> bool:
        """Return True if the hits come in the order of the corpus, as those of one form do."""
        return self.number is not None and len(self.forms) == 1


class _Term(NamedTuple):
    pattern: str
    is_like: bool


def opposite(side: str) -> str:
    """Return the other side."""
    return "2" if side == "1" else "1"


def terms_of(text: str) -> list[_Term | None]:
    """Return the words of a query, in order; None for any word."""
    if len(text) > MAX_QUERY_LENGTH:
        raise QueryError(f"A query may have at most {MAX_QUERY_LENGTH} characters.")
    found: list[_Term | None] = []
    for piece in text.replace('"', " ").split():
        if not piece.strip(ANY):
            found.append(None)
        elif ANY in piece:
            found.append(_with_wildcards(piece))
        else:
            found += [_Term(each.word, is_like=False) for each in placed_words(piece)]
    while found and found[0] is None:
        del found[0]
    while found and found[-1] is None:
        found.pop()
    if not found:
        raise QueryError("There is no word to look for: write at least one.")
    if len(found) > MAX_WORDS:
        raise QueryError(f"A query may have at most {MAX_WORDS} words in a row.")
    return found


def _with_wildcards(piece: str) -> _Term:
    letters = piece.replace(ANY, "")
    if len(letters) < MIN_LETTERS:
        raise QueryError(f"A word with a * needs at least {MIN_LETTERS} letters: {piece}")
    parts = (
        each.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        for each in piece.lower().split(ANY)
    )
    return _Term("%".join(parts), is_like=True)


def language_of(asking: Asking, side: str) -> str:
    """Return the main language of a side."""
    return str(asking.row("SELECT value FROM info WHERE name = ?", (f"language{side}",))[0])


def forms_of(asking: Asking, term: _Term, side: str, level: Level) -> list[CountedForm]:
    """Return the forms of a word that the texts have."""
    maker = form_maker(language_of(asking, side))
    column = COLUMN_OF[level]
    if term.is_like:
        pattern = term.pattern if level == "exact" else fold(term.pattern)
        column = column if level == "exact" else "plain"
        condition, value = f"{column} LIKE ? ESCAPE '\\'", pattern
    else:
        condition, value = f"{column} = ?", maker.form(term.pattern, level)
    rows = asking.rows(
        f"SELECT word, number, wid FROM words{side} WHERE {condition}"
        f" ORDER BY number DESC, word LIMIT {MOST_FORMS}",
        (value,),
    )
    return [CountedForm(*row) for row in rows]


def hits_of(asking: Asking, question: ConcordanceQuestion) -> HitSource | None:
    """Return where a question has hits; None if one of its words does not occur."""
    side = question.side
    tables, conditions, values = [], [], []
    forms: list[CountedForm] = []
    terms = terms_of(question.text)
    for at, term in enumerate(terms):
        if term is None:
            continue
        found = forms_of(asking, term, side, question.level)
        if not found:
            return None
        join = f" JOIN postings{side} w{at} ON w{at}.id = w0.id AND w{at}.place = w0.place + {at}"
        tables.append(f"postings{side} w0" if at == 0 else join)
        conditions.append(_is_one_of(f"w{at}.wid", found))
        values += [each.wid for each in found]
        forms = forms or found
    for term in terms_of(question.other) if question.other.strip() else ():
        if term is None:
            continue
        there = opposite(side)
        found = forms_of(asking, term, there, question.level)
        if not found:
            return None
        among = _is_one_of("wid", found)
        conditions.append(f"w0.id IN (SELECT id FROM postings{there} WHERE {among})")
        values += [each.wid for each in found]
    is_plain = len(terms) == 1 and not question.other.strip() and not question.has_filter
    filters, filtered = _filters(question)
    statement = (
        f"SELECT w0.id, w0.place FROM {''.join(tables)}{filters.table}"
        f" WHERE {' AND '.join([*conditions, *filters.conditions])}"
    )
    return HitSource(
        statement,
        (*values, *filtered),
        len(terms),
        tuple(forms),
        sum(each.number for each in forms) if is_plain else None,
    )


class _Filters(NamedTuple):
    table: str
    conditions: list[str]


def _filters(question: ConcordanceQuestion) -> tuple[_Filters, list[Any]]:
    """Return what restricts the sentence pairs, and its values."""
    if not question.has_filter:
        return _Filters("", []), []
    conditions: list[str] = []
    values: list[Any] = []
    for condition, value in (
        ("d.site = ?", question.site),
        ("s.score >= ?", question.score),
        ("s.kind = ?", question.kind),
        ("d.day >= ?", question.since),
        ("d.day <= ?", question.until),
    ):
        if value:
            conditions.append(condition)
            values.append(value)
    tables = " JOIN sentences s ON s.id = w0.id JOIN documents d ON d.doc = s.doc"
    return _Filters(tables, conditions), values


def _is_one_of(column: str, forms: Sequence[CountedForm]) -> str:
    return f"{column} IN ({', '.join('?' * len(forms))})"
