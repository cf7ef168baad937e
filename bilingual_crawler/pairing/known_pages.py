"""The pages that pairing knows, packed until two are compared, and the names they go by.

A page with its profile is about fifty objects. Packed into bytes it takes a third to a half of
their memory, and Python's garbage collector has nothing to walk over. The bytes of many pages are
in a temporary file. Reading and unpacking them costs a few microseconds, and recently used pages
are cached.
"""

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from bilingual_crawler.documents.document import DocumentKey
from bilingual_crawler.languages import (
    ParallelLanguages,
    UnknownLanguageError,
    find_language,
    languages_of_token,
)
from bilingual_crawler.pairing.pair import PairingPage
from bilingual_crawler.store.compact import CompactMap, unsigned
from bilingual_crawler.store.spilled import SpilledBytes
from bilingual_crawler.urls.fingerprint import url_fingerprint
from bilingual_crawler.urls.hosts import host_of, site_of
from bilingual_crawler.urls.language_tokens import UrlKey, digits_of, url_key

REMEMBERED = 1_000
_END = b"\xff"
"""Ends the key of a URL, because no text in UTF-8 has this byte."""
_CODE = re.compile(r"[a-z]{2}(?:[-_][a-z]{2})?")


class KnownPage(NamedTuple):
    """A page with what its URL says."""

    page: PairingPage
    key: UrlKey
    last: str
    """The last part of the URL without language tokens."""
    digits: tuple[str, ...]
    fit: int
    """1 if the tokens of the URL name the language of its text, -1 if they name another, 0 without
    any.
    """
    site: str
    number: int


class KnownPages:
    """Every page, by URL and by number, in order of arrival."""

    def __init__(
        self, languages: ParallelLanguages, family_of: Callable[[str], str] = lambda site: site
    ) -> None:
        self._tokens_of = {each.code: each.tokens for each in languages}
        self._family_of = family_of
        self._tokens = languages.tokens
        self._numbers: dict[str, int] = {}
        self._urls: list[str] = []
        self._packed = SpilledBytes()
        """The key of each page's URL, and the page."""
        self._traits: list[_Traits] = []
        self.languages: list[str] = []
        """The language of each page (ISO 639-3), by its number."""
        self._sizes = array("Q")
        self._shared: dict[_Traits, _Traits] = {}
        self._load = lru_cache(maxsize=REMEMBERED)(self._unpack)

    def __len__(self) -> int:
        return len(self._urls)

    def __iter__(self) -> Iterator[str]:
        return iter(self._urls)

    def __contains__(self, url: str) -> bool:
        return url in self._numbers

    def __getitem__(self, url: str) -> KnownPage:
        return self._load(self._numbers[url])

    def add(self, page: PairingPage) -> KnownPage:
        """Add a page; it replaces an earlier one with the same URL."""
        key = url_key(page.url, self._tokens)
        site = self._family_of(site_of(host_of(page.url)))
        traits = _Traits(page.language, site, key.tokens)
        number = self._numbers.setdefault(page.url, len(self._urls))
        if number < len(self._urls):
            self._load.cache_clear()
        else:
            self._urls.append(page.url)
            self._packed.append(b"")
            self._traits.append(traits)
            self.languages.append(page.language)
            self._sizes.append(0)
        self._packed[number] = key.key.encode("utf-8", "surrogatepass") + _END + page.pack()
        traits = self._traits[number] = self._shared.setdefault(traits, traits)
        self.languages[number] = traits.language
        self._sizes[number] = page.profile.characters
        return self._known(number, page, key.key)

    def move(self, number: int, site: str) -> KnownPage:
        """Make a page one of another site, the family that its own has joined."""
        traits = self._traits[number]._replace(site=site)
        self._traits[number] = self._shared.setdefault(traits, traits)
        self._load.cache_clear()
        return self[self._urls[number]]

    def number_of(self, url: str) -> int:
        """Return the number of a page."""
        return self._numbers[url]

    def url_of(self, number: int) -> str:
        """Return the URL of a page."""
        return self._urls[number]

    def language_of(self, number: int) -> str:
        """Return the language of a page (ISO 639-3)."""
        return self.languages[number]

    def characters_of(self, number: int) -> int:
        """Return the length of a page's text."""
        return self._sizes[number]

    def _unpack(self, number: int) -> KnownPage:
        packed_key, _, packed = self._packed[number].partition(_END)
        page = PairingPage.unpack(self._urls[number], self.languages[number], packed)
        return self._known(number, page, packed_key.decode("utf-8", "surrogatepass"))

    def _known(self, number: int, page: PairingPage, key_of_url: str) -> KnownPage:
        key = UrlKey(key_of_url, self._traits[number].tokens)
        path = key.key.partition("?")[0].strip("/")
        own = self._tokens_of.get(page.language)
        if own is None:
            own = self._tokens_of[page.language] = _tokens_of(page.language)
        fit = 0
        if key.tokens:
            fit = 1 if any(token in own for token in key.tokens) else -1
        elif _section_of_another(path, page.language):
            fit = -1
        site = self._traits[number].site
        return KnownPage(page, key, path.rpartition("/")[2], digits_of(key.key), fit, site, number)


def _tokens_of(code: str) -> frozenset[str]:
    """Return the tokens of a language that was not named, in a crawl for all."""
    try:
        return find_language(code).tokens
    except UnknownLanguageError:
        return frozenset((code,))


@lru_cache(maxsize=1 << 14)
def _languages_of_section(directory: str) -> frozenset[str]:
    return languages_of_token(directory) if _CODE.fullmatch(directory) else frozenset()


def _section_of_another(key: str, language: str) -> bool:
    """Return True if the first directory after the host is the code of other languages."""
    named = _languages_of_section(key.partition("/")[2].partition("/")[0])
    return bool(named) and language not in named


class _Traits(NamedTuple):
    """What many pages have in common."""

    language: str
    site: str
    tokens: tuple[str, ...]


def name_of(url: str) -> int:
    """Return the name for comparing URLs; documents of one URL differ by their variant."""
    key = DocumentKey.parse(url)
    return hash((url_fingerprint(key.url), key.variant)) if key.variant else url_fingerprint(url)


class Names:
    """Finds the page that a URL means: by its own URL, a redirect to it, or its canonical URL."""

    def __init__(self, pages: KnownPages) -> None:
        self.changes = 0
        """How often a name has got another meaning."""
        self._pages = pages
        self._meant = CompactMap()
        """The number of the page that a name means, plus 1."""
        self._called: dict[int, tuple[int, ...]] = {}
        """The names of pages that have other names than their URL."""
        self._leads_to: dict[int, int] = {}
        self._reached_from: defaultdict[int, set[int]] = defaultdict(set)

    def add(self, known: KnownPage) -> None:
        """Add a page and its names.

        If a page calls itself by the URL of another page, the other keeps its name.
        """
        page, number = known.page, known.number
        self.changes += 1
        own = name_of(page.url)
        self._meant[unsigned(own)] = number + 1
        names = self._all_names({own, *map(name_of, page.names)})
        for name in names:
            self._call(name, number)
        called = tuple(name for name in names if self._meant.get(unsigned(name)) == number + 1)
        if called != (own,):
            self._called[number] = called

    def names_of(self, url: str) -> tuple[int, ...]:
        """Return the names of a page: those it came with and those added later."""
        return self._called.get(self._pages.number_of(url)) or (name_of(url),)

    def alias(self, source: str, target: str) -> int | None:
        """Learn that `source` leads to `target`; return the name if it now means a page."""
        name, real = name_of(source), name_of(target)
        if name == real or name in self._leads_to:
            return None
        self.changes += 1
        self._leads_to[name] = real
        self._reached_from[real].add(name)
        meant = self._meant.get(unsigned(self._resolve(real)))
        if not meant:
            return None
        self._call(name, meant - 1)
        return name

    def add_name(self, name: int, url: str) -> None:
        """Add a name that a page got after it came."""
        self._called[self._pages.number_of(url)] = (*self.names_of(url), name)

    def page_at(self, url: str) -> str | None:
        """Return the URL of the page that a URL means; None if it has not come."""
        return self.page_named(name_of(url))

    def page_named(self, name: int) -> str | None:
        """Return the URL of the page with a name."""
        if name in self._leads_to:
            name = self._resolve(name)
        meant = self._meant.get(unsigned(name))
        return self._pages.url_of(meant - 1) if meant else None

    def _call(self, name: int, number: int) -> None:
        """Give a name to a page; if two want it, its own page wins, or else the first by URL."""
        meant = self._meant.get(unsigned(name))
        if meant:
            current = self._pages.url_of(meant - 1)
            if name_of(current) == name or self._pages.url_of(number) >= current:
                return
        self.changes += 1
        self._meant[unsigned(name)] = number + 1

    def _all_names(self, names: set[int]) -> list[int]:
        queue = sorted(names)
        for name in queue:
            queue.extend(sorted(self._reached_from.get(name, set()) - names))
            names |= self._reached_from.get(name, set())
        return queue

    def _resolve(self, name: int) -> int:
        """Follow redirects, unless a page was stored under the name itself."""
        seen = set()
        while name in self._leads_to and name not in seen and unsigned(name) not in self._meant:
            seen.add(name)
            name = self._leads_to[name]
        return name
