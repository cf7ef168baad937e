"""The validation of candidate pairs by Almeida et al. (2002): five plain comparisons.

Sizes of the text, names of the files, final punctuation, links and images are compared, in
this order; a comparison below its minimum ends the validation. The weighted mean of all
must reach a threshold. Weights, minimums and the threshold belong to the type of the files;
the defaults are those of the paper's first experiment.

What a page does not have (links, images) is not compared and weighs nothing.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal
from urllib.parse import unquote, urlsplit

from rapidfuzz.distance import Indel

from bilingual_crawler.pairing.comparison import passing, ratio
from bilingual_crawler.pairing.pair import Evidence, PairingPage
from bilingual_crawler.pairing.profile import Hashes, members

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
    """How files of a type are validated; a heuristic that is not named weighs nothing."""

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
"""The validation of every type of file that is known."""


def judge(
    first: PairingPage,
    second: PairingPage,
    tokens: Tokens,
    validations: Mapping[str, Validation] = DEFAULTS,
) -> Evidence | None:
    """Whether the validation accepts two pages; None where one has no text.

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
"""1 less the insertions and deletions between two texts by the sum of their lengths."""


def shared_matches(one: Hashes, other: Hashes) -> float:
    """How many of the matches in both files have their like in the other one."""
    first, second = members(one), members(other)
    total = len(first) + len(second)
    return 2 * len(first & second) / total if total else 1.0


def normalised_name(name: str, tokens: Tokens) -> str:
    """A name without ending, language affixes and all that is no letter: `Index_pt.html`: index."""
    stem, _ = _without_ending(name.lower(), tokens)
    words = _WORD.findall(stem[:LONGEST_NAME])
    return "".join(word for word in words if word not in tokens)


def file_name(url: str) -> str:
    """The last part of the path."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return ""
    return unquote(path).rstrip("/").rpartition("/")[2]


def file_type(url: str, tokens: Tokens = frozenset()) -> str | None:
    """The type of a file by the ending of its name; None for an unknown one.

    A name without an ending is a page; a language at the end (`core.html.fr`) is no ending.
    """
    _, ending = _without_ending(file_name(url).lower(), tokens)
    return _TYPES.get(ending) if ending else "html"


def _without_ending(name: str, tokens: Tokens) -> tuple[str, str]:
    """A name without its ending and any language after it, and the ending."""
    while found := _ENDING.search(name):
        name = name[: found.start()]
        if found[1] in _TYPES or found[1] not in tokens:
            return name, found[1]
    return name, ""
