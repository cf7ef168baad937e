"""Evidence from the site itself: which pages name which others as their translations.

There are two kinds of claims: what a page or a sitemap declares (hreflang, rel=alternate), and
where the language switch of a page leads, a link that names the other language. One claim alone
proves little, because templates link every page to the other home page; so both sides should agree.
A page that many others name is more likely a home page than the translation of all of them.
"""

from array import array
from collections.abc import Iterable
from typing import Literal, NamedTuple

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.known_pages import KnownPage, KnownPages, Names, name_of
from bilingual_crawler.pairing.pair import PairingPage
from bilingual_crawler.store.compact import Postings, unsigned

Kind = Literal["alternates", "switches"]
MOST_CLAIMANTS = 50
"""A page that more pages name is a hub; its claimants are counted, not listed."""


class MutualClaims(NamedTuple):
    """What two pages say about each other."""

    sides: int = 0
    """How many of the two name the other: 0, 1 or 2."""
    others: bool = False
    """True if one of them names another known page and not this one."""
    claimants: int = 0
    """How many pages name the more often named of the two."""
    targets: int = 0
    """How many pages are named by the one that names more."""
    by_map: bool = False
    """True if only a sitemap says so, and neither page."""


SILENCE = MutualClaims()
Claim = tuple[str, str]
"""A URL, and the language of the page there (ISO 639-3)."""


class Claims:
    """The claims of one kind, by claimant and by the page they mean.

    A claim is kept as the hash of its URL, by which it is recognised, and as the name behind the
    URL; pages are kept as numbers.
    """

    def __init__(self, kind: Kind, pair: LanguagePair, names: Names, pages: KnownPages) -> None:
        self._kind = kind
        self._pair = pair
        self._names = names
        self._pages = pages
        self._made: dict[int, bytes] = {}
        self._claimants = Postings()
        self._hubs: dict[int, int] = {}
        """How often each name is claimed that too many pages claim to be listed."""
        self._declared: dict[int, tuple[Claim, ...]] = {}

    def add(self, known: KnownPage) -> None:
        """Add a page and its claims; its names are known already."""
        self._claim(known.number, self._own(known.page))
        if self._declared:
            for name in self._names.names_of(known.page.url):
                self._claim(known.number, self._declared.get(name, ()))

    def declare(self, url: str, claims: Iterable[Claim]) -> list[str]:
        """Add what a file claims about the page at a URL, which may be still to come.

        Return the pages that it is now said to be a translation of.
        """
        name = name_of(url)
        wanted = [each for each in claims if each[1] in self._pair]
        if not wanted:
            return []
        self._declared[name] = tuple(dict.fromkeys((*self._declared.get(name, ()), *wanted)))
        meant = self._names.page_named(name)
        if meant is None:
            return []
        number = self._pages.number_of(meant)
        self._claim(number, wanted)
        return [each for each in self.named_by(meant) if self._differ(number, each)]

    def settle(self) -> None:
        """Assign what files claim to the pages they mean, now that all names are known."""
        if not self._declared:
            return
        self._made.clear()
        self._claimants = Postings()
        self._hubs.clear()
        for number, url in enumerate(self._pages):
            self._claim(number, self._own(self._pages[url].page))
        for name, claims in self._declared.items():
            meant = self._names.page_named(name)
            if meant is not None:
                self._claim(self._pages.number_of(meant), claims)

    def _own(self, page: PairingPage) -> tuple[Claim, ...]:
        return page.alternates if self._kind == "alternates" else page.switches

    def _claim(self, number: int, claims: Iterable[Claim]) -> None:
        """Add claims to those that a page makes; repeated ones count once."""
        other = self._pair.other(self._pages.language_of(number)).code
        urls = {hash(url): url for url, language in claims if language == other}
        if not urls:
            return
        made = array("q", self._made.get(number, b""))
        new = urls.keys() - set(made[::2])
        for each, url in urls.items():
            if each in new:
                name = name_of(url)
                made.extend((each, name))
                self._count(name, number)
        if new:
            self._made[number] = made.tobytes()

    def _count(self, name: int, number: int) -> None:
        claims = self._times_named(name) + 1
        if claims <= MOST_CLAIMANTS:
            self._claimants.add(unsigned(name), number)
        else:
            self._hubs[name] = claims

    def _times_named(self, name: int) -> int:
        return self._hubs.get(name) or self._claimants.count(unsigned(name))

    def _times_meant(self, url: str) -> int:
        """Return how often a page is named, under any of its names."""
        return sum(map(self._times_named, self._names.names_of(url)))

    def partners(self, url: str) -> list[str]:
        """Return the pages that a page names, and those that name it."""
        number = self._pages.number_of(url)
        found = dict.fromkeys(self.named_by(url))
        for name in self._names.names_of(url):
            found.update(dict.fromkeys(self._those_who_name(name, url)))
        return [each for each in found if self._differ(number, each)]

    def renamed(self, name: int, url: str) -> list[str]:
        """Return the pages that used a new name of a page, and those that a file names under it."""
        number = self._pages.number_of(url)
        found = dict.fromkeys(self._those_who_name(name, url))
        if name in self._declared:
            self._claim(number, self._declared[name])
            found.update(dict.fromkeys(self.named_by(url)))
        return [each for each in found if self._differ(number, each)]

    def named_by(self, url: str) -> list[str]:
        """Return the known pages that a page names."""
        made = self._made.get(self._pages.number_of(url))
        if made is None:
            return []
        found = dict.fromkeys(map(self._names.page_named, array("q", made)[1::2]))
        return [each for each in found if each is not None]

    def awaits(self, url: str) -> bool:
        """Return True if a page names a translation that has not come, and no page that has.

        A name that other pages use as well is more likely that of a home page.
        """
        made = self._made.get(self._pages.number_of(url))
        if made is None:
            return False
        names = array("q", made)[1::2]
        return all(self._names.page_named(name) is None for name in names) and any(
            self._times_named(name) == 1 for name in names
        )

    def between(self, one: str, other: str) -> MutualClaims:
        """Return what two pages say about each other."""
        mine, theirs = self.named_by(one), self.named_by(other)
        if not mine and not theirs:
            return SILENCE
        sides = (other in mine) + (one in theirs)
        against = (bool(mine) and other not in mine) or (bool(theirs) and one not in theirs)
        counted = [url for url, by in ((other, mine), (one, theirs)) if url in by]
        claimants = max((self._times_meant(url) for url in counted), default=0)
        by_map = bool(sides and self._declared) and not (
            self._does_name(one, other) or self._does_name(other, one)
        )
        return MutualClaims(sides, against, claimants, max(len(mine), len(theirs)), by_map)

    def _does_name(self, one: str, other: str) -> bool:
        """Return True if a page itself names another."""
        language = self._pages.language_of(self._pages.number_of(other))
        return any(
            code == language and self._names.page_at(url) == other
            for url, code in self._own(self._pages[one].page)
        )

    def _those_who_name(self, name: int, url: str) -> list[str]:
        if self._times_named(name) > MOST_CLAIMANTS:
            return [each for each in self.named_by(url) if url in self.named_by(each)]
        return [self._pages.url_of(each) for each in self._claimants.get(unsigned(name))]

    def _differ(self, number: int, url: str) -> bool:
        other = self._pages.number_of(url)
        return self._pages.language_of(other) != self._pages.language_of(number)
