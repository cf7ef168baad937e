"""Labelled pairs of pages, made from the true pairs of a site.

A true pair is a positive example. Its first page together with a wrong partner is a
negative one; partners are taken from the true pairs too, so that they are surely wrong, and
most of them are what a detector could mistake: the page whose URL is most similar and the
page whose text is nearest in size, beside any other.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from bilingual_crawler.pairing.comparison import ratio
from bilingual_crawler.pairing.pair import PairingPage

MOST_PAIRS = 40
"""True pairs of two languages that are taken from a site: a large one is no better teacher."""


class LabelledPages(NamedTuple):
    """Two pages, and whether they are translations of one another."""

    first: PairingPage
    second: PairingPage
    parallel: bool


def labelled_pairs(
    pages: Mapping[str, PairingPage], gold: Iterable[tuple[str, str]], seed: int = 0
) -> Iterator[LabelledPages]:
    """The examples of one site and two languages; the first language's URLs come first."""
    random = Random(seed)  # noqa: S311 - a choice that can be repeated, no secret
    true = [(pages[one], pages[other]) for one, other in gold if one in pages and other in pages]
    partners = {(one.url, other.url) for one, other in true}
    others = [other for _, other in true]
    for one, other in random.sample(true, min(MOST_PAIRS, len(true))):
        yield LabelledPages(one, other, parallel=True)
        wrong = [each for each in others if (one.url, each.url) not in partners]
        if wrong:
            chosen = (_alike(one, wrong), _as_long(one, wrong), random.choice(wrong))
            for each in {page.url: page for page in chosen}.values():
                yield LabelledPages(one, each, parallel=False)


def _alike(page: PairingPage, others: Sequence[PairingPage]) -> PairingPage:
    found = process.extractOne(
        page.url, [each.url for each in others], scorer=Levenshtein.normalized_distance
    )
    return others[found[2]]


def _as_long(page: PairingPage, others: Sequence[PairingPage]) -> PairingPage:
    return max(others, key=lambda each: ratio(page.profile.words, each.profile.words))
