"""The licence of a page, as the page states it.

There are several ways to state one. Each is read in the one parse of the page, and the clearest of
them counts: rel=license, then schema.org (microdata or JSON-LD), then a <meta> element, then a
link to a licence of Creative Commons if there is only one such licence on the page. The licence of
an image or a data set on the page is not that of its text, so those of JSON-LD's media are left
out. Several licences of one rank are all named, separated by spaces: we do not choose for the user.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

LONGEST = 300
MOST = 3
"""Licences of one rank that are kept."""
MOST_SCRIPT = 200_000
DEEPEST = 8
_CREATIVE_COMMONS = re.compile(
    r"(?:https?:)?//(?:www\.)?creativecommons\.org/(?:licenses/[a-z-]+/\d|publicdomain/[a-z]+/\d)",
    re.IGNORECASE,
)
_NAMES = frozenset(("license", "licence", "dc.license", "dcterms.license", "dc.rights.license"))
_MEDIA = frozenset(
    (
        *("ImageObject", "VideoObject", "AudioObject", "MediaObject", "Photograph", "3DModel"),
        *("Dataset", "DataDownload", "SoftwareApplication", "SoftwareSourceCode"),
    )
)

Attributes = Mapping[str, str]


@dataclass(slots=True)
class LicenceMarks:
    """The statements about a licence that were seen while a page was read."""

    declared: dict[str, None] = field(default_factory=dict)
    structured: dict[str, None] = field(default_factory=dict)
    meta: dict[str, None] = field(default_factory=dict)
    linked: dict[str, None] = field(default_factory=dict)
    _script: list[str] | None = None
    _length: int = 0

    def read_link(self, attributes: Attributes) -> None:
        """Read the attributes of <a> or <link>."""
        href = attributes.get("href", "").strip()
        if "license" in attributes.get("rel", "").lower().split():
            _add(self.declared, href)
        elif attributes.get("itemprop") == "license":
            _add(self.structured, href)
        elif "creativecommons" in href and _CREATIVE_COMMONS.match(href):
            _add(self.linked, href)

    def read_meta(self, name: str, attributes: Attributes) -> None:
        """Read a <meta> element; `name` is in lower case."""
        if name in _NAMES:
            _add(self.meta, attributes.get("content", ""))
        elif attributes.get("itemprop") == "license":
            _add(self.structured, attributes.get("content", ""))

    def open_script(self, kind: str) -> None:
        """Begin a script; only JSON-LD is read."""
        is_data = kind.strip().lower().startswith("application/ld+json")
        self._script, self._length = ([] if is_data else None), 0

    def read_script_text(self, text: str) -> None:
        """Read a part of a script."""
        if self._script is not None and self._length < MOST_SCRIPT:
            self._script.append(text)
            self._length += len(text)

    def close_script(self) -> None:
        """Read what a script of JSON-LD says."""
        text = "".join(self._script or ())
        self._script = None
        if '"license"' not in text or len(text) > MOST_SCRIPT:
            return
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return
        for licence in _licences(found, DEEPEST):
            _add(self.structured, licence)

    def best(self) -> list[str]:
        """Return the licences of the clearest kind of statement; none if there is none."""
        linked = self.linked if len({_bare(each) for each in self.linked}) == 1 else {}
        found = self.declared or self.structured or self.meta or linked
        return list(found)[:1] if found is linked else list(found)[:MOST]


def is_address(licence: str) -> bool:
    """Return True if a licence is stated by its address rather than by its name."""
    return "/" in licence and " " not in licence


def _add(found: dict[str, None], licence: str) -> None:
    licence = " ".join(licence[: LONGEST + 1].split())
    if licence and len(licence) <= LONGEST and len(found) <= MOST:
        found[licence] = None


def _bare(address: str) -> str:
    """Return the address of a licence without protocol and language."""
    path = address.lower().partition("creativecommons.org/")[2]
    return "/".join(path.split("/")[:3])


def _licences(node: Any, depth: int) -> Iterator[str]:
    """Yield the licences in JSON-LD, except those of media."""
    if depth == 0:
        return
    if isinstance(node, list):
        for each in node:
            yield from _licences(each, depth - 1)
    elif isinstance(node, dict):
        kinds = node.get("@type")
        names = kinds if isinstance(kinds, list) else [kinds]
        if any(isinstance(each, str) and each in _MEDIA for each in names):
            return
        for key, value in node.items():
            if key == "license":
                yield from _named(value)
            elif isinstance(value, (dict, list)):
                yield from _licences(value, depth - 1)


def _named(value: Any) -> Iterator[str]:
    for each in value if isinstance(value, list) else [value]:
        name = (each.get("@id") or each.get("url")) if isinstance(each, dict) else each
        if isinstance(name, str):
            yield name
