"""Which pages are worth comparing: those that an index brings together, never all with all.

Pages meet when their URLs are equal but for language tokens, when the last part of their URLs is
the same, or when they share names, numbers, images or links that few pages of the site have.
Every index forgets what too many pages have, so that a page meets a bounded number of others.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from heapq import nlargest
from math import log
from typing import NamedTuple

from bilingual_crawler.hosts import host_of, site_of
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.pair import Page
from bilingual_crawler.pairing.profile import Profile, members
from bilingual_crawler.pairing.url_key import UrlKey, digits_of, url_key

MOST_IN_BLOCK = 40
MOST_SHARING = 20
"""Pages that may share a thing for it to bring them together."""
MOST_LOOKED_AT = 200
"""Pages that are counted for what they share, the rarest things first."""
MOST_BY_CONTENT = 8
LEAST_OF_BEST = 0.2
"""How much a page must share, of what the one that shares most does: less is chance."""
LEAST_SIZE_RATIO = 0.05
"""Two texts of which one is shorter than that are not compared for what they share."""

Shared = tuple[str, int]


class Known(NamedTuple):
    """A page with what its URL tells."""

    page: Page
    key: UrlKey
    last: str
    """The last part of the URL without language tokens."""
    digits: tuple[str, ...]
    fit: int
    """Whether the tokens of the URL name the language of its text: 1, -1, or 0 without any."""
    site: str


def known(page: Page, pair: LanguagePair) -> Known:
    """Take a URL apart."""
    key = url_key(page.url, pair.first.tokens | pair.second.tokens)
    path = key.key.partition("?")[0].strip("/")
    own = pair.first if page.language == pair.first.code else pair.second
    fit = 0
    if key.tokens:
        fit = 1 if any(token in own.tokens for token in key.tokens) else -1
    return Known(
        page, key, path.rpartition("/")[2], digits_of(key.key), fit, site_of(host_of(page.url))
    )


class _Blocks:
    """Pages by what they have in common; a block that grows too large is given up."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._blocks: defaultdict[object, list[str]] = defaultdict(list)

    def add(self, thing: object, url: str) -> None:
        block = self._blocks[thing]
        if len(block) <= self._most:
            block.append(url)

    def get(self, thing: object) -> list[str]:
        block = self._blocks.get(thing, [])
        return block if len(block) <= self._most else []


class CandidateIndex:
    """Brings pages of the two languages together."""

    def __init__(self) -> None:
        self._known: dict[str, Known] = {}
        self._keys = _Blocks(MOST_IN_BLOCK)
        self._last_parts = _Blocks(MOST_IN_BLOCK)
        self._shared = _Blocks(MOST_SHARING)

    def __getitem__(self, url: str) -> Known:
        return self._known[url]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __contains__(self, url: str) -> bool:
        return url in self._known

    def __len__(self) -> int:
        return len(self._known)

    def add(self, page: Known) -> None:
        """Index a page."""
        url = page.page.url
        self._known[url] = page
        self._keys.add(page.key.key, url)
        if page.last:
            self._last_parts.add((page.site, page.last), url)
        for thing in _things(page):
            self._shared.add(thing, url)

    def candidates(self, url: str) -> list[str]:
        """The pages of the other language that one should be compared with."""
        page = self._known[url]
        found = dict.fromkeys(self._keys.get(page.key.key))
        if page.last:
            found.update(dict.fromkeys(self._last_parts.get((page.site, page.last))))
        others = [each for each in found if self._other_language(page, each)]
        others.extend(each for each in self._alike(page) if each not in found)
        return others

    def _alike(self, page: Known) -> Iterable[str]:
        """The pages that share most of what few have."""
        scores: defaultdict[str, float] = defaultdict(float)
        looked_at = 0
        for sharing in sorted(map(self._shared.get, _things(page)), key=len):
            looked_at += len(sharing)
            if looked_at > MOST_LOOKED_AT:
                break
            weight = log(2 * MOST_SHARING / max(1, len(sharing)))
            for url in sharing:
                if self._other_language(page, url):
                    scores[url] += weight
        least = LEAST_OF_BEST * max(scores.values(), default=0.0)
        near = [
            (score, url)
            for url, score in scores.items()
            if score >= least and _sizes_fit(page.page.profile, self._known[url].page.profile)
        ]
        return [url for _, url in nlargest(MOST_BY_CONTENT, near)]

    def _other_language(self, page: Known, url: str) -> bool:
        return self._known[url].page.language != page.page.language


def _things(page: Known) -> Iterator[Shared]:
    profile = page.page.profile
    for kind, packed in (("n", profile.names), ("i", profile.images), ("l", profile.links)):
        for thing in members(packed):
            yield page.site + kind, thing


def _sizes_fit(one: Profile, other: Profile) -> bool:
    short, long = sorted((one.characters, other.characters))
    return short >= LEAST_SIZE_RATIO * long
