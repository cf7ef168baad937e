"""Statistics of words: frequency lists, n-grams, collocations, translations.

Collocations are ranked by logDice (Rychlý 2008), 14 + log2(2 f(x,y) / (f(x) + f(y))): at most 14,
the same in corpora of any size, one more for twice as close. Translations are ranked by the
log-likelihood ratio (Dunning 1993), which asks for more evidence. Where a word has very many hits,
a sample of them is counted and the figures are scaled up.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bilingual_crawler.web.concordance.index_file import Asking
from bilingual_crawler.web.concordance.question import (
    ConcordanceQuestion,
    HitSource,
    hits_of,
    language_of,
)
from bilingual_crawler.web.concordance.word_forms import (
    COLUMN_OF,
    Level,
    form_maker,
    words_in_sql,
)

MOST_COUNTED = 20_000
"""Hits, or sentences of which n-grams are counted; of more, a sample."""
MOST_LISTED = 1_000
"""Rows of a list, in all formats."""
LEAST_TOGETHER = 2
LOG_DICE_BASE = 14


class FrequencyRow(NamedTuple):
    """A word, lemma or stem, and how often it occurs."""

    word: str
    number: int
    per_million: float
    sentences: int


class GramRow(NamedTuple):
    """Some words in a row, and how often they occur."""

    words: str
    number: int
    per_million: float


class Collocation(NamedTuple):
    """A word that occurs near the hits."""

    word: str
    together: int
    """How often it is near a hit."""
    number: int
    """How often it occurs at all."""
    log_dice: float


@dataclass(slots=True)
class RankedList:
    """A list, and how it was counted."""

    rows: Sequence[Any] = field(default_factory=list)
    number: int = 0
    """The hits, or sentences, that it is about."""
    counted: int = 0
    """How many of them were counted: all, or a sample."""
    total: int = 0
    """How many rows there would be without a limit; 0 if that is not known."""

    @property
    def is_estimate(self) -> bool:
        """Return True if the figures are scaled up from a sample."""
        return self.counted < self.number


def log_dice(together: float, one: float, other: float) -> float:
    """Return how closely two things are associated."""
    if not together:
        return 0.0
    return round(LOG_DICE_BASE + math.log2(2 * together / max(one + other, 2 * together)), 2)


def log_likelihood(together: float, one: float, other: float, everything: float) -> float:
    """Return how little two things occur together by chance; 0 if they avoid each other."""
    if together * everything <= one * other:
        return 0.0
    cells = (together, one - together, other - together, everything - one - other + together)
    sums = (one, everything - one, other, everything - other)
    total = _times_log(everything) + sum(map(_times_log, cells)) - sum(map(_times_log, sums))
    return round(max(0.0, 2 * total), 1)


def _times_log(number: float) -> float:
    return number * math.log(number) if number > 0 else 0.0


def frequencies(
    asking: Asking, side: str, level: Level, like: str, part: tuple[int, int]
) -> RankedList:
    """Return a part of the frequency list of a side: of the words that begin with `like`.

    `part` is how many rows are left out before it, and how many it has.
    """
    column = COLUMN_OF[level]
    (tokens,) = asking.row(f"SELECT COALESCE(sum(number), 0) FROM words{side}")
    grouped = (
        f"SELECT {column} AS form, sum(number)::BIGINT AS number,"
        " sum(sentences)::BIGINT AS sentences"
        f" FROM words{side} WHERE starts_with({column}, ?) GROUP BY 1"
    )
    if level == "exact":
        grouped = (
            f"SELECT word AS form, number, sentences FROM words{side} WHERE starts_with(word, ?)"
        )
    (total,) = asking.row(f"SELECT count(*) FROM ({grouped})", (like,))
    rows = asking.rows(
        f"SELECT form, number, sentences FROM ({grouped})"
        " ORDER BY number DESC, form LIMIT ? OFFSET ?",
        (like, part[1], part[0]),
    )
    found = [
        FrequencyRow(form, number, per_million(number, tokens), sentences)
        for form, number, sentences in rows
    ]
    return RankedList(found, tokens, tokens, total)


def per_million(number: float, tokens: int) -> float:
    """Return a relative frequency."""
    return round(1_000_000 * number / tokens, 2) if tokens else 0.0


def n_grams(asking: Asking, question: ConcordanceQuestion, length: int) -> RankedList:
    """Return the most frequent sequences of words: of a side, or those that have a word."""
    side = question.side
    (tokens,) = asking.row(f"SELECT COALESCE(sum(number), 0) FROM words{side}")
    words = words_in_sql(f"s.text{side}")
    if question.text.strip():
        source = hits_of(asking, question)
        if source is None:
            return RankedList()
        number = _number(asking, source)
        hits, counted = _sampled(source, number)
        values: tuple[Any, ...] = source.values
        first = f"greatest(1, place - {length - source.length})"
        last = f"least(place, len(words) - {length - 1})"
        places = (
            f"SELECT words, unnest(range({first}, {last} + 1)) AS first FROM"
            f" (SELECT {words} AS words, h.place FROM {hits} h JOIN sentences s ON s.id = h.id)"
        )
    else:
        (number,) = asking.row("SELECT count(*) FROM sentences")
        counted, values = min(number, MOST_COUNTED), ()
        some = sample_of("SELECT * FROM sentences", number)
        places = (
            f"SELECT words, unnest(range(1, len(words) - {length - 2})) AS first FROM"
            f" (SELECT {words} AS words FROM {some} s)"
        )
    rows = asking.rows(
        f"SELECT array_to_string(words[first : first + {length - 1}], ' ') AS gram,"
        " count(*) AS number"
        f" FROM ({places}) GROUP BY 1 HAVING count(*) >= {LEAST_TOGETHER}"
        f" ORDER BY 2 DESC, 1 LIMIT {MOST_LISTED}",
        values,
    )
    scale = number / counted if counted else 1
    found = [GramRow(gram, round(n * scale), per_million(n * scale, tokens)) for gram, n in rows]
    return RankedList(found, number, counted)


def collocations(
    asking: Asking, question: ConcordanceQuestion, left: int, right: int, level: Level
) -> RankedList:
    """Return the words that are near the hits, the most closely associated first."""
    source = hits_of(asking, question)
    if source is None:
        return RankedList()
    number = _number(asking, source)
    hits, counted = _sampled(source, number)
    side, column = question.side, COLUMN_OF[level]
    rows = asking.rows(
        f"""
        WITH places AS (
            SELECT DISTINCT id, unnest(list_concat(
                range(greatest(1, place - {left}), place),
                range(place + {source.length}, place + {source.length} + {right}))) AS at_place
            FROM {hits}
        ), near AS (
            SELECT words[at_place] AS word
            FROM places JOIN (
                SELECT s.id, {words_in_sql(f"s.text{side}")} AS words
                FROM (SELECT DISTINCT id FROM places) JOIN sentences s USING (id)
            ) USING (id)
        ), forms AS (
            SELECT w.{column} AS form, count(*) AS together
            FROM near n JOIN words{side} w ON w.word = n.word
            GROUP BY 1 HAVING count(*) >= {LEAST_TOGETHER}
        )
        SELECT f.form, any_value(f.together), sum(w.number)::BIGINT
        FROM forms f JOIN words{side} w ON w.{column} = f.form GROUP BY 1
        """,
        source.values,
    )
    scale = number / counted if counted else 1
    found = [
        Collocation(form, round(n * scale), all_, log_dice(n * scale, number, all_))
        for form, n, all_ in rows
    ]
    found.sort(key=lambda each: (-each.log_dice, -each.together, each.word))
    return RankedList(found[:MOST_LISTED], number, counted, len(found))


def side_facts(asking: Asking, side: str) -> dict[str, Any]:
    """Return what is known about a side: its language, words, and which levels it has."""
    language = language_of(asking, side)
    maker = form_maker(language)
    return {"language": language, "lemma": maker.has_lemmas, "stem": maker.has_stems}


def _number(asking: Asking, source: HitSource) -> int:
    if source.number is not None:
        return source.number
    (number,) = asking.row(f"SELECT count(*) FROM ({source.statement})", source.values)
    return int(number)


def _sampled(source: HitSource, number: int) -> tuple[str, int]:
    """Return the hits, or a sample of them, and how many those are."""
    return sample_of(source.statement, number), min(number, MOST_COUNTED)


def sample_of(statement: str, number: int) -> str:
    """Return a statement, or one for a sample of its rows if there are too many to count."""
    if number <= MOST_COUNTED:
        return f"({statement})"
    return (
        f"(SELECT * FROM ({statement}) USING SAMPLE reservoir({MOST_COUNTED} ROWS) REPEATABLE (1))"
    )
