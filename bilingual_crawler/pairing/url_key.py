"""Evidence from URLs: two that are equal once the language tokens are gone.

This is Almeida's congruence of URLs with the token lists of the WMT16 baseline (name,
endonym, ISO 639 codes, code and country). Unlike there, the host counts too: es.site.org
and eu.site.org are one site, but two sites with the same path are not.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from bilingual_crawler.hosts import split_host
from bilingual_crawler.languages import Language, LanguagePair
from bilingual_crawler.pairing.pair import Candidate, Evidence, Page

WORD = re.compile(r"[^\W_]+")
REGION = re.compile(r"[^\W_]{2,3}[-_][^\W_]{2,4}(?![^\W_])")
SEPARATORS = re.compile(r"[\W_]*([/.\-_])[\W_]*")
INDEX = re.compile(r"(?:^|/)(?:index|default|home)?(?:\.[a-z]{3,5})?/?$")

BOTH_TOKENS, ONE_TOKEN, NO_TOKEN, WRONG_TOKEN = 0.9, 0.8, 0.3, 0.3


class UrlKey(NamedTuple):
    """What is left of a URL without its language tokens, and what they were."""

    key: str
    tokens: tuple[str, ...]


def url_key(url: str, tokens: frozenset[str]) -> UrlKey:
    """Remove the language tokens from a URL, and with them what only spells it otherwise."""
    parts = urlsplit(url)
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


class UrlKeyDetector:
    """Pairs pages of the two languages whose URLs have the same key."""

    def __init__(self, pair: LanguagePair) -> None:
        self._pair = pair
        self._tokens = pair.first.tokens | pair.second.tokens
        self._blocks: defaultdict[str, list[tuple[Page, tuple[str, ...]]]] = defaultdict(list)

    def add(self, page: Page) -> Iterable[Candidate]:
        """Give every page of the other language with the same key."""
        key, tokens = url_key(page.url, self._tokens)
        block = self._blocks[key]
        block.append((page, tokens))
        for other, other_tokens in block[:-1]:
            if other.language != page.language:
                yield page.url, other.url, self._judge(page, tokens, other, other_tokens)

    def alias(self, source: str, target: str) -> Iterable[Candidate]:  # noqa: ARG002
        """Say nothing: a redirect does not change what a URL looks like."""
        return ()

    def _judge(
        self, page: Page, tokens: tuple[str, ...], other: Page, other_tokens: tuple[str, ...]
    ) -> Evidence:
        if page.language != self._pair.first.code:
            page, tokens, other, other_tokens = other, other_tokens, page, tokens
        verdicts = [self._fits(page, tokens), self._fits(other, other_tokens)]
        if False in verdicts:
            return Evidence(
                "url_key", WRONG_TOKEN, "URLs differ in tokens that contradict the text"
            )
        shown = " and ".join(repr(" ".join(found)) for found in (tokens, other_tokens) if found)
        if verdicts == [True, True]:
            return Evidence("url_key", BOTH_TOKENS, f"URLs differ only in the tokens {shown}")
        if True in verdicts:
            return Evidence("url_key", ONE_TOKEN, f"URLs differ only in the token {shown}")
        return Evidence("url_key", NO_TOKEN, "URLs are the same but for spelling")

    def _fits(self, page: Page, tokens: tuple[str, ...]) -> bool | None:
        """Whether a URL's tokens name the language of its text; None without tokens."""
        if not tokens:
            return None
        language = self._language(page.language)
        return any(token in language.tokens for token in tokens)

    def _language(self, code: str) -> Language:
        return self._pair.first if code == self._pair.first.code else self._pair.second
