"""How a site respells the addresses of its pages, learned from its redirects.

Many sites link to `/page` and answer with a redirect to `/page/`, or link to `index.html`, to
`www`, to capitals. Each such link is another URL of a page that is known already. After two
redirects of one kind the site is believed to have the habit, and spellings that differ in it are
one URL. A page that is served under a spelling that the habit would change speaks against it.
"""

import re
from collections.abc import Callable
from enum import IntEnum
from itertools import combinations
from urllib.parse import SplitResult, urlsplit, urlunsplit

from bilingual_crawler.urls.fingerprint import url_fingerprint
from bilingual_crawler.urls.hosts import host_of, site_of

LEAST_REDIRECTS = 2
"""Redirects of one kind after which a site is believed to have the habit."""
LEAST_RATIO = 3
"""Redirects that outweigh one page that was served under the other spelling."""
MOST_STEPS = 3
"""The most habits that are looked for in one redirect."""
MOST_SITES = 10_000

_INDEX = re.compile(r"/(?:index|default)\.(?:x?html?|php|aspx?|jsp)$", re.IGNORECASE)


class Respelling(IntEnum):
    """A way to respell an address; several are applied in this order."""

    HTTPS = 0
    ADD_WWW = 1
    DROP_WWW = 2
    LOWER_CASE = 3
    DROP_INDEX = 4
    ADD_SLASH = 5
    DROP_SLASH = 6


def _add_www(parts: SplitResult) -> SplitResult:
    host = parts.hostname or ""
    return parts._replace(netloc=f"www.{parts.netloc}") if site_of(host) == host else parts


def _add_slash(parts: SplitResult) -> SplitResult:
    last = parts.path.rpartition("/")[2]
    return parts._replace(path=f"{parts.path}/") if last and "." not in last else parts


_WAYS: dict[Respelling, Callable[[SplitResult], SplitResult]] = {
    Respelling.HTTPS: lambda parts: parts._replace(
        scheme="https" if parts.scheme == "http" else parts.scheme
    ),
    Respelling.ADD_WWW: _add_www,
    Respelling.DROP_WWW: lambda parts: parts._replace(netloc=parts.netloc.removeprefix("www.")),
    Respelling.LOWER_CASE: lambda parts: parts._replace(path=parts.path.lower()),
    Respelling.DROP_INDEX: lambda parts: parts._replace(path=_INDEX.sub("/", parts.path)),
    Respelling.ADD_SLASH: _add_slash,
    Respelling.DROP_SLASH: lambda parts: parts._replace(path=parts.path.rstrip("/") or "/"),
}


def _respelled(url: str, ways: tuple[Respelling, ...]) -> str:
    try:
        parts = urlsplit(url)
        for way in ways:
            parts = _WAYS[way](parts)
        return urlunsplit(parts)
    except ValueError:
        return url


def _site_of(url: str) -> str:
    """Return the site of a URL, the same with and without `www` on any network."""
    return site_of(host_of(url).removeprefix("www."))


def _applicable(url: str) -> list[Respelling]:
    return [way for way in Respelling if _respelled(url, (way,)) != url]


def are_spellings(one: str, other: str) -> bool:
    """Return True if two URLs differ only in ways in which sites respell addresses."""
    every = tuple(way for way in Respelling if way not in _ADDING)
    return url_fingerprint(_respelled(one, every)) == url_fingerprint(_respelled(other, every))


_ADDING = frozenset({Respelling.ADD_WWW, Respelling.ADD_SLASH})


class UrlHabits:
    """The habits of every site, each with the cases for and against it."""

    def __init__(self) -> None:
        self.cases: dict[str, dict[int, list[int]]] = {}
        self._trusted: dict[str, tuple[Respelling, ...]] = {}

    def learn(self, source: str, target: str) -> bool:
        """Learn from a redirect; return True if the habits of the site have changed."""
        site, wanted = _site_of(source), url_fingerprint(target)
        if site != _site_of(target):
            return False
        ways = _applicable(source)
        if Respelling.DROP_INDEX in ways and Respelling.DROP_SLASH not in ways:
            ways.append(Respelling.DROP_SLASH)
        for size in range(1, MOST_STEPS + 1):
            for some in combinations(ways, size):
                if url_fingerprint(_respelled(source, some)) == wanted:
                    return self._count(site, list(some), 0)
        return False

    def stayed(self, url: str) -> bool:
        """Learn from a page that was served at a URL; return True if the habits have changed."""
        site = _site_of(url)
        cases = self.cases.get(site)
        if not cases:
            return False
        return self._count(site, [way for way in _applicable(url) if way in cases], 1)

    def form(self, url: str) -> str:
        """Return the spelling that the habits of its site give a URL."""
        if not self._trusted:
            return url
        ways = self._trusted.get(_site_of(url))
        return _respelled(url, ways) if ways else url

    @property
    def any_trusted(self) -> bool:
        """True if any site is believed to have a habit."""
        return bool(self._trusted)

    def trusted(self, site: str) -> tuple[Respelling, ...]:
        """Return the habits that a site is believed to have."""
        return self._trusted.get(site, ())

    def restore(self, cases: dict[str, dict[int, list[int]]]) -> None:
        """Continue from the cases of an earlier run."""
        self.cases = {
            site: {int(Respelling(way)): list(map(int, counts)) for way, counts in of.items()}
            for site, of in cases.items()
        }
        for site in self.cases:
            self._trust(site)

    def _count(self, site: str, ways: list[Respelling], column: int) -> bool:
        if site not in self.cases and len(self.cases) >= MOST_SITES:
            return False
        cases = self.cases.setdefault(site, {})
        for way in ways:
            cases.setdefault(int(way), [0, 0])[column] += 1
        return self._trust(site)

    def _trust(self, site: str) -> bool:
        """Decide which habits a site has; of two opposite ones, the more frequent."""
        cases = self.cases[site]
        good = {
            Respelling(way): right
            for way, (right, wrong) in cases.items()
            if right >= LEAST_REDIRECTS and right >= LEAST_RATIO * wrong
        }
        for one, other in (
            (Respelling.ADD_WWW, Respelling.DROP_WWW),
            (Respelling.ADD_SLASH, Respelling.DROP_SLASH),
        ):
            if one in good and other in good:
                del good[min((one, other), key=lambda way: good[way])]
        before, now = self._trusted.get(site, ()), tuple(sorted(good))
        if now:
            self._trusted[site] = now
        else:
            self._trusted.pop(site, None)
        return before != now
