"""What a URL tells before anything is known of its page: where it stands, whom it resembles.

Two kinds of sections are read from it. Language sections keep the language tokens (`/en/blog`
and `/es/blog` are two places); yield sections leave them out, since a part of a site that is
translated is so in both languages.
"""

from typing import NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from bilingual_crawler.hosts import site_of, split_host
from bilingual_crawler.languages import languages_of_token
from bilingual_crawler.pairing.url_key import url_key

DEEPEST = 3
"""Directories that make sections; deeper ones have too few pages to learn from."""
MOST_PARAMETERS = 20
CODE = 3
LEAST_SLUG, LONG_SLUG = 6, 9
LONGEST_PART = 60


class Traits(NamedTuple):
    """A URL taken apart."""

    language_class: str
    """Host and language tokens: URLs that differ in it may be translations."""
    language_sections: tuple[str, ...]
    """From the host to the last directory; the class stands where its first token does."""
    yield_sections: tuple[str, ...]
    key: str
    slug: str
    announced: frozenset[str]
    """The languages that the most trusted of its tokens may mean."""


class _Tokens(NamedTuple):
    found: list[str]
    announced: list[frozenset[str]]


def traits_of(url: str, tokens: frozenset[str]) -> Traits:
    """Take a URL apart; `tokens` are those of the two languages, as for `url_key`."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").removeprefix("www.")
        segments = [each for each in unquote(parts.path).lower().split("/") if each]
        parameters = parse_qsl(parts.query, max_num_fields=MOST_PARAMETERS)
        key = url_key(url, tokens).key
    except ValueError:
        return Traits("", ("",), ("",), "", "", frozenset())
    found = _Tokens([], [])
    _in_query(parameters, tokens, found)
    neutral = _in_path(segments, tokens, found)
    above = _common(segments, neutral) if found.found else 0
    _in_host(parts, tokens, found)
    folders = segments[:-1][:DEEPEST]
    language_class = f"{host} {' '.join(sorted(found.found))}"
    prefixes = _prefixes(host, folders)
    language_sections = (*prefixes[:above], language_class, *prefixes[above:])
    yield_sections = [site_of(host), *_prefixes(host, neutral[:-1][:DEEPEST])]
    if parameters:
        names = ",".join(sorted(name[:LONGEST_PART] for name, _ in parameters))
        yield_sections.append(f"{yield_sections[-1]}?{names}")
    slug = neutral[-1] if len(neutral) > 1 and _is_telling(neutral[-1]) else ""
    announced = found.announced[0] if found.announced else frozenset()
    return Traits(language_class, language_sections, tuple(yield_sections), key, slug, announced)


def _common(segments: list[str], neutral: list[str]) -> int:
    """How many segments stand before the first language token."""
    for at, (segment, other) in enumerate(zip(segments, neutral, strict=False)):
        if segment != other:
            return at
    return len(neutral)


def _prefixes(host: str, folders: list[str]) -> list[str]:
    cut = [folder[:LONGEST_PART] for folder in folders]
    return [f"{host}/{'/'.join(cut[:depth])}/" for depth in range(1, len(cut) + 1)]


def _in_query(parameters: list[tuple[str, str]], tokens: frozenset[str], found: _Tokens) -> None:
    for name, value in parameters:
        if languages := _languages(value.lower().replace("_", "-"), tokens):
            found.found.append(f"{name}={value.lower()}")
            found.announced.append(languages)


def _languages(token: str, wanted: frozenset[str]) -> frozenset[str]:
    """The languages that a token may mean; nearly every short word is the code of some."""
    languages = languages_of_token(token)
    if languages and len(token) == CODE and token not in wanted:
        return frozenset()
    return languages


def _in_path(segments: list[str], tokens: frozenset[str], found: _Tokens) -> list[str]:
    """Note the language tokens of a path; give the other segments."""
    neutral = []
    for at, segment in enumerate(segments):
        token = segment.replace("_", "-")
        languages = _languages(token, tokens)
        is_code = len(token) <= CODE or "-" in token
        if languages and (is_code or at < len(segments) - 1):
            found.found.append(f"/{segment}/")
            found.announced.append(languages)
        else:
            neutral.append(segment)
    if segments:
        for part in segments[-1].split(".")[1:-1]:
            if languages := _languages(part, tokens):
                found.found.append(f".{part}.")
                found.announced.append(languages)
    return neutral


def _in_host(parts: SplitResult, tokens: frozenset[str], found: _Tokens) -> None:
    for label in split_host(parts.hostname or "").subdomain.split("."):
        if label and (languages := _languages(label, tokens)):
            found.found.append(f"{label}.")
            found.announced.append(languages)


def _is_telling(name: str) -> bool:
    """Whether a last segment names one page: a title or a number, no `index` or `page`."""
    if len(name) < LEAST_SLUG:
        return False
    return len(name) >= LONG_SLUG or not name.isalpha()
