"""What a URL says openly about its language: codes, names and countries, by where they are.

The rules of SBFC read the most reliable of these and stop. A model that is given all of them, and
the rule's answer among them, cannot know less than the rules; how far to trust a code behind a dot
or a country's domain it learns once for all languages, so that it also holds for languages of
which it has seen no page.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from bilingual_crawler.languages import all_languages, languages_of_token
from bilingual_crawler.urls.hosts import split_host
from bilingual_crawler.urls.language_tokens import announced_languages

PLACES = (
    "language parameter",
    "other parameter",
    "first directory",
    "directory",
    "last part",
    "name before the ending",
    "ending",
    "after a dot",
    "after an underscore",
    "after a hyphen",
    "beginning of the last part",
    "part of a directory",
    "first label",
    "other label",
    "part of a label",
    "top-level domain",
    "country of the domain",
    "first country of the domain",
    "rule",
    "country as first directory",
    "country as directory",
    "country as label",
    "code with a country",
    "name of a language",
)
"""Where a language can be announced; models are trained on this order."""
_PLACE = {name: number for number, name in enumerate(PLACES)}
_AFTER = {
    ".": _PLACE["after a dot"],
    "_": _PLACE["after an underscore"],
    "-": _PLACE["after a hyphen"],
}
PARAMETERS = frozenset(
    {
        "culture",
        "hl",
        "idioma",
        "jezyk",
        "l",
        "lang",
        "langid",
        "lang_id",
        "language",
        "langue",
        "lc",
        "lg",
        "ln",
        "lng",
        "loc",
        "locale",
        "setlang",
        "sprache",
        "taal",
        "uselang",
    }
)
MOST_PARAMETERS, LONGEST_VALUE, LONGEST_PART = 8, 12, 10
COUNTRY_CODE, SHORT_CODE = 2, 3
LONGEST_SEGMENT, LONGEST_WORD, DEEPEST = 80, 24, 6
_WORD = re.compile(r"[^\W\d_]+")
_HYPHENS = re.compile("[-_]")


class Announcement(NamedTuple):
    """A language that a URL may announce: the number of its place, and its ISO 639-3 code."""

    place: int
    language: str


class UrlReading(NamedTuple):
    """A URL read once for a model: what it announces, its host, and what follows the host.

    Words are whole parts: directories, parameters, labels, with a sign for where they were found.
    """

    announced: list[Announcement]
    host: str
    path: str
    host_words: list[str]
    words: list[str]


def read_url(url: str) -> UrlReading:
    """Read a URL; one that cannot be parsed announces nothing.

    Host and path begin and end with the signs around them in the URL, so that a word at the edge
    differs from one inside.
    """
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").removeprefix("www.")
        query = parse_qsl(parts.query, max_num_fields=50)
    except ValueError:
        return UrlReading([], "///", f"//x/{url}", [], [])
    query = query[:MOST_PARAMETERS]
    path = unquote(parts.path).lower()
    segments = [each[:LONGEST_SEGMENT] for each in path.split("/") if each]
    found: dict[Announcement, None] = {}
    for place, token in _tokens(path, segments, query):
        found.update(dict.fromkeys(_said(place, token)))
    said, host_words = _of_host(host)
    host_words = host_words if found else (*host_words, f"plain {host_words[0]}")
    found.update(dict.fromkeys(said))
    rule = _PLACE["rule"]
    found.update(dict.fromkeys(Announcement(rule, code) for code in announced_languages(url)))
    rest = url.find("/", url.find("//") + 2)
    return UrlReading(
        list(found),
        f"//{host}/",
        f"//x{url[rest:] if rest >= 0 else '/'}",
        list(host_words),
        _words(path, segments, query),
    )


def _words(path: str, segments: list[str], query: list[tuple[str, str]]) -> list[str]:
    """Return the words of path and query: alone, as whole directories, and as parameters."""
    found = [f"depth {min(len(segments), DEEPEST)}{path[-1:] == '/'}"]
    found += [f"first /{segment}" for segment in segments[:1]]
    found += [f"/{segment}" for segment in segments]
    for name, value in query:
        found += [f"?{name[: LONGEST_PART * 2]}", f"?{name}={value[:LONGEST_VALUE]}".lower()]
    found += [word for word in _WORD.findall(path) if len(word) <= LONGEST_WORD]
    return list(dict.fromkeys(found))


def _tokens(
    path: str, segments: list[str], query: list[tuple[str, str]]
) -> Iterator[tuple[int, str]]:
    """Yield what may name a language in path and query, with its place."""
    for name, value in query:
        kind = "language parameter" if name.lower() in PARAMETERS else "other parameter"
        yield _PLACE[kind], value[:LONGEST_VALUE].lower()
    *directories, last = segments or [""]
    if path.endswith("/") and last:
        directories, last = segments, ""
    for number, segment in enumerate(directories):
        yield _PLACE["directory" if number else "first directory"], segment
        if len(segment) == COUNTRY_CODE:
            yield (
                _PLACE["country as directory" if number else "country as first directory"],
                segment,
            )
        yield from _edges(segment, in_last=False)
    stem, dot, ending = last.rpartition(".")
    if dot:
        yield _PLACE["name before the ending"], stem
        yield _PLACE["ending"], ending
    elif last:
        stem = last
        yield _PLACE["last part" if directories else "first directory"], last
    yield from _edges(stem, in_last=True)


def _edges(segment: str, *, in_last: bool) -> Iterator[tuple[int, str]]:
    """Yield the first and the last word of a part of the path, by the sign between."""
    for sign, place in _AFTER.items():
        front, found, _ = segment.partition(sign)
        if found:
            end = segment.rpartition(sign)[2]
            if len(end) <= LONGEST_PART:
                yield place if in_last else _PLACE["part of a directory"], end
            if len(front) <= LONGEST_PART:
                kind = "beginning of the last part" if in_last else "part of a directory"
                yield _PLACE[kind], front


@lru_cache(maxsize=1 << 14)
def _said(place: int, token: str) -> tuple[Announcement, ...]:
    """Return the languages of a token at a place, and whether it is more than a short code."""
    if PLACES[place].startswith("country as"):
        return tuple(Announcement(place, code) for code in _first_countries().get(token, ()))
    token = token.replace("_", "-")
    found = [Announcement(place, code) for code in sorted(languages_of_token(token))]
    if len(token) > SHORT_CODE:
        kind = _PLACE["code with a country" if "-" in token else "name of a language"]
        found += [Announcement(kind, each.language) for each in found]
    return tuple(found)


@lru_cache(maxsize=1 << 12)
def _of_host(host: str) -> tuple[tuple[Announcement, ...], tuple[str, ...]]:
    """Return what labels and public suffix announce, and words; links of a page share few hosts."""
    name = split_host(host)
    found: list[Announcement] = []
    for number, label in enumerate(name.subdomain.split(".") if name.subdomain else ()):
        here = _said(_PLACE["other label" if number else "first label"], label)
        found += here
        if len(label) == COUNTRY_CODE:
            found += _said(_PLACE["country as label"], label)
        if not here and len(label) > SHORT_CODE:
            for part in _HYPHENS.split(label):
                found += _said(_PLACE["part of a label"], part)
    ending = name.suffix.rpartition(".")[2]
    places = ("top-level domain", "country of the domain", "first country of the domain")
    tables = (sorted(languages_of_token(ending)), _countries().get(ending, ()))
    for place, codes in zip(places, (*tables, _first_countries().get(ending, ())), strict=True):
        found += [Announcement(_PLACE[place], code) for code in codes]
    words = [f".{ending}", f"..{name.suffix}"]
    words += [f"{label}." for label in name.subdomain.split(".") if label]
    words += _WORD.findall(f"{name.subdomain}.{name.domain}")
    return tuple(found), tuple(dict.fromkeys(words))


@cache
def _countries() -> dict[str, tuple[str, ...]]:
    """Return the languages of each country, by its code as a domain."""
    return _by_country(most=None)


@cache
def _first_countries() -> dict[str, tuple[str, ...]]:
    """Return the languages that have most of their speakers in a country."""
    return _by_country(most=1)


def _by_country(most: int | None) -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for language in all_languages():
        for country in language.countries[:most]:
            table[country] = (*table.get(country, ()), language.code)
    if "gb" in table:
        table["uk"] = table["gb"]
    return table
