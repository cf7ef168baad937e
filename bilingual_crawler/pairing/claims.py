"""Evidence from the site itself: which pages name which as their translations.

There are two kinds of claims: what a page declares (hreflang, rel=alternate) or a sitemap
declares of it, and where its language switch leads, a link that names the other language. One
claim alone proves little
(templates link every page to the other home page), so both sides should speak; and a page
that many name is more likely a home page than the translation of all of them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Literal, NamedTuple

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.names import Names, name_of
from bilingual_crawler.pairing.pair import Page

Kind = Literal["alternates", "switches"]
MOST_CLAIMANTS = 50
"""A page that more pages name is a hub: those that it does not name as well need not be told."""


class Said(NamedTuple):
    """What two pages say of each other: by how many sides, and against what."""

    sides: int = 0
    """How many of the two name the other: 0, 1 or 2."""
    others: bool = False
    """Whether one of them names another page that is there, and not this one."""
    claimants: int = 0
    """How many pages name the one of the two that more pages name."""
    targets: int = 0
    """How many pages the one of the two names that names more."""
    by_map: bool = False
    """Whether only a sitemap says so, and neither page."""


SILENCE = Said()


class Claims:
    """The claims of one kind, by who makes them and whom they mean."""

    def __init__(self, kind: Kind, pair: LanguagePair, names: Names) -> None:
        self._kind = kind
        self._pair = pair
        self._names = names
        self._pages: dict[str, Page] = {}
        self._called: dict[str, tuple[int, ...]] = {}
        self._made: dict[str, tuple[str, ...]] = {}
        self._claimants: defaultdict[int, list[str]] = defaultdict(list)
        self._counts: Counter[int] = Counter()
        self._declared: dict[int, tuple[tuple[str, str], ...]] = {}

    def add(self, page: Page, names: Iterable[int]) -> None:
        """Learn of a page, its names and its claims."""
        self._pages[page.url] = page
        self._called[page.url] = tuple(names)
        self._claim(page, self._own(page))
        for name in self._called[page.url]:
            self._claim(page, self._declared.get(name, ()))

    def declare(self, url: str, claims: Iterable[tuple[str, str]]) -> list[str]:
        """Learn what a file claims of the page at a URL, which may be still to come.

        The pages that it is now said to be a translation of are given.
        """
        name = name_of(url)
        wanted = [each for each in claims if each[1] in self._pair]
        if not wanted:
            return []
        self._declared[name] = tuple(dict.fromkeys((*self._declared.get(name, ()), *wanted)))
        page = self._pages.get(self._names.page_named(name) or "")
        if page is None:
            return []
        self._claim(page, wanted)
        return [each for each in self.named_by(page.url) if self._differ(page, each)]

    def settle(self) -> None:
        """Give what files claim to the pages that are meant, now that all names are known."""
        if not self._declared:
            return
        self._made.clear()
        self._claimants.clear()
        self._counts.clear()
        for page in self._pages.values():
            self._claim(page, self._own(page))
        for name, claims in self._declared.items():
            meant = self._pages.get(self._names.page_named(name) or "")
            if meant is not None:
                self._claim(meant, claims)

    def _own(self, page: Page) -> tuple[tuple[str, str], ...]:
        return page.alternates if self._kind == "alternates" else page.switches

    def _claim(self, page: Page, claims: Iterable[tuple[str, str]]) -> None:
        """Add claims to those that a page makes; what it says twice counts once."""
        other = self._pair.other(page.language).code
        before = self._made.get(page.url, ())
        made = dict.fromkeys((*before, *(url for url, language in claims if language == other)))
        if len(made) == len(before):
            return
        self._made[page.url] = tuple(made)
        for url in tuple(made)[len(before) :]:
            name = name_of(url)
            self._counts[name] += 1
            if self._counts[name] <= MOST_CLAIMANTS:
                self._claimants[name].append(page.url)

    def partners(self, url: str) -> list[str]:
        """The pages that one names, and those that name it."""
        page = self._pages[url]
        found = dict.fromkeys(self.named_by(url))
        for name in self._called[url]:
            found.update(dict.fromkeys(self._those_who_name(name, page)))
        return [each for each in found if self._differ(page, each)]

    def renamed(self, name: int, url: str) -> list[str]:
        """The pages that used a new name of a page, and those that a file names under it."""
        self._called[url] = (*self._called[url], name)
        page = self._pages[url]
        found = dict.fromkeys(self._those_who_name(name, page))
        if name in self._declared:
            self._claim(page, self._declared[name])
            found.update(dict.fromkeys(self.named_by(url)))
        return [each for each in found if self._differ(page, each)]

    def named_by(self, url: str) -> list[str]:
        """The pages that one names, as far as they are there."""
        if url not in self._made:
            return []
        found = dict.fromkeys(self._names.page_at(each) for each in self._made[url])
        return [each for each in found if each is not None and each in self._pages]

    def between(self, one: str, other: str) -> Said:
        """What two pages say of each other."""
        if one not in self._made and other not in self._made:
            return SILENCE
        mine, theirs = self.named_by(one), self.named_by(other)
        if not mine and not theirs:
            return SILENCE
        sides = (other in mine) + (one in theirs)
        against = (bool(mine) and other not in mine) or (bool(theirs) and one not in theirs)
        counted = [url for url, by in ((other, mine), (one, theirs)) if url in by]
        claimants = max((self._counts[name_of(url)] for url in counted), default=0)
        by_map = bool(sides and self._declared) and not (
            self._says(one, other) or self._says(other, one)
        )
        return Said(sides, against, claimants, max(len(mine), len(theirs)), by_map)

    def _says(self, one: str, other: str) -> bool:
        """Whether a page itself names another."""
        language = self._pages[other].language
        return any(
            code == language and self._names.page_at(url) == other
            for url, code in self._own(self._pages[one])
        )

    def _those_who_name(self, name: int, page: Page) -> list[str]:
        if self._counts[name] > MOST_CLAIMANTS:
            return [url for url in self.named_by(page.url) if page.url in self.named_by(url)]
        return self._claimants.get(name, [])

    def _differ(self, page: Page, url: str) -> bool:
        other = self._pages.get(url)
        return other is not None and other.language != page.language
