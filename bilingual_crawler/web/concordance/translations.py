"""Translations of a word: words of the other side that occur where it does, ranked.

They are ranked by the log-likelihood ratio. What the lexicon of the crawl knows as a translation
counts more, up to twice as much: it was learned from whole documents. The forms of a stem count
together, because a language with many endings has few words twice.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, product
from typing import NamedTuple

from bilingual_crawler.web.concordance.index_file import Asking
from bilingual_crawler.web.concordance.question import (
    ConcordanceQuestion,
    HitSource,
    hits_of,
    opposite,
)
from bilingual_crawler.web.concordance.statistics import (
    LEAST_TOGETHER,
    MOST_COUNTED,
    MOST_LISTED,
    RankedList,
    log_likelihood,
    sample_of,
)
from bilingual_crawler.web.concordance.word_forms import words_in_sql, words_of

MOST_WEIGHED = 300
"""Hits in which likely translations are looked for, to mark them."""
LEAST_LIFT = 3.0
"""How many times as often as by chance a word of the other side must be there to be marked."""
LEAST_SHARE = 0.3
"""Or what the lexicon must say about it."""
FORMS_SHOWN, FORMS_ASKED = 6, 20

Share = Callable[[str, str], float]
"""How much a word translates another, from 0 to 1, as a learned lexicon says."""


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


class _StemCount(NamedTuple):
    """The forms of a stem opposite the hits, the most frequent first, and its sentences."""

    stem: str
    forms: Sequence[str]
    together: int
    sentences: int


class _HitCount(NamedTuple):
    number: int
    """All hits."""
    counted: int
    """How many of them were looked at."""


def translations(
    asking: Asking, question: ConcordanceQuestion, share: Share | None = None
) -> RankedList:
    """Return the words of the other side that may translate the hits, the likeliest first."""
    source = hits_of(asking, question)
    if source is None:
        return RankedList()
    distinct = f"SELECT DISTINCT id FROM ({source.statement})"
    (number,) = asking.row(f"SELECT count(*) FROM ({distinct})", source.values)
    count = _HitCount(number, min(number, MOST_COUNTED))
    there = opposite(question.side)
    rows = asking.rows(
        f"""
        WITH seen AS (
            SELECT w.stem, w.word, h.id
            FROM (
                SELECT h.id, unnest(list_distinct({words_in_sql(f"s.text{there}")})) AS word
                FROM {sample_of(distinct, number)} h JOIN sentences s ON s.id = h.id
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
    found = _ranked(asking, source, [_StemCount(*row) for row in rows], count, share)
    listed = [each for _, each in found[:MOST_LISTED]]
    return RankedList(listed, number, count.counted, len(found))


def likely_translations(
    asking: Asking,
    question: ConcordanceQuestion,
    source: HitSource,
    number: int,
    share: Share | None,
) -> dict[str, float]:
    """Return the stems of words that may be marked as the translation of a hit, with their weights.

    They are found in the first hits, so that a page does not have to wait for more; and in Python,
    because DuckDB takes longer to prepare the patterns than Python to read so few texts. Words that
    are in most sentences anyway are not marked: nothing says that they translate the hit.
    """
    in_order = "" if source.is_in_order else " ORDER BY w0.id"
    first = f"(SELECT DISTINCT id FROM ({source.statement}{in_order} LIMIT {MOST_WEIGHED}))"
    there = opposite(question.side)
    texts = asking.rows(
        f"SELECT s.text{there} FROM {first} h JOIN sentences s ON s.id = h.id", source.values
    )
    counts = _counts(asking, there, [text for (text,) in texts], partial(_share, share, source))
    (everything,) = asking.row("SELECT count(*) FROM sentences")
    count = _HitCount(number, min(number, MOST_WEIGHED))
    return {
        stem: each.weight
        for stem, each in _ranked(asking, source, counts, count, share)
        if each.share >= LEAST_SHARE
        or each.together * everything >= LEAST_LIFT * number * each.sentences
    }


def _counts(
    asking: Asking, there: str, texts: Sequence[str], known: Callable[[Sequence[str]], float]
) -> list[_StemCount]:
    """Return the stems that are in several of the texts, or that are known translations."""
    split = [set(words_of(text)) for text in texts]
    seen = Counter(chain.from_iterable(split))
    rows = asking.rows(
        f"SELECT word, stem, stem_sentences FROM words{there} WHERE word IN (SELECT unnest(?))",
        (list(seen),),
    )
    stem_of = {word: stem for word, stem, _ in rows}
    totals = {stem: number for _, stem, number in rows}
    forms: defaultdict[str, list[str]] = defaultdict(list)
    for word, _ in seen.most_common():
        forms[stem_of.get(word, word)].append(word)
    together = Counter(
        chain.from_iterable({stem_of.get(word, word) for word in words} for words in split)
    )
    return [
        _StemCount(stem, forms[stem], number, totals.get(stem, number))
        for stem, number in together.items()
        if number >= LEAST_TOGETHER or known(forms[stem])
    ]


def _ranked(
    asking: Asking,
    source: HitSource,
    counts: Sequence[_StemCount],
    count: _HitCount,
    share: Share | None,
) -> list[tuple[str, Translation]]:
    """Return the words opposite some of the hits, with their stems, the likeliest first."""
    scale = count.number / count.counted if count.counted else 1
    (everything,) = asking.row("SELECT count(*) FROM sentences")
    found = []
    for stem, forms, together, sentences in counts:
        likelihood = log_likelihood(together * scale, count.number, sentences, everything)
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


def _share(share: Share | None, source: HitSource, others: Sequence[str]) -> float:
    """Return how much any of some words translates the hits, as the lexicon says."""
    if share is None:
        return 0.0
    pairs = product([each.word for each in source.forms[:FORMS_ASKED]], others[:FORMS_ASKED])
    return round(max((share(*each) for each in pairs), default=0.0), 3)
