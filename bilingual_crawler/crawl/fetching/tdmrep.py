"""The file `/.well-known/tdmrep.json` of a site: which of its pages may not be mined.

This is the file of the TDM Reservation Protocol (W3C Community Group report): a JSON list
of rules, each with a `location` pattern written as in robots.txt and a `tdm-reservation`
of 0 or 1. "The most specific match is the first in sequence": the first rule that matches
a page decides, and without one nothing is reserved.
"""

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

PATH = "/.well-known/tdmrep.json"
LARGEST_FILE = 256 * 1024
LONGEST_PATTERN = 1000

_NO_TEXT = re.compile("[\ud800-\udfff\ufffd]+")
"""Half characters, and what stands in the place of bytes that are none."""
_HALF_ESCAPE = re.compile("%[0-9A-Fa-f]?$")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


@dataclass(frozen=True, slots=True)
class ReservationRule:
    """Whether the pages that match a pattern are reserved."""

    parts: tuple[str, ...]
    to_the_end: bool
    reserved: bool

    def matches(self, path: str) -> bool:
        """Whether a path begins with the parts, with anything between them.

        Taking the first place where each part occurs is enough, so hostile patterns cost
        no more than one pass over the path for each part.
        """
        first, *middle = self.parts
        if not path.startswith(first):
            return False
        position = len(first)
        last = middle.pop() if self.to_the_end and middle else None
        for part in middle:
            position = path.find(part, position)
            if position < 0:
                return False
            position += len(part)
        if last is not None:
            return path.endswith(last) and len(path) - len(last) >= position
        return not self.to_the_end or position == len(path)


EVERYTHING = (ReservationRule(("",), to_the_end=False, reserved=True),)
"""The rules of a site that reserves all its pages."""


class UnreadableError(ValueError):
    """A tdmrep.json that is there but cannot be read: nobody knows what its owner wants."""


def read_rules(body: bytes) -> tuple[ReservationRule, ...]:
    """The rules of a tdmrep.json file; UnreadableError where there is a file but no telling them.

    An empty file and a web page, with which many servers answer whatever they are asked for,
    are no such file. One broken rule does not void the others. A single rule without the list
    around it is understood.
    """
    if len(body) > LARGEST_FILE:
        raise UnreadableError(f"tdmrep.json is larger than {LARGEST_FILE} bytes.")
    text = body.decode(json.detect_encoding(body), "replace").strip("\ufeff\0 \t\r\n")
    if not text or text.startswith("<"):
        return ()
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableError("tdmrep.json is not JSON.") from None
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        raise UnreadableError("tdmrep.json is no list of rules.")
    rules = tuple(filter(None, map(_rule, content)))
    if content and not rules:
        raise UnreadableError("tdmrep.json has no rule that can be read.")
    return rules


def is_reserved(url: str, rules: tuple[ReservationRule, ...]) -> bool:
    """Whether the first rule that matches a page reserves it."""
    if not rules:
        return False
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    path = _normal(path).replace("*", "%2A").replace("$", "%24")
    return next((rule.reserved for rule in rules if rule.matches(path)), False)


def _rule(entry: Any) -> ReservationRule | None:
    """A rule as the file has it; None where it is not one.

    What it cannot say precisely, it says broadly: a reservation in other words than 1 is one,
    without a location it is for the whole site, and characters that no address has stand for
    any. A rule that takes pages out of a reservation must say so plainly.
    """
    if not isinstance(entry, dict) or entry.get("tdm-reservation") is None:
        return None
    said = entry.get("location")
    pattern = _NO_TEXT.sub("*", said).strip() if isinstance(said, str) else "/"
    is_plain = isinstance(said, str) and not _NO_TEXT.search(said)
    reserved = str(entry["tdm-reservation"]).strip().lower() not in {"0", "0.0", "false"}
    if not reserved and not (is_plain and len(pattern) <= LONGEST_PATTERN):
        return None
    if len(pattern) > LONGEST_PATTERN:
        pattern = _HALF_ESCAPE.sub("", pattern[:LONGEST_PATTERN]).rstrip("$")
    if not pattern.startswith(("/", "*")):
        pattern = f"/{pattern}"
    to_the_end = pattern.endswith("$")
    parts = tuple(_normal(part) for part in pattern.removesuffix("$").split("*"))
    return ReservationRule(parts, to_the_end, reserved)


def _normal(path: str) -> str:
    """One spelling for one path: only what must be percent-encoded is."""
    encoded = quote(path, safe="%/?:@!$&'()*+,;=~#[]")
    return _ESCAPE.sub(_decoded, encoded)


def _decoded(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    return character if character in _UNRESERVED else escape[0].upper()
