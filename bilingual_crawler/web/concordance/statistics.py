"""Statistics of words: frequency lists, n-grams, collocations, translations.

Collocations are ranked by logDice (Rychlý 2008), 14 + log2(2 f(x,y) / (f(x) + f(y))): at most 14,
the same in corpora of any size, one more for twice as close. Translations are ranked by the
log-likelihood ratio (Dunning 1993), which asks for more evidence. Where a word has very many hits,
a sample of them is counted and the figures are scaled up.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
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

MOST_COUNTED = 20_000
"""Hits, or sentences of which n-grams are counted; of more, a sample."""
MOST_WEIGHED = 300
"""Hits in which likely translations are looked for, to mark them."""
MOST_LISTED = 1_000
"""Rows of a list, in all formats."""
LEAST_TOGETHER = 2
LONGEST_GRAM = 5
LOG_DICE_BASE = 14
LEAST_LIFT = 3.0
"""How many times as often as by chance a word of the other side must be there to be marked."""
LEAST_SHARE = 0.3
"""Or what the lexicon must say about it."""
FORMS_SHOWN, FORMS_ASKED = 6, 20

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
    """A word of the other side that may translate the hits, with all its forms."""

    word: str
    """The form that is seen most often with the hits."""
    forms: str
    """The next ones."""
    together: int
    """Sentence pairs that have both."""
    sentences: int
    """Sentences that have it; one with two of the forms counts twice."""
    log_likelihood: float
    share: float
    """What the crawl's lexicon says, from 0 to 1."""

    @property
    def weight(self) -> float:
        """How likely it is, for ranking."""
        return self.log_likelihood * (1 + self.share)


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
        some = _sample("SELECT * FROM sentences", number)
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


class _SomeHits(NamedTuple):
    statement: str
    number: int
    """All hits."""
    counted: int
    """How many these are."""


def translations(
    asking: Asking, question: ConcordanceQuestion, share: Share | None = None
) -> RankedList:
    """Return the words of the other side that may translate the hits, the likeliest first.

    What the lexicon of the crawl knows as a translation counts more, up to twice as much.
    """
    source = hits_of(asking, question)
    if source is None:
        return RankedList()
    distinct = f"SELECT DISTINCT id FROM ({source.statement})"
    (number,) = asking.row(f"SELECT count(*) FROM ({distinct})", source.values)
    some = _SomeHits(_sample(distinct, number), number, min(number, MOST_COUNTED))
    found = _weighed(asking, opposite(question.side), source, some, share)
    rows = [each for _, each in found[:MOST_LISTED]]
    return RankedList(rows, number, some.counted, len(found))


def _weighed(
    asking: Asking,
    there: str,
    source: HitSource,
    some: _SomeHits,
    share: Share | None,
) -> list[tuple[str, Translation]]:
    """Return the words opposite some of the hits, with their stems, the likeliest first."""
    rows = asking.rows(
        f"""
        WITH seen AS (
            SELECT w.stem, w.word, h.id
            FROM (
                SELECT h.id, unnest(list_distinct({words_in_sql(f"s.text{there}")})) AS word
                FROM {some.statement} h JOIN sentences s ON s.id = h.id
            ) h JOIN words{there} w ON w.word = h.word
        ), stems AS (
            SELECT stem, count(DISTINCT id) AS together FROM seen GROUP BY 1
        ), forms AS (
            SELECT stem, list(word ORDER BY number DESC, word) AS words
            FROM (SELECT stem, word, count(*) AS number FROM seen GROUP BY 1, 2) GROUP BY 1
        )
        SELECT t.stem, any_value(f.words), any_value(t.together), sum(w.sentences)::BIGINT
        FROM stems t JOIN forms f ON f.stem = t.stem JOIN words{there} w ON w.stem = t.stem
        GROUP BY 1
        """,
        source.values,
    )
    number = some.number
    scale = number / some.counted if some.counted else 1
    (everything,) = asking.row("SELECT count(*) FROM sentences")
    found = []
    for stem, forms, together, sentences in rows:
        likelihood = log_likelihood(together * scale, number, sentences, everything)
        known = _share(share, source, forms)
        if not likelihood or (together < LEAST_TOGETHER and not known):
            continue
        likely = Translation(
            forms[0],
            " ".join(forms[1:FORMS_SHOWN]),
            round(together * scale),
            sentences,
            likelihood,
            known,
        )
        found.append((stem, likely))
    found.sort(key=lambda each: (-each[1].weight, each[0]))
    return found


def likely_translations(
    asking: Asking,
    question: ConcordanceQuestion,
    source: HitSource,
    number: int,
    share: Share | None,
) -> dict[str, float]:
    """Return the stems of words that may be marked as the translation of a hit, with their weights.

    They are found in the first hits, so that a page does not have to wait for more. Words that are
    in most sentences anyway are not marked: nothing says that they translate the hit.
    """
    in_order = "" if source.is_in_order else " ORDER BY w0.id"
    first = f"(SELECT DISTINCT id FROM ({source.statement}{in_order} LIMIT {MOST_WEIGHED}))"
    some = _SomeHits(first, number, min(number, MOST_WEIGHED))
    (everything,) = asking.row("SELECT count(*) FROM sentences")
    return {
        stem: each.weight
        for stem, each in _weighed(asking, opposite(question.side), source, some, share)
        if each.share >= LEAST_SHARE
        or each.together * everything >= LEAST_LIFT * number * each.sentences
    }


def _share(share: Share | None, source: HitSource, others: Sequence[str]) -> float:
    """Return how much any of some words translates the hits, as the lexicon says."""
    if share is None:
        return 0.0
    pairs = product([each.word for each in source.forms[:FORMS_ASKED]], others[:FORMS_ASKED])
    return round(max((share(*each) for each in pairs), default=0.0), 3)


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
    return _sample(source.statement, number), min(number, MOST_COUNTED)


def _sample(statement: str, number: int) -> str:
    if number <= MOST_COUNTED:
        return f"({statement})"
    return (
        f"(SELECT * FROM ({statement}) USING SAMPLE reservoir({MOST_COUNTED} ROWS) REPEATABLE (1))"
    )
