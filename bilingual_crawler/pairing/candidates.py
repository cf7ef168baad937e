"""Which pages are worth comparing: those that an index brings together, never all with all.

Pages meet when their URLs are equal except for language tokens, when their URLs have the same last
part, or when they share names, numbers, images or links that few pages of the site have. Every
index drops what too many pages have, so that a page meets a bounded number of others.
"""

from collections import defaultdict
from heapq import nlargest
from math import log

from bilingual_crawler.pairing.known_pages import KnownPage, KnownPages
from bilingual_crawler.pairing.profile import members
from bilingual_crawler.store.compact import Postings, unsigned

MOST_IN_BLOCK = 40
MOST_SHARING = 20
"""The most pages that may share a thing for it to bring them together."""
MOST_LOOKED_AT = 200
"""The most pages to count shared things for, the rarest things first."""
MOST_BY_CONTENT, LEAST_BY_CONTENT = 8, 3
"""The most pages in one other language; fewer for each if there are several, down to the least."""
USUAL = 2
LEAST_OF_BEST = 0.2
"""The least that a page must share, relative to the page that shares most; less is chance."""
LEAST_SIZE_RATIO = 0.05
"""Texts that differ more in length are not compared by what they share."""

_HASH_BITS = 32


class CandidateIndex:
    """Brings pages in different languages together.

    Of `languages` all may have the same thing, so that the more there are, the more pages may share
    it.
    """

    def __init__(self, pages: KnownPages, languages: int = USUAL) -> None:
        self._pages = pages
        times = max(languages, USUAL) / USUAL
        self._keys = Postings(round(MOST_IN_BLOCK * times))
        self._last_parts = Postings(round(MOST_IN_BLOCK * times))
        self._most_sharing = round(MOST_SHARING * times)
        self._most_looked_at = round(MOST_LOOKED_AT * times)
        self._shared = Postings(self._most_sharing)
        self._weights = [
            log(2 * self._most_sharing / max(1, each)) for each in range(self._most_sharing + 1)
        ]
        """What it counts to share a thing, by the number of pages that do."""
        self._most_by_content = max(LEAST_BY_CONTENT, MOST_BY_CONTENT // max(1, languages - 1))
        self._kinds: dict[tuple[str, str], int] = {}

    def add(self, page: KnownPage, *, by_content: bool = True) -> None:
        """Index a page; a copy is only found by its URL."""
        self._keys.add(_key(page), page.number)
        if page.last:
            self._last_parts.add(_last_part(page), page.number)
        for thing in self._things(page) if by_content else ():
            self._shared.add(thing, page.number)

    def move(self, page: KnownPage) -> None:
        """Index a page under the site that it has been moved to."""
        if page.last:
            self._last_parts.add(_last_part(page), page.number)
        for thing in self._things(page):
            self._shared.add(thing, page.number)

    def candidates(self, url: str) -> list[str]:
        """Return the pages in other languages that a page should be compared with."""
        page = self._pages[url]
        found = dict.fromkeys(self._keys.get(_key(page)))
        if page.last:
            found.update(dict.fromkeys(self._last_parts.get(_last_part(page))))
        languages, own = self._pages.languages, page.page.language
        others = [self._pages.url_of(each) for each in found if languages[each] != own]
        others.extend(url for number, url in self._alike(page) if number not in found)
        return others

    def meets_by_url(self, page: KnownPage) -> bool:
        """Return True if a page in another language has the same URL but for its language."""
        own = page.page.language
        return any(self._pages.language_of(each) != own for each in self._keys.get(_key(page)))

    def _alike(self, page: KnownPage) -> list[tuple[int, str]]:
        """Return the pages that share the most rare things with a page."""
        scores: defaultdict[int, float] = defaultdict(float)
        languages, own = self._pages.languages, page.page.language
        looked_at = 0
        for sharing in sorted(self._shared.get_all(self._things(page)), key=len):
            looked_at += len(sharing)
            if looked_at > self._most_looked_at:
                break
            weight = self._weights[len(sharing)]
            for number in sharing:
                if languages[number] != own:
                    scores[number] += weight
        size = page.page.profile.characters
        by_language: defaultdict[str, list[int]] = defaultdict(list)
        for number in scores:
            by_language[languages[number]].append(number)
        found: list[tuple[float, str, int]] = []
        for numbers in by_language.values():
            least = LEAST_OF_BEST * max([scores[number] for number in numbers])
            near = [
                (score, self._pages.url_of(number), number)
                for number in numbers
                if (score := scores[number]) >= least
                and _sizes_fit(size, self._pages.characters_of(number))
            ]
            found += nlargest(self._most_by_content, near)
        return [(number, url) for _, url, number in found]

    def _things(self, page: KnownPage) -> list[int]:
        """Return what a page may share with others: hashes, marked with site and kind."""
        profile = page.page.profile
        found: list[int] = []
        for kind, packed in (("n", profile.names), ("i", profile.images), ("l", profile.links)):
            number = self._kinds.setdefault((page.site, kind), len(self._kinds)) << _HASH_BITS
            found += [number | thing for thing in members(packed)]
        return found


def _key(page: KnownPage) -> int:
    return unsigned(hash(page.key.key))


def _last_part(page: KnownPage) -> int:
    return unsigned(hash((page.site, page.last)))


def _sizes_fit(one: int, other: int) -> bool:
    if one > other:
        one, other = other, one
    return one >= LEAST_SIZE_RATIO * other
