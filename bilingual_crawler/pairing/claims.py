"""Evidence from the site itself: which pages name which others as their translations.

There are two kinds of claims: what a page or a sitemap declares (hreflang, rel=alternate), and
where the language switch of a page leads, a link that names the other language. One claim alone
proves little, because templates link every page to the other home page; so both sides should agree.
A page that many others name is more likely a home page than the translation of all of them.
"""

from array import array
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from bilingual_crawler.languages import LanguagePair, ParallelLanguages
from bilingual_crawler.pairing.known_pages import KnownPage, KnownPages, Names, name_of
from bilingual_crawler.pairing.pair import PairingPage
from bilingual_crawler.store.compact import Postings, unsigned

Kind = Literal["alternates", "switches"]
_LANGUAGE_BITS = 16
REMEMBERED = 10_000
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

    def __init__(
        self, kind: Kind, languages: ParallelLanguages, names: Names, pages: KnownPages
    ) -> None:
        self._kind = kind
        self._wanted = languages
        self._is_pair = isinstance(languages, LanguagePair)
        self._names = names
        self._pages = pages
        self._numbers: dict[str, int] = {}
        """A number for each language of which a page was named."""
        self._speakers: dict[str, None] = {}
        """The languages of pages that name others."""
        self._made: dict[int, bytes] = {}
        """The claims of a page about pages in one language, see `_slot`."""
        self._claimants = Postings()
        self._hubs: dict[int, int] = {}
        """How often each name is claimed that too many pages claim to be listed."""
        self._declared: dict[int, tuple[Claim, ...]] = {}
        self._found: dict[tuple[int, str | None], list[str]] = {}
        """The pages that a page names, until a name gets another meaning or a page names more."""
        self._awaiting: dict[tuple[int, str | None], bool] = {}
        self._found_at = 0

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
        wanted = [each for each in claims if each[1] in self._wanted]
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
        self._forget()
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
        own = self._pages.language_of(number)
        named: dict[str, dict[int, str]] = {}
        for url, language in claims:
            if language != own and language in self._wanted:
                named.setdefault(language, {})[hash(url)] = url
        for language, urls in named.items():
            slot = self._slot(number, language)
            made = array("q", self._made.get(slot, b""))
            new = urls.keys() - set(made[::2])
            for each, url in urls.items():
                if each in new:
                    name = name_of(url)
                    made.extend((each, name))
                    self._count(name, number, own)
            if new:
                self._forget()
                self._made[slot] = made.tobytes()
                self._speakers[own] = None

    def _slot(self, number: int, language: str) -> int:
        """Return the key of what a page claims about pages in a language."""
        return number << _LANGUAGE_BITS | self._numbers.setdefault(language, len(self._numbers))

    def _made_by(self, number: int, language: str | None) -> list[bytes]:
        """Return what a page claims about pages in one language; None: in each that is named."""
        if not self._made:
            return []
        if language is None:
            places: Iterable[int] = range(len(self._numbers))
        else:
            place = self._numbers.get(language)
            places = () if place is None else (place,)
        slots = (number << _LANGUAGE_BITS | each for each in places)
        return [made for slot in slots if (made := self._made.get(slot)) is not None]

    def _from(self, name: int, language: str) -> int:
        """Return the key of a name as pages in a language use it.

        Of two languages all claimants of a page are in the other one. Of more, a page is named once
        from each, and only those in one language are compared.
        """
        return unsigned(name if self._is_pair else hash((name, language)))

    def _count(self, name: int, number: int, language: str) -> None:
        claims = self._times_named(name, language) + 1
        key = self._from(name, language)
        if claims <= MOST_CLAIMANTS:
            self._claimants.add(key, number)
        else:
            self._hubs[key] = claims

    def _times_named(self, name: int, language: str) -> int:
        key = self._from(name, language)
        return self._hubs.get(key) or self._claimants.count(key)

    def _times_meant(self, url: str, language: str) -> int:
        """Return how often pages in a language name a page, under any of its names."""
        return sum(self._times_named(name, language) for name in self._names.names_of(url))

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

    def named_by(self, url: str, language: str | None = None) -> list[str]:
        """Return the known pages that a page names, in any language or in one."""
        if not self._made:
            return []
        number = self._pages.number_of(url)
        self._keep_up()
        found = self._found.get((number, language))
        if found is None:
            named = dict.fromkeys(
                self._names.page_named(name)
                for made in self._made_by(number, language)
                for name in array("q", made)[1::2]
            )
            found = [each for each in named if each is not None]
            self._found[number, language] = found
        return found

    def awaits(self, url: str, language: str | None = None) -> bool:
        """Return True if a page names a translation that has not come, and no page that has.

        The translation may be in any language, or must be in one. A name that other pages use as
        well is more likely that of a home page.
        """
        if not self._made:
            return False
        number = self._pages.number_of(url)
        self._keep_up()
        found = self._awaiting.get((number, language))
        if found is None:
            own = self._pages.language_of(number)
            found = self._awaiting[number, language] = any(
                self._all_await(array("q", made)[1::2], own)
                for made in self._made_by(number, language)
            )
        return found

    def _keep_up(self) -> None:
        """Forget what was found if names have got other meanings since."""
        if self._found_at != self._names.changes or len(self._found) >= REMEMBERED:
            self._forget()
            self._found_at = self._names.changes

    def _forget(self) -> None:
        self._found.clear()
        self._awaiting.clear()

    def _all_await(self, names: Sequence[int], own: str) -> bool:
        return all(self._names.page_named(name) is None for name in names) and any(
            self._times_named(name, own) == 1 for name in names
        )

    def between(self, one: str, other: str) -> MutualClaims:
        """Return what two pages say about each other."""
        if not self._made:
            return SILENCE
        pages = self._pages
        my_language = pages.language_of(pages.number_of(one))
        their_language = pages.language_of(pages.number_of(other))
        mine, theirs = self.named_by(one, their_language), self.named_by(other, my_language)
        if not mine and not theirs:
            return SILENCE
        sides = (other in mine) + (one in theirs)
        against = (bool(mine) and other not in mine) or (bool(theirs) and one not in theirs)
        counted = [
            (url, language)
            for url, language, by in ((other, my_language, mine), (one, their_language, theirs))
            if url in by
        ]
        claimants = max((self._times_meant(*each) for each in counted), default=0)
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
        if self._is_pair:
            return self._those_in("", name, url)
        return [each for code in self._speakers for each in self._those_in(code, name, url)]

    def _those_in(self, language: str, name: int, url: str) -> list[str]:
        """Return the pages in a language that use a name; of two languages all that do."""
        if self._times_named(name, language) > MOST_CLAIMANTS:
            return [
                each for each in self.named_by(url, language or None) if url in self.named_by(each)
            ]
        key = self._from(name, language)
        return [self._pages.url_of(each) for each in self._claimants.get(key)]

    def _differ(self, number: int, url: str) -> bool:
        other = self._pages.number_of(url)
        return self._pages.language_of(other) != self._pages.language_of(number)
