"""Language tokens in URLs: URLs that are equal without them, and the language that they announce.

`url_key` is Almeida's congruence of URLs with the token lists of the WMT16 baseline (name,
endonym, ISO 639 codes, code and country). Unlike there, the host counts too: es.site.org
and eu.site.org are one site, but two sites with the same path are not.

`announced_languages` is the rule baseline of SBFC, against which the classifiers are measured.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from bilingual_crawler.languages import languages_of_token
from bilingual_crawler.urls.hosts import split_host

DIGITS = re.compile(r"\d+")
WORD = re.compile(r"[^\W_]+")
REGION = re.compile(r"[^\W_]{2,3}[-_][^\W_]{2,4}(?![^\W_])")
SEPARATORS = re.compile(r"(?<![\W_])(?=[\W_]{2})[\W_]*([/.\-_])[\W_]*")  # one alone stays as it is
INDEX = re.compile(r"(?:^|/)(?:index|default|home)?(?:\.[a-z]{3,5})?/?$")


class UrlKey(NamedTuple):
    """A URL without its language tokens, and the tokens."""

    key: str
    tokens: tuple[str, ...]


def url_key(url: str, tokens: frozenset[str]) -> UrlKey:
    """Remove the language tokens from a URL, and all that is merely another spelling."""
    try:
        parts = urlsplit(url)
    except ValueError:  # [ without ], and other addresses that no browser would take
        return UrlKey(url, ())
    found: list[str] = []
    host, of_host = _host_key(parts.hostname or "", tokens)
    found.extend(of_host)
    path = INDEX.sub("", strip_tokens(unquote(parts.path).lower(), tokens, found))
    query = ""
    if parts.query:
        query = "&".join(sorted(query_key(unquote(parts.query).lower(), tokens, found)))
    return UrlKey(f"{host}/{path.strip('/')}?{query}", tuple(found))


@lru_cache(maxsize=1 << 14)
def _host_key(host: str, tokens: frozenset[str]) -> UrlKey:
    """Return the key of a host and the tokens in it: many URLs have one host."""
    found: list[str] = []
    key = host_key(host, tokens, found)
    return UrlKey(key, tuple(found))


def host_key(host: str, tokens: frozenset[str], found: list[str]) -> str:
    """Return the host without www, language labels and a public suffix that names a language."""
    name = split_host(host)
    labels = [label for label in name.subdomain.split(".") if label not in ("", "www")]
    kept = [label for label in labels if label not in tokens]
    found.extend(label for label in labels if label in tokens)
    if name.suffix in tokens:
        found.append(name.suffix)
    elif name.suffix:
        kept.append(name.suffix)
    return ".".join([*kept, name.domain])


def strip_tokens(text: str, tokens: frozenset[str], found: list[str]) -> str:
    """Return a path without its language tokens and the separators that they leave behind."""

    def drop(match: re.Match[str]) -> str:
        word = match.group().replace("_", "-")
        if word in tokens:
            found.append(word)
            return ""
        return match.group()

    rest = REGION.sub(drop, text) if "-" in text or "_" in text else text
    return SEPARATORS.sub(r"\1", WORD.sub(drop, rest))


def query_key(query: str, tokens: frozenset[str], found: list[str]) -> Iterator[str]:
    """Yield the parameters whose value is not a language."""
    for parameter in query.split("&"):
        value = parameter.partition("=")[2].replace("_", "-")
        if value in tokens:
            found.append(value)
        elif parameter:
            yield parameter


def digits_of(key: str) -> tuple[str, ...]:
    """Return the numbers in a URL, which translations share: dates, versions, ids."""
    return tuple(DIGITS.findall(key))


@lru_cache(maxsize=1 << 16)
def announced_languages(url: str) -> frozenset[str]:
    """Return the ISO 639-3 codes that the most reliable token of a URL may mean, if it has any.

    Tokens are looked for in the parts of a URL in the order of their reliability: parameter
    values, directory names, public suffix, subdomain.
    """
    for part in _parts(url):
        if found := languages_of_token(part):
            return found
    return frozenset()


def _parts(url: str) -> Iterator[str]:
    try:
        split = urlsplit(url)
        host = split.hostname or ""
        query = parse_qsl(split.query, max_num_fields=50)
    except ValueError:
        return
    yield from (value.lower() for _, value in query)
    *directories, name = unquote(split.path).lower().strip("/").split("/")
    yield from directories
    yield name
    stem, dot, ending = name.rpartition(".")
    if dot:
        yield stem.rpartition(".")[2]
        yield stem.rpartition("_")[2]
        yield stem.rpartition("-")[2]
        yield ending
    labels = split_host(host)
    yield labels.suffix
    yield from labels.subdomain.split(".")
