"""What a waiting URL is worth: expected pairs a download.

A page that completes a pair is worth the chance that it does so. A page that opens one is
worth half of that, since a pair takes two downloads, and less if nobody has seen its
counterpart yet. Text that other pages have already is worth less than new text.
"""

from typing import NamedTuple

from bilingual_crawler.scoring.adaptive.evidence import Evidence, is_alive
from bilingual_crawler.scoring.adaptive.page import Fate, Known
from bilingual_crawler.scoring.adaptive.sections import Vector

FIRST_YIELD = 0.5
HALF = 0.5
FINDABLE = 0.8
"""How often the counterpart of a page that opens a pair is found."""
STALE_WORTH = 0.5
"""What a page is worth that only repeats what other pages say."""
FLOOR = 0.001


class Case(NamedTuple):
    """The best that can be said for a URL."""

    value: float
    mate: Known | None
    unexplained: float
    """How likely a translation, if there is one, is none of the known URLs; 1 with a mate."""


def best_case(page: Known, languages: Vector, evidence: Evidence) -> Case:
    """Why a URL is worth most: a counterpart that is there, one that waits too, or none."""
    best, best_mate, unexplained = 0.0, None, 1.0
    for mate, tie in page.ties.items():
        if mate.fate is Fate.GONE:
            continue
        unexplained *= 1.0 - evidence.reliability(tie)
        value = with_mate(page, languages, mate, evidence, least=best)
        if value > best:
            best, best_mate = value, mate
    alone = without_mate(page, languages) * unexplained
    return Case(alone, None, unexplained) if alone > best else Case(best, best_mate, 1.0)


def without_mate(page: Known, languages: Vector) -> float:
    """What a page is worth of whose counterpart nobody has heard."""
    return (languages[0] + languages[1]) * page.group.alone(FIRST_YIELD) * HALF * FINDABLE


def with_mate(
    page: Known, languages: Vector, mate: Known, evidence: Evidence, *, least: float
) -> float:
    """What a page is worth with one that it is tied to; 0 if that is less than `least`."""
    group, tie = page.group, page.ties[mate]
    if mate.fate is Fate.FETCHED:
        if not mate.is_fetched or not is_alive(mate, page):
            return 0.0
        wanted = languages[1 - mate.language] * group.kept
        return evidence.strength(mate, page, tie) * wanted if wanted > least else 0.0
    both = both_wanted(languages, mate.languages) * HALF
    if both <= least:
        return 0.0
    return group.together(evidence.strength(mate, page, tie) * group.kept) * both


def both_wanted(one: Vector, other: Vector) -> float:
    """The chance that two pages are in the two languages."""
    return max(one[0] * other[1], one[1] * other[0])


def worth_of_text(page: Known) -> float:
    """How much of a pair counts, for the share of new text that its section has."""
    return STALE_WORTH + (1.0 - STALE_WORTH) * page.group.fresh


def floor_of(page: Known, languages: Vector) -> float:
    """What is left for pages of which nothing is hoped: near and in a wanted language first."""
    return FLOOR * (2.0 - languages[2]) / (1.0 + page.depth)


def value_of(page: Known, evidence: Evidence) -> float:
    """The priority of a waiting URL."""
    languages = page.languages
    value = best_case(page, languages, evidence).value * worth_of_text(page)
    return max(value, floor_of(page, languages))
