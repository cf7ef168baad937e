"""Lists of URLs into pairs without fetching: Almeida's congruence classes, by the million.

The classes are those of `url_key`, which is only called for unusual URLs. Most keys are put
together from the host, the folders of the path, which repeat, and the last segment, so that a URL
costs a few look-ups. If the host does not count (as in the paper), two sites with the same paths
make pairs too.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import unquote

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.evidence import BOTH_TOKENS, ONE_TOKEN
from bilingual_crawler.pairing.pair import DocumentPair, Evidence
from bilingual_crawler.urls.language_tokens import (
    host_key,
    query_key,
    strip_tokens,
    url_key,
)

DETECTOR = "url_key"
MOST_REMEMBERED = 1 << 17
"""The most hosts, folders and segments to cache, each."""
NONE, FIRST, SECOND = 0, 1, 2
"""What the tokens of a URL name: none of the two languages, one of them, or both (the sum)."""

_PLAIN_URL = re.compile(r"https?://([A-Za-z0-9.-]+)((?:/[!-\"$->@-~]*)?)(?:\?([!-\"$-~]*))?")
_PLAIN_SEGMENT = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")
_WORDS = re.compile(r"[-_.]")
_REGION = re.compile(r"[^\W_]{2,3}[-_]([^\W_]{2,4})")
_INDEX_NAMES = frozenset(("", "index", "default", "home"))
_INDEX = re.compile(r"(?:index|default|home)?(?:\.[a-z]{3,5})?")


class UrlKeys:
    """Keys of URLs as `url_key` returns them, fast for a long list."""

    def __init__(self, pair: LanguagePair) -> None:
        self._pair = pair
        self._tokens = pair.first.tokens | pair.second.tokens
        regions = (_REGION.fullmatch(token) for token in self._tokens)
        self._telling = self._tokens | {found[1] for found in regions if found}
        remembered = lru_cache(maxsize=MOST_REMEMBERED)
        self._host = remembered(self._read_host)
        self._folders = remembered(self._read_folders)
        self._inside = remembered(self._read_inside)
        self._stripped = remembered(self._strip)

    def classify(self, url: str) -> tuple[str, int]:
        """Return the key of a URL, and which of the two languages its tokens name."""
        match = _PLAIN_URL.fullmatch(url)
        if match is None:
            return self._slowly(url)
        host, path, query = match.groups()
        if "%" in path:
            path = unquote(path)
            if not path.isprintable():
                return self._slowly(url)
        folder, _, last = path.lower().rpartition("/")
        before, end = self._folders(folder), self._segment(last)
        if before is None or end is None:
            return self._slowly(url)
        host_name, named = self._host(host)
        named |= before[1] | end[1]
        key = _joined(host_name, before[0], end[0])
        if not query:
            return f"{key}?", named
        found: list[str] = []
        text = unquote(query) if "%" in query else query
        parameters = sorted(query_key(text.lower(), self._tokens, found))
        if found:
            named |= self._named(found)
        return f"{key}?{'&'.join(parameters)}", named

    def _slowly(self, url: str) -> tuple[str, int]:
        try:
            key, tokens = url_key(url, self._tokens)
        except ValueError:  # no URL at all: like no other
            return url, NONE
        return key, self._named(tokens)

    def _named(self, tokens: Iterable[str]) -> int:
        first = not self._pair.first.tokens.isdisjoint(tokens)
        second = not self._pair.second.tokens.isdisjoint(tokens)
        return FIRST * first + SECOND * second

    def _read_host(self, host: str) -> tuple[str, int]:
        found: list[str] = []
        return host_key(host.lower(), self._tokens, found), self._named(found)

    def _read_folders(self, folders: str) -> tuple[str, int] | None:
        """Return the key of a path without its last segment."""
        parts, named = [], NONE
        for text in folders.split("/"):
            segment = self._inside(text)
            if segment is None:
                return None
            if segment[0]:
                parts.append(segment[0])
            named |= segment[1]
        return "/".join(parts), named

    def _read_inside(self, text: str) -> tuple[str, int] | None:
        """Return a segment that others follow: a separator at its end is part of the slash."""
        segment = self._segment(text)
        if segment is None:
            return None
        inside, named = segment
        while inside and not inside[-1].isalnum():
            inside = inside[:-1]
        return inside, named

    def _segment(self, text: str) -> tuple[str, int] | None:
        """Return a part of a path without its language tokens, and what they name.

        None if the rest changes the slash before it: then the path is read as a whole.
        """
        if _PLAIN_SEGMENT.fullmatch(text) and self._telling.isdisjoint(_WORDS.split(text)):
            return text, NONE
        return self._stripped(text)

    def _strip(self, text: str) -> tuple[str, int] | None:
        found: list[str] = []
        stripped = strip_tokens(text, self._tokens, found)
        if stripped and not stripped[0].isalnum():
            return None
        return stripped, self._named(found)


def _joined(host: str, folder: str, last: str) -> str:
    """Return host and path without an index page at the end."""
    if not last:
        folder, _, last = folder.rpartition("/")
    if last.partition(".")[0] in _INDEX_NAMES and _INDEX.fullmatch(last):
        return f"{host}/{folder}"
    return f"{host}/{folder}/{last}" if folder else f"{host}/{last}"


class Congruence:
    """Sorts URLs into classes, then pairs the two languages within each.

    The language of a URL is the given one, or else the one that its tokens name. In a class with
    URLs of only one language, those that name none take the place of the other.
    """

    def __init__(self, pair: LanguagePair, *, across_hosts: bool = False) -> None:
        self._pair = pair
        self._keys = UrlKeys(pair)
        self._across_hosts = across_hosts
        self._sides: dict[str, dict[str, str | list[str]]] = {"": {}}
        self._sides |= {code: {} for code in pair.codes}
        self._side_named = ("", *pair.codes, "")

    def add(self, url: str, language: str = "") -> None:
        """Add a URL; `language` is that of its page, one of the pair, if it is known."""
        key, named = self._key(url)
        side = self._sides[language or self._side_named[named]]
        known = side.get(key)
        if known is None:  # most URLs are alone, and need no list
            side[key] = url
        elif isinstance(known, list):
            known.append(url)
        else:
            side[key] = [known, url]

    def classes(self) -> Iterator[list[str]]:
        """Yield the classes of two or more URLs, which Almeida calls blocks."""
        sides = list(self._sides.values())
        for at, side in enumerate(sides):
            for key in side:
                if not any(key in earlier for earlier in sides[:at]):
                    urls = [url for each in sides for url in _plainest_first(each.get(key))]
                    if len(urls) > 1:
                        yield urls

    def pairs(self) -> Iterator[DocumentPair]:
        """Yield one pair for each two URLs of a class; the plainest of both sides go together."""
        first, second = (self._sides[code] for code in self._pair.codes)
        rest = self._sides[""]
        both = Evidence(DETECTOR, BOTH_TOKENS, "URLs differ only in the tokens of both languages")
        one = Evidence(DETECTOR, ONE_TOKEN, "URLs differ only in the tokens of one language")
        for key, urls in first.items():
            if key in second:
                yield from self._couples(urls, second[key], both)
            elif key in rest:
                yield from self._couples(urls, rest[key], one)
        for key, urls in second.items():
            if key in rest and key not in first:
                yield from self._couples(rest[key], urls, one)

    def language_of(self, url: str) -> str | None:
        """Return the language of a URL, "" for none; None if it was not added."""
        key = self._key(url)[0]
        sides = self._sides.items()
        return next((code for code, side in sides if url in _plainest_first(side.get(key))), None)

    def _key(self, url: str) -> tuple[str, int]:
        key, named = self._keys.classify(url)
        return key.partition("/")[2] if self._across_hosts else key, named

    def _couples(
        self, firsts: str | list[str], seconds: str | list[str], evidence: Evidence
    ) -> Iterator[DocumentPair]:
        couples = zip(_plainest_first(firsts), _plainest_first(seconds), strict=False)
        for first, second in couples:
            yield DocumentPair(first, second, self._pair.codes, (evidence,))


def _plainest_first(urls: str | list[str] | None) -> list[str]:
    """Return distinct URLs, the shortest first."""
    if isinstance(urls, list):
        return sorted(set(urls), key=lambda url: (len(url), url))
    return [] if urls is None else [urls]
