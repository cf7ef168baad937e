"""The pages that pairing knows, kept small: packed, and unpacked when two are compared.

A page with its profile is some fifty objects. Kept as one run of bytes it takes a half to a
third of their memory, and Python's garbage collector has nothing to walk over. Unpacking costs
a few microseconds, and what was asked for lately is remembered.
"""

from array import array
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.pair import PairingPage
from bilingual_crawler.urls.hosts import host_of, site_of
from bilingual_crawler.urls.url_key import UrlKey, digits_of, url_key

REMEMBERED = 1_000


class KnownPage(NamedTuple):
    """A page with what its URL tells."""

    page: PairingPage
    key: UrlKey
    last: str
    """The last part of the URL without language tokens."""
    digits: tuple[str, ...]
    fit: int
    """Whether the tokens of the URL name the language of its text: 1, -1, or 0 without any."""
    site: str
    number: int


class KnownPages:
    """Every page under its URL and under a number, in the order in which they came."""

    def __init__(self, pair: LanguagePair) -> None:
        self._pair = pair
        self._tokens = pair.first.tokens | pair.second.tokens
        self._numbers: dict[str, int] = {}
        self._urls: list[str] = []
        self._packed: list[bytes] = []
        self._keys: list[str] = []
        self._traits: list[_Traits] = []
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
        """Take in a page; one with a URL that is known takes the place of the former."""
        key = url_key(page.url, self._tokens)
        traits = _Traits(page.language, site_of(host_of(page.url)), key.tokens)
        number = self._numbers.setdefault(page.url, len(self._urls))
        if number < len(self._urls):
            self._load.cache_clear()
        else:
            self._urls.append(page.url)
            self._packed.append(b"")
            self._keys.append("")
            self._traits.append(traits)
            self._sizes.append(0)
        self._packed[number] = page.pack()
        self._keys[number] = key.key
        self._traits[number] = self._shared.setdefault(traits, traits)
        self._sizes[number] = page.profile.characters
        return self._known(number, page)

    def number_of(self, url: str) -> int:
        """The number of a page."""
        return self._numbers[url]

    def url_of(self, number: int) -> str:
        """The URL of a page."""
        return self._urls[number]

    def language_of(self, number: int) -> str:
        """The language of a page (ISO 639-3)."""
        return self._traits[number].language

    def characters_of(self, number: int) -> int:
        """How long the text of a page is."""
        return self._sizes[number]

    def _unpack(self, number: int) -> KnownPage:
        language = self._traits[number].language
        return self._known(
            number, PairingPage.unpack(self._urls[number], language, self._packed[number])
        )

    def _known(self, number: int, page: PairingPage) -> KnownPage:
        key = UrlKey(self._keys[number], self._traits[number].tokens)
        path = key.key.partition("?")[0].strip("/")
        own = self._pair.first if page.language == self._pair.first.code else self._pair.second
        fit = 0
        if key.tokens:
            fit = 1 if any(token in own.tokens for token in key.tokens) else -1
        site = self._traits[number].site
        return KnownPage(page, key, path.rpartition("/")[2], digits_of(key.key), fit, site, number)


class _Traits(NamedTuple):
    """What many pages have in common."""

    language: str
    site: str
    tokens: tuple[str, ...]
