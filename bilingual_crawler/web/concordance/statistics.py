"""Statistics of words: frequency lists, n-grams, collocations, translations.

Association is measured by logDice (Rychlý 2008), 14 + log2(2 f(x,y) / (f(x) + f(y))): at most 14, the
same in corpora of any size, one more for twice as close. Where a word has very many hits, a sample
of them is counted and the figures are scaled up; the same question always takes the same sample.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bilingual_crawler.web.concordance.index_file import Asking
from bilingual_crawler.web.concordance.question import (
    ConcordanceQuestion,
    HitSource,
    hits_of,
    language_of,
    opposite,
)
from bilingual_crawler.web.concordance.word_forms import (
    COLUMN_OF,
    Level,
    form_maker,
    words_in_sql,
)

MOST_COUNTED = 50_000
"""Hits, or sentences of which n-grams are counted; of more, a sample."""
MOST_LISTED = 1_000
"""Rows of a list, in all formats."""
LEAST_TOGETHER = 2
LONGEST_GRAM = 5
LOG_DICE_BASE = 14
LEAST_DICE = 5.0
"""Words of the other side below this are no likely translations."""

Share = Callable[[str, str], float]
"""How much a word translates another, from 0 to 1, as a learned lexicon says."""


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


class Translation(NamedTuple):
    """A word of the other side that may translate the hits."""

    word: str
    together: int
    """Sentence pairs that have both."""
    sentences: int
    """Sentences that have it."""
    log_dice: float
    share: float
    """What the crawl's lexicon says, from 0 to 1."""


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


def frequencies(
    asking: Asking, side: str, level: Level, like: str, offset: int, limit: int
) -> RankedList:
    """Return a part of the frequency list of a side; `like` is the beginning of the words."""
    column = COLUMN_OF[level]
    (tokens,) = asking.row(f"SELECT COALESCE(sum(number), 0) FROM words{side}")  # noqa: S608 - our own names
    grouped = (
        f"SELECT {column} AS form, sum(number)::BIGINT AS number, sum(sentences)::BIGINT AS sentences"  # noqa: S608 - our own names
        f" FROM words{side} WHERE starts_with({column}, ?) GROUP BY 1"
    )
    if level == "exact":
        grouped = (
            f"SELECT word AS form, number, sentences FROM words{side}"  # noqa: S608 - our own names
            " WHERE starts_with(word, ?)"
        )
    (total,) = asking.row(f"SELECT count(*) FROM ({grouped})", (like,))  # noqa: S608 - our own names
    rows = asking.rows(
        f"SELECT form, number, sentences FROM ({grouped})"  # noqa: S608 - our own names
        " ORDER BY number DESC, form LIMIT ? OFFSET ?",
        (like, limit, offset),
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
    (tokens,) = asking.row(f"SELECT COALESCE(sum(number), 0) FROM words{side}")  # noqa: S608 - our own names
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
            f"SELECT words, unnest(range({first}, {last} + 1)) AS first FROM"  # noqa: S608 - our own names
            f" (SELECT {words} AS words, h.place FROM {hits} h JOIN sentences s ON s.id = h.id)"
        )
    else:
        (number,) = asking.row("SELECT count(*) FROM sentences")
        counted, values = min(number, MOST_COUNTED), ()
        some = _sample("SELECT * FROM sentences", number)
        places = (
            f"SELECT words, unnest(range(1, len(words) - {length - 2})) AS first FROM"  # noqa: S608 - our own names
            f" (SELECT {words} AS words FROM {some} s)"
        )
    rows = asking.rows(
        f"SELECT array_to_string(words[first : first + {length - 1}], ' ') AS gram, count(*) AS number"  # noqa: S608 - our own names
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
        WITH near AS (
            SELECT unnest(list_concat(
                words[greatest(1, place - {left}) : place - 1],
                words[place + {source.length} : place + {source.length} + {right} - 1])) AS word
            FROM (SELECT {words_in_sql(f"s.text{side}")} AS words, h.place
                FROM {hits} h JOIN sentences s ON s.id = h.id)
        ), forms AS (
            SELECT w.{column} AS form, count(*) AS together
            FROM near n JOIN words{side} w ON w.word = n.word
            GROUP BY 1 HAVING count(*) >= {LEAST_TOGETHER}
        )
        SELECT f.form, any_value(f.together), sum(w.number)::BIGINT
        FROM forms f JOIN words{side} w ON w.{column} = f.form GROUP BY 1
        """,  # noqa: S608 - our own names
        source.values,
    )
    scale = number / counted if counted else 1
    found = [
        Collocation(form, round(n * scale), all_, log_dice(n * scale, number, all_))
        for form, n, all_ in rows
    ]
    found.sort(key=lambda each: (-each.log_dice, -each.together, each.word))
    return RankedList(found[:MOST_LISTED], number, counted, len(found))


def translations(
    asking: Asking, question: ConcordanceQuestion, share: Share | None = None
) -> RankedList:
    """Return the words of the other side that may translate the hits, the likeliest first.

    What the lexicon of the crawl knows comes first: it was learned from whole documents, and knows
    which of the words of a sentence belong together. The others are ranked by logDice.
    """
    source = hits_of(asking, question)
    if source is None:
        return RankedList()
    there = opposite(question.side)
    distinct = f"SELECT DISTINCT id FROM ({source.statement})"  # noqa: S608 - our own names
    (number,) = asking.row(f"SELECT count(*) FROM ({distinct})", source.values)  # noqa: S608 - our own names
    counted = min(number, MOST_COUNTED)
    rows = asking.rows(
        f"""
        SELECT c.word, c.together, w.sentences FROM (
            SELECT word, count(*) AS together FROM (
                SELECT unnest(list_distinct({words_in_sql(f"s.text{there}")})) AS word
                FROM {_sample(distinct, number)} h JOIN sentences s ON s.id = h.id
            ) GROUP BY 1
        ) c JOIN words{there} w ON w.word = c.word
        """,  # noqa: S608 - our own names
        source.values,
    )
    known = _shares(share, [each.word for each in source.forms], (row[0] for row in rows))
    scale = number / counted if counted else 1
    found = [
        Translation(
            word, round(n * scale), all_, log_dice(n * scale, number, all_), known.get(word, 0.0)
        )
        for word, n, all_ in rows
        if n >= LEAST_TOGETHER or word in known
    ]
    found.sort(key=lambda each: (-each.share, -each.log_dice, -each.together, each.word))
    return RankedList(found[:MOST_LISTED], number, counted, len(found))


def likely_translations(found: RankedList) -> dict[str, float]:
    """Return the words that may be marked as the translation of a hit, each with its weight."""
    return {
        each.word: each.log_dice + LOG_DICE_BASE * each.share
        for each in found.rows
        if each.share or each.log_dice >= LEAST_DICE
    }


def _shares(
    share: Share | None, words: Sequence[str], others: Iterable[str]
) -> Mapping[str, float]:
    """Return the other words that the lexicon knows as translations of some words."""
    if share is None:
        return {}
    found = {}
    for other in others:
        largest = max((share(word, other) for word in words), default=0.0)
        if largest:
            found[other] = round(largest, 3)
    return found


def side_facts(asking: Asking, side: str) -> dict[str, Any]:
    """Return what is known about a side: its language, words, and which levels it has."""
    language = language_of(asking, side)
    maker = form_maker(language)
    return {"language": language, "lemma": maker.has_lemmas, "stem": maker.has_stems}


def _number(asking: Asking, source: HitSource) -> int:
    if source.number is not None:
        return source.number
    (number,) = asking.row(f"SELECT count(*) FROM ({source.statement})", source.values)  # noqa: S608 - our own names
    return int(number)


def _sampled(source: HitSource, number: int) -> tuple[str, int]:
    """Return the hits, or a sample of them, and how many those are."""
    return _sample(source.statement, number), min(number, MOST_COUNTED)


def _sample(statement: str, number: int) -> str:
    if number <= MOST_COUNTED:
        return f"({statement})"
    return (
        f"(SELECT * FROM ({statement}) USING SAMPLE reservoir({MOST_COUNTED} ROWS) REPEATABLE (1))"  # noqa: S608 - our own names
    )
