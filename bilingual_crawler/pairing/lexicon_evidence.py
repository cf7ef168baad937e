"""What a learned lexicon says about pages: which to compare, and how far two agree.

Two pages are compared as with a word list of the user (`word_list.py`): by how many words of each
have their translation on the other, beyond what chance would give on their site. The chance is
measured on some pages of each site and language, whatever the order in which they came.

Pages that nothing else ties together meet by rare words that translate each other. Each page is
indexed under its rarest words that the lexicon knows. While a crawl runs, the lexicon changes, and
only pages that come later are indexed by the new one; at the end all pages are. Pages that claims
or URLs tie to one another are left out until then, because words would only confirm them.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from heapq import nlargest, nsmallest
from math import log
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from bilingual_crawler.languages import LanguagePair, LanguageSet
from bilingual_crawler.pairing.detectors import Addition
from bilingual_crawler.pairing.known_pages import KnownPage, KnownPages
from bilingual_crawler.pairing.lexicon import TranslationLexicon, of_languages
from bilingual_crawler.pairing.profile import word_hash
from bilingual_crawler.pairing.resources import LEARNED, AgreementOdds
from bilingual_crawler.pairing.word_list import Agreement, Dictionary
from bilingual_crawler.store.compact import Postings

LEXICON = AgreementOdds(0.25, 10.0, -1.0, 2.5)
"""What agreement adds to the log-odds: less than a word list of the user, and known words that are
not translated speak against a pair."""
HOPELESS_ODDS, CERTAIN_ODDS = -5.5, 8.5
"""Log-odds of two pages that agreement cannot save, and those that need none while pages come.

With the most that it adds, the former stay below a probability of 0.05. With the least, the latter
stay above 0.999.
"""
MOST_SAMPLED = 256
"""Pages of a site and language on which the chance is measured."""
MOST_SHARING = 20
"""The most pages that may share a word for it to bring them together."""
MOST_WORDS_OF_PAGE = 32
"""Words under which a page is indexed, the rarest ones."""
LEAST_IN_COMMON = 3
MOST_BY_WORDS = 4
MOST_LOOKED_AT = 200
_HASH_BITS = 32

Place = tuple[str, str]
"""A site, and a language."""


class LearnedWords:
    """Everything that is asked of a lexicon about the pages of two languages."""

    def __init__(
        self, pair: LanguagePair, pages: KnownPages, lexicons: Iterable[TranslationLexicon] = ()
    ) -> None:
        self._pair = pair
        self._pages = pages
        self._places: defaultdict[Place, array[int]] = defaultdict(lambda: array("I"))
        self.use(of_languages(pair.codes, lexicons))

    def __bool__(self) -> bool:
        """Return True if anything can be said about any page."""
        return self._lexicon is not None

    @property
    def lexicon(self) -> TranslationLexicon | None:
        """The lexicon in use."""
        return self._lexicon

    def between(self, first: str, second: str) -> "LearnedWords | None":  # noqa: ARG002 - always
        """Return what is known about two languages: this, which knows no others."""
        return self

    def use(self, lexicon: TranslationLexicon | None, pair: LanguagePair | None = None) -> None:  # noqa: ARG002 - of these two
        """Use another lexicon from now on; none if it has not beaten chance."""
        known = lexicon if lexicon is not None and lexicon.is_trusted else None
        self._lexicon = known
        self._dictionary = None if known is None else Dictionary(known.word_list())
        self._concepts = None if known is None else _Concepts(known)
        self._begin()

    def _begin(self) -> None:
        """Forget what was measured and indexed."""
        self._measured: dict[Place, int] = {}
        self._postings = Postings(MOST_SHARING)
        self._numbers: dict[str, int] = {}

    def add(self, page: KnownPage, *, is_tied: bool = False) -> None:
        """Add a page; one that is tied to another is found by its words only at the end."""
        self._places[page.site, page.page.language].append(page.number)
        if self._lexicon is not None and not is_tied:
            self._index(page)

    def know(self, sites: Mapping[str, Iterable[int]]) -> None:
        """Add pages that came before this was needed, by site; they are indexed at the end."""
        for site, numbers in sites.items():
            for number in numbers:
                language = self._pages.language_of(number)
                if language in self._pair:
                    self._places[site, language].append(number)

    def leave(self, site: str) -> list[int]:
        """Forget a site that joins another; return the numbers of its pages."""
        places = [(site, language) for language in self._pair.codes]
        return sorted(number for place in places for number in self._places.pop(place, ()))

    def settle(self) -> None:
        """Measure chance again and index every page, now that all of them are there."""
        if self._lexicon is None:
            return
        self._begin()
        for numbers in self._places.values():
            for number in numbers:
                self._index(self._pages[self._pages.url_of(number)])

    def partners(self, url: str) -> list[str]:
        """Return the pages of the other language that share the most rare words with a page."""
        if self._concepts is None:
            return []
        page = self._pages[url]
        scores: defaultdict[int, float] = defaultdict(float)
        shared: defaultdict[int, int] = defaultdict(int)
        looked_at = 0
        for sharing in sorted(map(self._postings.get, self._things(page)), key=len):
            looked_at += len(sharing)
            if looked_at > MOST_LOOKED_AT:
                break
            weight = log(2 * MOST_SHARING / max(1, len(sharing)))
            for number in sharing:
                if self._pages.language_of(number) != page.page.language:
                    scores[number] += weight
                    shared[number] += 1
        found = [
            (score, self._pages.url_of(number))
            for number, score in scores.items()
            if shared[number] >= LEAST_IN_COMMON
        ]
        return [url for _, url in nlargest(MOST_BY_WORDS, found)]

    def compare(self, first: KnownPage, second: KnownPage) -> Agreement | None:
        """Return how two pages agree; None if there is no lexicon or it knows too few words."""
        if self._dictionary is None:
            return None
        for page in (first, second):
            self._measure((page.site, page.page.language))
        return self._dictionary.compare(first, second)

    def matters(self, odds: float, *, in_the_end: bool) -> bool:
        """Return True if what the lexicon adds may change what becomes of two pages.

        `odds` are their log-odds without it.
        """
        if self._lexicon is None or odds < HOPELESS_ODDS:
            return False
        return in_the_end or odds < CERTAIN_ODDS

    def said(self, first: KnownPage, second: KnownPage) -> Iterator[Addition]:
        """Yield what is added to the log-odds of two pages, with the reason."""
        agreement = self.compare(first, second)
        if agreement is not None:
            why = (
                f"{agreement.found} of the {agreement.known} words that earlier pairs taught have"
                f" their translation on the other page, {agreement.beyond_chance:.0%} beyond chance"
            )
            yield LEXICON.addition(LEARNED, agreement.beyond_chance, why)

    def _measure(self, place: Place) -> None:
        """Count the words of some pages of a place, again when it has doubled."""
        assert self._dictionary is not None
        numbers = self._places[place]
        if len(numbers) < 2 * self._measured.get(place, 0) or self._measured.get(place) == len(
            numbers
        ):
            return
        self._measured[place] = len(numbers)
        urls = (self._pages.url_of(number) for number in numbers)
        sample = nsmallest(MOST_SAMPLED, urls, key=lambda url: (crc32(url.encode()), url))
        self._dictionary.measure(place, (self._pages[url] for url in sample))

    def _index(self, page: KnownPage) -> None:
        for thing in self._things(page):
            self._postings.add(thing, page.number)

    def _things(self, page: KnownPage) -> Iterator[int]:
        """Yield the rarest words of a page that the lexicon knows, marked with its site."""
        assert self._concepts is not None
        site = self._numbers.setdefault(page.site, len(self._numbers)) << _HASH_BITS
        side = 0 if page.page.language == self._pair.first.code else 1
        for concept in self._concepts.of(side, page.page.profile.vocabulary):
            yield site | concept


class WordsOfPairs:
    """Everything that is asked of the lexicons of more than two languages, one for each two.

    Those of the first language with each other one that was named are there from the start, and
    others when they have been learned.
    """

    lexicon = None
    """No single lexicon has all words."""

    def __init__(
        self,
        languages: LanguageSet,
        pages: KnownPages,
        lexicons: Iterable[TranslationLexicon] = (),
    ) -> None:
        known = tuple(lexicons)
        self._pages = pages
        named = (each.languages for each in known)
        found = (
            languages.pair_of(*codes) for codes in named if all(map(languages.__contains__, codes))
        )
        pairs = dict.fromkeys((*languages.pivots(), *found))
        self._pairs = {pair.codes: LearnedWords(pair, pages, known) for pair in pairs}
        self._numbers: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        """The numbers of the pages of each site."""

    def __bool__(self) -> bool:
        """Return True if anything can be said about any page."""
        return any(self._pairs.values())

    def between(self, first: str, second: str) -> LearnedWords | None:
        """Return what is known about two languages, if anything."""
        return self._pairs.get((first, second))

    def use(self, lexicon: TranslationLexicon | None, pair: LanguagePair | None = None) -> None:
        """Use another lexicon for a pair from now on, or none."""
        if pair is None:
            return
        words = self._pairs.get(pair.codes)
        if words is None and lexicon is not None:
            words = self._pairs[pair.codes] = LearnedWords(pair, self._pages)
            words.know(self._numbers)
        if words is not None:
            words.use(lexicon)

    def add(self, page: KnownPage, *, is_tied: bool = False) -> None:
        """Add a page; one that is tied to another is found by its words only at the end."""
        self._numbers[page.site].append(page.number)
        for words in self._of(page.page.language):
            words.add(page, is_tied=is_tied)

    def leave(self, site: str) -> list[int]:
        """Forget a site that joins another; return the numbers of its pages."""
        for words in self._pairs.values():
            words.leave(site)
        return sorted(self._numbers.pop(site, ()))

    def settle(self) -> None:
        """Measure chance again and index every page, now that all of them are there."""
        for words in self._pairs.values():
            words.settle()

    def partners(self, url: str) -> list[str]:
        """Return the pages in other languages that share the most rare words with a page."""
        language = self._pages.language_of(self._pages.number_of(url))
        return [each for words in self._of(language) for each in words.partners(url)]

    def matters(self, odds: float, *, in_the_end: bool) -> bool:
        """Return True if what a lexicon adds may change what becomes of two pages."""
        return any(words.matters(odds, in_the_end=in_the_end) for words in self._pairs.values())

    def _of(self, language: str) -> Iterator[LearnedWords]:
        return (words for codes, words in self._pairs.items() if language in codes)


class _Concepts:
    """Words that are each other's best translation, as one number per two, the rarest first."""

    def __init__(self, lexicon: TranslationLexicon) -> None:
        best: tuple[dict[str, float], dict[str, float]] = ({}, {})
        entries = list(lexicon.entries())
        for each in entries:
            for shares, word in zip(best, (each.first, each.second), strict=True):
                shares[word] = max(shares.get(word, 0.0), each.share)
        mutual = [
            each
            for each in entries
            if each.first != each.second
            and each.share >= max(best[0][each.first], best[1][each.second])
        ]
        mutual.sort(key=lambda each: (lexicon.frequency(each), each.first, each.second))
        self._sides = tuple(
            _sorted_hashes(getattr(each, side) for each in mutual) for side in ("first", "second")
        )

    def of(self, side: int, vocabulary: bytes) -> list[int]:
        """Return the rarest of a page's words."""
        hashes, concepts = self._sides[side]
        if not len(hashes):
            return []
        words = np.frombuffer(vocabulary, np.uint32)
        at = np.minimum(np.searchsorted(hashes, words), len(hashes) - 1)
        known: list[int] = concepts[at[hashes[at] == words]].tolist()
        return nsmallest(MOST_WORDS_OF_PAGE, known)


def _sorted_hashes(words: Iterator[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    hashes = np.array([word_hash(word) or 0 for word in words], np.uint32)
    order = np.argsort(hashes, kind="stable")
    return hashes[order], order
