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
MOST_RULES = 1000
LONGEST_PATTERN = 1000

_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


@dataclass(frozen=True, slots=True)
class Rule:
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


def read_rules(body: bytes) -> tuple[Rule, ...]:
    """The rules of a tdmrep.json file; none where it is broken or no such file."""
    if len(body) > LARGEST_FILE:
        return ()
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return ()
    if not isinstance(content, list):
        return ()
    rules = (_rule(entry) for entry in content[:MOST_RULES])
    return tuple(rule for rule in rules if rule is not None)


def is_reserved(url: str, rules: tuple[Rule, ...]) -> bool:
    """Whether the first rule that matches a page reserves it."""
    if not rules:
        return False
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    path = _normal(path).replace("*", "%2A").replace("$", "%24")
    return next((rule.reserved for rule in rules if rule.matches(path)), False)


def _rule(entry: Any) -> Rule | None:
    """A rule as the file has it; None where it is not one.

    A reservation written as text or as a truth value is understood: it says what its
    author wants.
    """
    if not isinstance(entry, dict):
        return None
    pattern, value = entry.get("location"), entry.get("tdm-reservation")
    if not isinstance(pattern, str) or len(pattern) > LONGEST_PATTERN:
        return None
    if str(value) not in {"0", "1", "True", "False"}:
        return None
    pattern = pattern.strip()
    if not pattern.startswith(("/", "*")):
        pattern = f"/{pattern}"
    to_the_end = pattern.endswith("$")
    parts = tuple(_normal(part) for part in pattern.removesuffix("$").split("*"))
    return Rule(parts, to_the_end, reserved=str(value) in {"1", "True"})


def _normal(path: str) -> str:
    """One spelling for one path: only what must be percent-encoded is."""
    encoded = quote(path, safe="%/?:@!$&'()*+,;=~#[]")
    return _ESCAPE.sub(_decoded, encoded)


def _decoded(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    return character if character in _UNRESERVED else escape[0].upper()
