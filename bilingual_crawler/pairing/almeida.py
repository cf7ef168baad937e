"""Validation of candidate pairs by Almeida et al. (2002): five plain comparisons.

Text sizes, file names, final punctuation, links and images are compared in this order; a comparison
below its minimum ends the validation. The weighted mean of all must reach a threshold. Weights,
minimums and threshold depend on the file type; the defaults are those of the paper's first
experiment.

What a page lacks (links, images) is not compared and has no weight.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal
from urllib.parse import unquote, urlsplit

from rapidfuzz.distance import Indel

from bilingual_crawler.pairing.pair import Evidence, PairingPage
from bilingual_crawler.pairing.profile import Hashes, members, passing, ratio

Heuristic = Literal["size", "name", "punctuation", "links", "images"]
Tokens = frozenset[str]

LONGEST_NAME = 200
_WORD = re.compile(r"[^\W\d_]+")
_ENDING = re.compile(r"\.([a-z][a-z0-9]{1,4})$")
_HTML = ("htm", "html", "xhtml", "shtml", "php", "asp", "aspx", "jsp", "jsf", "cfm", "cgi", "do")
_TYPES = MappingProxyType(
    dict.fromkeys(_HTML, "html")
    | {"txt": "text", "md": "text", "pdf": "pdf", "rtf": "rtf", "ps": "ps"}
    | dict.fromkeys(("doc", "docx", "odt"), "document")
)


@dataclass(slots=True, frozen=True)
class Validation:
    """How files of a type are validated; a heuristic that is not named has no weight."""

    weights: Mapping[Heuristic, float] = field(
        default_factory=lambda: MappingProxyType(
            {"size": 1.0, "name": 1.0, "punctuation": 1.0, "links": 1.0, "images": 1.0}
        )
    )
    minimums: Mapping[Heuristic, float] = field(
        default_factory=lambda: MappingProxyType({"size": 0.5})
    )
    accept: float = 0.75


DEFAULTS: Mapping[str, Validation] = MappingProxyType(
    {each: Validation() for each in sorted(set(_TYPES.values()))}
)
"""The validation of every known file type."""


def judge(
    first: PairingPage,
    second: PairingPage,
    tokens: Tokens,
    validations: Mapping[str, Validation] = DEFAULTS,
) -> Evidence | None:
    """Return True if the validation accepts two pages; None where one has no text.

    `tokens` are the pieces of URLs that name one of the two languages.
    """
    if not first.profile.characters or not second.profile.characters:
        return None
    kind = file_type(first.url, tokens)
    if kind is None or kind != file_type(second.url, tokens) or kind not in validations:
        return Evidence("almeida", 0.0, "files of different types")
    validation = validations[kind]
    total = weight = 0.0
    said = []
    for name, value in _compared(first, second, tokens):
        least = validation.minimums.get(name, 0.0)
        if value < least:
            return Evidence(
                "almeida", passing(value, least), f"{name} {value:.0%}, below {least:.0%}"
            )
        total += value * validation.weights.get(name, 0.0)
        weight += validation.weights.get(name, 0.0)
        said.append(f"{name} {value:.0%}")
    mean = total / weight if weight else 0.0
    return Evidence("almeida", passing(mean, validation.accept), ", ".join(said))


def _compared(
    first: PairingPage, second: PairingPage, tokens: Tokens
) -> Iterator[tuple[Heuristic, float]]:
    one, other = first.profile, second.profile
    yield "size", ratio(one.characters, other.characters)
    names = (normalised_name(file_name(page.url), tokens) for page in (first, second))
    yield "name", text_similarity(*names)
    if one.punctuation or other.punctuation:
        yield "punctuation", text_similarity(one.punctuation, other.punctuation)
    if one.links or other.links:
        yield "links", shared_matches(one.links, other.links)
    if one.images or other.images:
        yield "images", shared_matches(one.images, other.images)


text_similarity: Callable[[str, str], float] = Indel.normalized_similarity
"""1 minus the insertions and deletions between two texts, divided by the sum of their lengths."""


def shared_matches(one: Hashes, other: Hashes) -> float:
    """Return how many of the matches in both files have a counterpart in the other."""
    first, second = members(one), members(other)
    total = len(first) + len(second)
    return 2 * len(first & second) / total if total else 1.0


def normalised_name(name: str, tokens: Tokens) -> str:
    """Return the letters of a name without ending and language affixes."""
    stem, _ = _without_ending(name.lower(), tokens)
    words = _WORD.findall(stem[:LONGEST_NAME])
    return "".join(word for word in words if word not in tokens)


def file_name(url: str) -> str:
    """Return the last part of the path."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return ""
    return unquote(path).rstrip("/").rpartition("/")[2]


def file_type(url: str, tokens: Tokens = frozenset()) -> str | None:
    """Return the type of a file by the ending of its name; None if it is unknown.

    A name without an ending is a page; a language at the end (`core.html.fr`) is not an ending.
    """
    _, ending = _without_ending(file_name(url).lower(), tokens)
    return _TYPES.get(ending) if ending else "html"


def _without_ending(name: str, tokens: Tokens) -> tuple[str, str]:
    """Return a name without its ending and any language after it, and the ending itself."""
    while found := _ENDING.search(name):
        name = name[: found.start()]
        if found[1] in _TYPES or found[1] not in tokens:
            return name, found[1]
    return name, ""
