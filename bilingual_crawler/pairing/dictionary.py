"""How many words of two pages are translations of each other, beyond what chance would give.

Of each page's words that the word list knows, some have a translation on the other page. Two
pages of one site share many by chance: its menu's words, its topic's. What is expected by
chance is known from how many other pages of the site in that language have a translation of
the word. The agreement is that of Cohen's kappa: what was found beyond the expected, as a share
of what could have been found beyond it; 0 is chance, 1 would be every word of a long page.
"""

from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bilingual_crawler.pairing.known_pages import KnownPage
from bilingual_crawler.pairing.profile import MOST_WORDS, members
from bilingual_crawler.pairing.word_list import WordList, Words

LEAST_KNOWN = 10
"""Words with an entry, of both pages, below which nothing is said."""
DOUBT = 5
"""Words not found that are added, so that a few words beyond chance say little."""
NEARLY_ALL = 0.99
REMEMBERED = 2_000


class Agreement(NamedTuple):
    """How many words of two pages have an entry, and how many of these a translation there."""

    known: int
    found: int
    beyond_chance: float


class _Looked(NamedTuple):
    """The translations of a page's words: of which, how many pages have them, of how many."""

    owners: NDArray[np.intp]
    targets: Words
    counts: NDArray[np.float64]
    pages: int


class Dictionary:
    """The words of all pages, compared by a word list."""

    def __init__(self, words: WordList) -> None:
        self._list = words
        self._counts: defaultdict[tuple[str, str], Counter[int]] = defaultdict(Counter)
        self._pages: Counter[tuple[str, str]] = Counter()
        self._looked: dict[tuple[str, str, str], _Looked] = {}

    def add(self, page: KnownPage) -> None:
        """Count the words of one more page."""
        place = page.site, page.page.language
        self._pages[place] += 1
        self._counts[place].update(members(page.page.profile.vocabulary))

    def forget(self) -> None:
        """Let what is common be counted anew."""
        self._looked.clear()

    def compare(self, first: KnownPage, second: KnownPage) -> Agreement | None:
        """How two pages agree; None where the list knows too few of their words."""
        known = found = 0
        expected = 0.0
        for page, other in ((first, second), (second, first)):
            sums = self._one_way(page, other)
            known, found, expected = known + sums[0], found + sums[1], expected + sums[2]
        if known < LEAST_KNOWN:
            return None
        beyond = (found - expected) / (max(known - expected, 0.0) + DOUBT)
        return Agreement(known, found, max(-1.0, beyond))

    def _one_way(self, page: KnownPage, other: KnownPage) -> tuple[int, int, float]:
        """Words of a page with an entry, with a translation on the other, and by chance."""
        words = _words(other)
        looked = self._look_up(page, other)
        owners, targets, counts = looked.owners, looked.targets, looked.counts
        if len(words) >= MOST_WORDS:
            # Of a long page only the smallest hashes are known: others cannot be asked for.
            seen = targets <= words[-1]
            owners, targets, counts = owners[seen], targets[seen], counts[seen]
        if not len(owners) or not len(words):
            return 0, 0, 0.0
        at = np.minimum(np.searchsorted(words, targets), len(words) - 1)
        is_there = words[at] == targets
        elsewhere = np.maximum(counts - is_there, 0.0) / max(1, looked.pages - 1)
        known = np.bincount(owners) > 0
        missing = np.bincount(owners, np.log1p(-np.minimum(elsewhere, NEARLY_ALL)))
        expected = -np.expm1(missing).sum()
        found = np.bincount(owners, is_there) > 0
        return int(known.sum()), int(found.sum()), float(expected)

    def _look_up(self, page: KnownPage, other: KnownPage) -> _Looked:
        place = other.site, other.page.language
        key = page.page.url, *place
        looked = self._looked.get(key)
        if looked is None:
            if len(self._looked) >= REMEMBERED:
                self._looked.clear()
            owners, targets = self._list.translations(_words(page))
            counted = self._counts[place]
            counts = np.fromiter((counted[each] for each in targets.tolist()), np.float64)
            looked = self._looked[key] = _Looked(owners, targets, counts, self._pages[place])
        return looked


def _words(page: KnownPage) -> Words:
    return np.frombuffer(page.page.profile.vocabulary, np.uint32)
