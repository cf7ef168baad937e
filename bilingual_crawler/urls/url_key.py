"""Evidence from URLs: two that are equal once the language tokens are gone.

This is Almeida's congruence of URLs with the token lists of the WMT16 baseline (name,
endonym, ISO 639 codes, code and country). Unlike there, the host counts too: es.site.org
and eu.site.org are one site, but two sites with the same path are not.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from bilingual_crawler.urls.hosts import split_host

DIGITS = re.compile(r"\d+")
WORD = re.compile(r"[^\W_]+")
REGION = re.compile(r"[^\W_]{2,3}[-_][^\W_]{2,4}(?![^\W_])")
SEPARATORS = re.compile(r"(?<![\W_])(?=[\W_]{2})[\W_]*([/.\-_])[\W_]*")  # one alone stays as it is
INDEX = re.compile(r"(?:^|/)(?:index|default|home)?(?:\.[a-z]{3,5})?/?$")


class UrlKey(NamedTuple):
    """What is left of a URL without its language tokens, and what they were."""

    key: str
    tokens: tuple[str, ...]


def url_key(url: str, tokens: frozenset[str]) -> UrlKey:
    """Remove the language tokens from a URL, and with them what only spells it otherwise."""
    try:
        parts = urlsplit(url)
    except ValueError:  # [ without ], and other addresses that no browser would take
        return UrlKey(url, ())
    found: list[str] = []
    host = host_key(parts.hostname or "", tokens, found)
    path = INDEX.sub("", strip_tokens(unquote(parts.path).lower(), tokens, found))
    query = "&".join(sorted(query_key(unquote(parts.query).lower(), tokens, found)))
    return UrlKey(f"{host}/{path.strip('/')}?{query}", tuple(found))


def host_key(host: str, tokens: frozenset[str], found: list[str]) -> str:
    """The host without www, language labels and a public suffix that names a language."""
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
    """A path without its language tokens and what they leave of separators."""

    def drop(match: re.Match[str]) -> str:
        word = match.group().replace("_", "-")
        if word in tokens:
            found.append(word)
            return ""
        return match.group()

    return SEPARATORS.sub(r"\1", WORD.sub(drop, REGION.sub(drop, text)))


def query_key(query: str, tokens: frozenset[str], found: list[str]) -> Iterator[str]:
    """The parameters whose value is not a language."""
    for parameter in query.split("&"):
        value = parameter.partition("=")[2].replace("_", "-")
        if value in tokens:
            found.append(value)
        elif parameter:
            yield parameter


def digits_of(key: str) -> tuple[str, ...]:
    """The numbers in a URL, which translations share: dates, versions, ids."""
    return tuple(DIGITS.findall(key))
