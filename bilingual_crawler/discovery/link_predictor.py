"""How likely a link leads to the page's version in another language, before it is followed.

A linear support vector machine whose margins Platt's sigmoid turns into probabilities, as in
Barbosa et al. It is trained with scikit-learn (`lab/training/links.py`, `scrapy train links`) and
shipped as weights alone. A link has about twenty features out of thousands, so a table of weights
by name is both the smallest and the fastest way to add them up: no matrix, and nothing to install.

The features are words of five contexts, also those of Barbosa et al.: the URL, the anchor, the text
around it, the alternative text of an image and the address of the image. Each is tagged with its
context, so that "home" in an anchor and "home" in a URL are different.

A predictor that learned "español" would be useless in the search for Basque. So a word that names a
language is never a feature itself; what counts is which language it names: a `wanted` one, the
page's `own`, or one `foreign` to both. The same goes for URLs, which are compared with that of the
page: equal except for a language token, or the home page of a language.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from math import exp
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import unquote, urlsplit

from bilingual_crawler.documents.document import Link
from bilingual_crawler.documents.machine import is_translating_proxy
from bilingual_crawler.documents.switches import (
    LEAST_NAME,
    LONGEST_SOURCE,
    languages_named,
    languages_of_link,
    languages_shown,
)
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import ParallelLanguages, language_of_tag, languages_of_token
from bilingual_crawler.urls.hosts import host_of, site_of
from bilingual_crawler.urls.language_tokens import UrlKey, announced_languages, url_key

MOST_WORDS = {"url": 10, "anchor": 6, "around": 12, "alt": 6, "src": 6}
"""The most words that are read of each context."""
LONGEST_TEXT = 300
LIST_WORDS = 12
"""A text around a link with at most this many words may be a list of language codes."""
MANY = 3
NO_HOST = "localhost"

_WORDS = re.compile(r"[^\W\d_]{2,}")
_NONE: frozenset[str] = frozenset()


class _Seeker(NamedTuple):
    """The page of the links, and the languages that are sought from it."""

    host: str
    site: str
    key: UrlKey
    tokens: frozenset[str]
    wanted: frozenset[str]
    own: frozenset[str]

    def relation(self, codes: frozenset[str]) -> str:
        """Return how the named languages relate to the wanted ones; "" if none is named."""
        if not codes:
            return ""
        if codes & self.wanted:
            return "wanted"
        return "own" if codes & self.own else "foreign"

    def announced(self, url: str) -> str:
        """Return how the language that a URL announces relates to the wanted ones."""
        return self.relation(announced_beside(url, self.host)) or "nothing"


def link_features(
    links: Sequence[Link], page_url: str, languages: ParallelLanguages, language: str = ""
) -> list[list[str]]:
    """Return the features of each link of a page, in the order of the links.

    `language` is that of the page; if it is unknown, its URL may announce one.
    """
    seeker = _seeker(page_url, languages, language)
    named = [seeker.relation(languages_of_link(link)) for link in links]
    counts = Counter(named)
    return [
        list(dict.fromkeys(_features(link, relation, counts, seeker)))
        for link, relation in zip(links, named, strict=True)
    ]


def sought_languages(
    page_url: str, languages: ParallelLanguages, language: str = ""
) -> frozenset[str]:
    """Return the wanted languages that a page is not in, as far as that is known."""
    return languages.sought_from(None) - _own_language(page_url, languages, language)


def announced_beside(url: str, host: str) -> frozenset[str]:
    """Return the languages that a URL announces to a reader who comes from `host`.

    What both hosts contain is no announcement: blog.example.eu is not in Basque.
    """
    if host and host == host_of(url):
        url = url.replace(host, NO_HOST, 1)
    return announced_languages(url)


def _own_language(page_url: str, languages: ParallelLanguages, language: str) -> frozenset[str]:
    if language:
        return frozenset((language,))
    announced = announced_languages(page_url) & languages.sought_from(None)
    return announced if len(announced) == 1 else _NONE


def _seeker(page_url: str, languages: ParallelLanguages, language: str) -> _Seeker:
    tokens = languages.tokens
    own = _own_language(page_url, languages, language)
    return _Seeker(
        host=host_of(page_url),
        site=site_of(host_of(page_url)),
        key=url_key(page_url, tokens),
        tokens=tokens,
        wanted=languages.sought_from(None) - own,
        own=own,
    )


def _features(link: Link, named: str, counts: Counter[str], seeker: _Seeker) -> Iterator[str]:
    where = list(_address(link.url, seeker))
    yield from where
    yield from _texts(link, seeker)
    if link.hreflang:
        declared = language_of_tag(link.hreflang)
        codes = frozenset((declared.code,)) if declared else _NONE
        yield f"hreflang <{seeker.relation(codes) or 'unknown'}>"
    if "nofollow" in link.rel:
        yield "rel nofollow"
    if named:
        yield f"names <{named}>"
        yield f"names <{named}>, {min(counts[named], MANY)} links do"
        yield from (f"names <{named}>, {each}" for each in where if "<" in each)
    else:
        yield "names <nothing>"
        yield from (f"names <nothing>, {each}" for each in where if "<" in each)


def _address(url: str, seeker: _Seeker) -> Iterator[str]:
    """Yield features of the URL by itself, and compared with that of the page."""
    if is_translating_proxy(url):
        yield "url <translating proxy>"
    if site_of(host_of(url)) != seeker.site:
        yield "url <other site>"
    else:
        yield f"url <{_place(url, seeker)}>"
    yield f"url <announces {seeker.announced(url)}>"
    words = _path_words(url)
    yield from (f"url {word}" for word in words if not languages_of_token(word))


def _place(url: str, seeker: _Seeker) -> str:
    """Return how an address on the same site differs from that of the page."""
    key = url_key(url, seeker.tokens)
    if key.key == seeker.key.key:
        return "same page" if key.tokens == seeker.key.tokens else "same but for its language"
    if key.key.partition("/")[2] == "?":
        return f"home, announces {seeker.announced(url)}"
    return f"elsewhere, announces {seeker.announced(url)}"


@lru_cache(maxsize=1 << 12)
def _path_words(url: str) -> tuple[str, ...]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ()
    text = unquote(f"{parts.path} {parts.query}"[-LONGEST_TEXT:]).lower()
    return tuple(_WORDS.findall(text)[-MOST_WORDS["url"] :])


def _texts(link: Link, seeker: _Seeker) -> Iterator[str]:
    anchor = _words(link.anchor, "anchor")
    yield from _named("anchor", anchor, languages_named(link.anchor), seeker)
    if not link.image_src:
        yield f"anchor <{_length(len(anchor))}>"
    around = _words(link.context, "around")
    listed = _listed(around)
    yield from (f"around <{seeker.relation(codes)}>" for codes in listed)
    yield f"around <{min(len(listed), MANY)} languages>"
    known = set(anchor)
    yield from (f"around {w}" for w in around if w not in known and not languages_of_token(w))
    if link.image_src:
        alt, source = link.image_alt, link.image_src[-LONGEST_SOURCE:]
        yield "src <image>"
        yield from _named("alt", _words(alt, "alt"), languages_named(alt), seeker)
        yield from _named("src", _file_words(source), languages_shown(source), seeker)


def _named(
    context: str, words: Sequence[str], codes: frozenset[str], seeker: _Seeker
) -> Iterator[str]:
    """Yield the words of a context; names of languages by how these relate to the wanted ones."""
    if codes:
        yield f"{context} <{seeker.relation(codes)}>"
    yield from (f"{context} {word}" for word in words if not (codes and languages_of_token(word)))


def _listed(words: Sequence[str]) -> list[frozenset[str]]:
    """Return the languages that a text names, each once."""
    codes_count = len(words) <= LIST_WORDS
    found = (languages_of_token(word) for word in words if codes_count or _names(word))
    return list(dict.fromkeys(codes for codes in found if codes))


def _names(word: str) -> bool:
    """Return True if a word in a sentence names a language; codes may be ordinary words."""
    return len(word) >= LEAST_NAME and bool(languages_of_token(word))


def _words(text: str, context: str) -> list[str]:
    return _WORDS.findall(text[:LONGEST_TEXT].lower())[: MOST_WORDS[context]]


def _file_words(source: str) -> list[str]:
    try:
        path = urlsplit(source).path
    except ValueError:
        return []
    return _WORDS.findall(unquote(path).lower())[-MOST_WORDS["src"] :]


def _length(words: int) -> str:
    if words > MANY:
        return "long"
    return ("empty", "one word", "two words", "three words")[words]


FILE = "link_predictor.json"
LARGEST_MARGIN = 500.0
"""The margin beyond which the exponential would overflow."""


@dataclass(frozen=True, slots=True)
class LinkPredictor:
    """The weights of features, and the sigmoid that turns their sum into a probability."""

    weights: Mapping[str, float]
    bias: float
    slope: float
    """Platt's A: how fast the margin becomes certainty; below zero in a sound model."""
    offset: float
    """Platt's B."""
    about: Mapping[str, Any]

    @classmethod
    def load(cls, path: str = "") -> "LinkPredictor":
        """Return the predictor in a file, or the shipped one."""
        if not path:
            return _own_predictor()
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"The link predictor in {path} cannot be read: {error}.",
                "Write BILINGUAL_LINK_PREDICTOR as the path of a file of scrapy train links.",
            ) from None
        return cls.from_json(text, path)

    @classmethod
    def from_json(cls, text: str, where: str) -> Self:
        """Read a predictor; refuse anything else."""
        try:
            fields = json.loads(text)
            return cls(
                weights={str(name): float(value) for name, value in fields["weights"].items()},
                bias=float(fields["bias"]),
                slope=float(fields["slope"]),
                offset=float(fields["offset"]),
                about=dict(fields.get("about", {})),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigurationError(
                f"{where} is not a link predictor ({error!r}).",
                "Make one with scrapy train links, or leave BILINGUAL_LINK_PREDICTOR empty.",
            ) from None

    def to_json(self) -> str:
        """Return the predictor as JSON: one weight per line, heaviest first."""
        ordered = sorted(self.weights.items(), key=lambda each: (-abs(each[1]), each[0]))
        weights = {name: round(value, 4) for name, value in ordered if round(value, 4)}
        fields = {
            "about": dict(self.about),
            "bias": round(self.bias, 4),
            "slope": round(self.slope, 4),
            "offset": round(self.offset, 4),
            "weights": weights,
        }
        return json.dumps(fields, indent=1, ensure_ascii=False) + "\n"

    def likelihoods(
        self, links: Sequence[Link], page_url: str, languages: ParallelLanguages, language: str = ""
    ) -> list[float]:
        """Return how likely each link leads to the page's version in another wanted language.

        `language` is the ISO 639-3 code of the page; without it, what the URL announces counts.
        Give all links of the page at once, because a switch is recognised by its neighbours.
        """
        found = link_features(links, page_url, languages, language)
        return [self.probability(self.margin(features)) for features in found]

    def margin(self, features: Sequence[str]) -> float:
        """Return on which side of the plane some features are, and how far from it."""
        weights = self.weights
        return self.bias + sum(weights.get(feature, 0.0) for feature in features)

    def probability(self, margin: float) -> float:
        """Apply Platt's sigmoid."""
        exponent = self.slope * margin + self.offset
        return 1 / (1 + exp(max(-LARGEST_MARGIN, min(LARGEST_MARGIN, exponent))))


@cache
def _own_predictor() -> LinkPredictor:
    text = files("bilingual_crawler").joinpath("data", FILE).read_text(encoding="utf-8")
    return LinkPredictor.from_json(text, FILE)
