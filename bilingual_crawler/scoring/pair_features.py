"""What two URLs have in common, in numbers: comparisons that a small model need not learn.

Whether two URLs are equal except for their language tokens, share their numbers, or have equally
many words is easy to compute and hard to learn from a few hundred sites. Every number is the same
for both orders of a pair, and between 0 and about 4. Words without an equal in the other URL go to
the model as hashed n-grams, to be compared across languages.
"""

import math
import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz
from rapidfuzz.distance import JaroWinkler, Postfix, Prefix

from bilingual_crawler.languages import all_languages
from bilingual_crawler.languages.normal_forms import normalize
from bilingual_crawler.scoring.preprocess import LONGEST
from bilingual_crawler.urls.hosts import split_host
from bilingual_crawler.urls.language_tokens import UrlKey, announced_languages, url_key

LONG_NUMBER = 3
"""The least number of digits that are hardly shared by chance."""
MOST_WORDS = 12
"""The most words of a URL that are compared letter by letter with those of another."""
_PARTS = re.compile(r"[^\W\d_]+|\d+")
_EXTENSION = re.compile(r"\.([a-z][a-z0-9]{1,4})$")
_REMEMBERED = 1 << 12
"""Cached URLs, a kilobyte each: those of a page's candidates come together."""


class UrlParts(NamedTuple):
    """A URL taken apart for comparison, without language tokens and accents."""

    key: UrlKey
    languages: frozenset[str]
    labels: str
    body: str
    segments: tuple[str, ...]
    stem: str
    stem_words: int
    extension: str
    words: frozenset[str]
    numbers: frozenset[str]


@cache
def all_tokens() -> frozenset[str]:
    """Return the tokens of every language in the table, for URLs of unknown languages."""
    return frozenset().union(*(language.tokens for language in all_languages()))


def stripped(url: str, tokens: frozenset[str]) -> UrlKey:
    """Return a URL without its language tokens; one that cannot be parsed stays as it is."""
    try:
        return url_key(url[:LONGEST], tokens)
    except ValueError:
        return UrlKey(url[:LONGEST], ())


@lru_cache(maxsize=_REMEMBERED)
def url_parts(url: str) -> UrlParts:
    """Take a URL apart, once however many others it is compared with."""
    key = stripped(url, all_tokens())
    host, _, rest = key.key.partition("/")
    body = folded(rest)
    path, _, query = body.partition("?")
    segments = tuple(each for each in path.split("/") if each)
    last = segments[-1] if segments else ""
    ending = _EXTENSION.search(last)
    stem = last[: ending.start()] if ending else last
    extension = ending[1] if ending else ""
    parts = _PARTS.findall(path[: len(path) - len(extension)] if ending else path)
    parts += _PARTS.findall(query)
    return UrlParts(
        key=key,
        languages=announced_languages(url),
        labels=split_host(host).subdomain,
        body=body,
        segments=segments,
        stem=stem,
        stem_words=len(_PARTS.findall(stem)),
        extension=extension,
        words=frozenset(part for part in parts if not part.isdigit()),
        numbers=frozenset(part for part in parts if part.isdigit()),
    )


def folded(text: str) -> str:
    """Return a text without accents: slugs lose them in one language and keep them in the other."""
    if text.isascii():
        return text
    return "".join(each for each in normalize("NFKD", text) if not unicodedata.combining(each))


def lone_words(first: str, second: str) -> tuple[str, str]:
    """Return the words that only one of two URLs has, as two texts with blanks around words."""
    one, two = url_parts(first), url_parts(second)
    return _text(one, two), _text(two, one)


def _text(one: UrlParts, two: UrlParts) -> str:
    alone = one.words - two.words
    if not alone:
        return ""
    return f" {' '.join(part for part in _PARTS.findall(one.body) if part in alone)} "


def pair_features(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    """Return a row of `FEATURES` for every pair of URLs."""
    rows = [_compare(url_parts(first), url_parts(second)) for first, second in pairs]
    return np.array(rows, dtype=np.float32).reshape(len(pairs), len(FEATURES))


FEATURES = (
    "equal but for language tokens",
    "equal keys",
    "equal tokens",
    "both have tokens",
    "one has tokens",
    "different languages announced",
    "the same language announced",
    "one language announced",
    "subdomains equal",
    "subdomains",
    "similarity of keys",
    "similarity of paths",
    "similarity of last parts",
    "similarity of last parts, beginning first",
    "similarity of words in any order",
    "depths equal",
    "difference of depths",
    "smaller depth",
    "larger depth",
    "equal directories",
    "equal directories from the end",
    "least similar directory",
    "last parts equal",
    "endings equal",
    "numbers in common",
    "long numbers in common",
    "numbers apart",
    "long numbers apart",
    "share of numbers in common",
    "only one has numbers",
    "words in common",
    "share of words in common",
    "words apart",
    "difference of words apart",
    "least words apart",
    "letters in common",
    "letters apart",
    "cognates: mean",
    "cognates: best",
    "cognates: least",
    "difference of words in last part",
    "words in last part",
    "ratio of lengths of last parts",
    "length of last part",
    "ratio of lengths",
    "equal letters at the front",
    "equal letters at the end",
    "one is a home page",
    "both are home pages",
)


def _compare(one: UrlParts, two: UrlParts) -> tuple[float, ...]:
    same_key, tokens = one.key.key == two.key.key, (one.key.tokens, two.key.tokens)
    languages = (one.languages, two.languages)
    depths = (len(one.segments), len(two.segments))
    deepest = max(*depths, 1)
    equal, equal_last, least = _segments(one.segments, two.segments)
    stems = (len(one.stem), len(two.stem))
    stem_words = (one.stem_words, two.stem_words)
    return (
        same_key and tokens[0] != tokens[1],
        same_key,
        tokens[0] == tokens[1],
        bool(tokens[0]) and bool(tokens[1]),
        bool(tokens[0]) != bool(tokens[1]),
        bool(languages[0]) and bool(languages[1]) and languages[0].isdisjoint(languages[1]),
        not languages[0].isdisjoint(languages[1]),
        bool(languages[0]) != bool(languages[1]),
        one.labels == two.labels,
        bool(one.labels) + bool(two.labels),
        fuzz.ratio(one.key.key, two.key.key) / 100,
        fuzz.ratio(one.body, two.body) / 100,
        fuzz.ratio(one.stem, two.stem) / 100,
        JaroWinkler.similarity(one.stem, two.stem),
        fuzz.token_sort_ratio(one.stem, two.stem) / 100,
        depths[0] == depths[1],
        abs(depths[0] - depths[1]) / 2,
        min(depths) / 2,
        max(depths) / 2,
        equal / deepest,
        equal_last / deepest,
        least,
        bool(one.stem) and one.stem == two.stem,
        one.extension == two.extension,
        *_numbers(one.numbers, two.numbers),
        *_words(one.words, two.words),
        math.log1p(abs(stem_words[0] - stem_words[1])),
        math.log1p(min(stem_words)),
        abs(math.log((1 + stems[0]) / (1 + stems[1]))),
        math.log1p(min(stems)) / 2,
        abs(math.log((1 + len(one.body)) / (1 + len(two.body)))),
        *_edges(one.body, two.body),
        (depths[0] == 0) != (depths[1] == 0),
        depths == (0, 0),
    )


def _segments(one: Sequence[str], two: Sequence[str]) -> tuple[int, int, float]:
    """Return equal directories from the front and the end, and the least similarity of any two."""
    equal = sum(left == right for left, right in zip(one, two, strict=False))
    last = sum(left == right for left, right in zip(one[::-1], two[::-1], strict=False))
    ratios = (
        fuzz.ratio(left, right)
        for left, right in zip(one[::-1], two[::-1], strict=False)
        if left != right
    )
    return equal, last, min(ratios, default=100.0) / 100


def _numbers(one: frozenset[str], two: frozenset[str]) -> tuple[float, ...]:
    both, apart, every = one & two, one ^ two, one | two
    return (
        math.log1p(len(both)),
        math.log1p(sum(len(each) >= LONG_NUMBER for each in both)),
        math.log1p(len(apart)),
        math.log1p(sum(len(each) >= LONG_NUMBER for each in apart)),
        len(both) / len(every) if every else 0.5,
        bool(one) != bool(two),
    )


def _words(one: frozenset[str], two: frozenset[str]) -> tuple[float, ...]:
    both, left, right = one & two, one - two, two - one
    every = len(both) + len(left) + len(right)
    likest = _cognates(left, right)
    return (
        math.log1p(len(both)),
        len(both) / every if every else 1.0,
        math.log1p(len(left) + len(right)),
        math.log1p(abs(len(left) - len(right))),
        math.log1p(min(len(left), len(right))),
        math.log1p(sum(map(len, both))) / 2,
        math.log1p(sum(map(len, left)) + sum(map(len, right))) / 2,
        *likest,
    )


def _cognates(left: frozenset[str], right: frozenset[str]) -> tuple[float, float, float]:
    """Return how similar words are to the most similar of the other URL: mean, best, worst."""
    if not left or not right:
        nothing = 1.0 if not left and not right else 0.0
        return nothing, nothing, nothing
    ones, twos = sorted(left)[:MOST_WORDS], sorted(right)[:MOST_WORDS]
    table = [[JaroWinkler.similarity(one, two) for two in twos] for one in ones]
    best = [max(row) for row in table] + [max(column) for column in zip(*table, strict=True)]
    return sum(best) / len(best), max(best), min(best)


def _edges(one: str, two: str) -> tuple[float, float]:
    """Return how much of the longer path is equal at the front, and how much more at the end."""
    longest = max(len(one), len(two), 1)
    front = Prefix.similarity(one, two)
    end = min(Postfix.similarity(one, two), min(len(one), len(two)) - front)
    return front / longest, end / longest
