"""The file `/.well-known/tdmrep.json` of a site, which says what may not be mined.

It is defined by the TDM Reservation Protocol (W3C Community Group report): a JSON list of rules,
each with a `location` pattern as in robots.txt and a `tdm-reservation` of 0 or 1. "The most
specific match is the first in sequence": the first rule that matches a page decides. A page
without a matching rule is not reserved.
"""

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

PATH = "/.well-known/tdmrep.json"
MAX_FILE = 256 * 1024
MAX_PATTERN = 1000

_NO_TEXT = re.compile("[\ud800-\udfff\ufffd]+")
"""Lone surrogates and replacement characters."""
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
        """Return True if a path begins with the parts, with anything between them.

        It is enough to take the first occurrence of each part, so hostile patterns cost at most
        one pass over the path per part.
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
    """A tdmrep.json that exists but cannot be read, so its owner's wishes are unknown."""


def read_rules(body: bytes) -> tuple[ReservationRule, ...]:
    """Return the rules of a tdmrep.json file; raise UnreadableError if it cannot be read.

    An empty file has no rules, and neither has a web page, which many servers send for any
    address. One broken rule does not void the others. A single rule without the list around it
    is accepted.
    """
    if len(body) > MAX_FILE:
        raise UnreadableError(f"tdmrep.json is larger than {MAX_FILE} bytes.")
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
        raise UnreadableError("tdmrep.json is not a list of rules.")
    rules = tuple(filter(None, map(_rule, content)))
    if content and not rules:
        raise UnreadableError("tdmrep.json has no readable rule.")
    return rules


def is_reserved(url: str, rules: tuple[ReservationRule, ...]) -> bool:
    """Return True if the first rule that matches a page reserves it."""
    if not rules:
        return False
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    path = _normal(path).replace("*", "%2A").replace("$", "%24")
    return next((rule.reserved for rule in rules if rule.matches(path)), False)


def _rule(entry: Any) -> ReservationRule | None:
    """Return the rule of an entry; None if it is not one.

    An imprecise reservation is read broadly: any value other than 0 reserves, a missing location
    means the whole site, and characters that no address has match anything. A rule that exempts
    pages must be exact.
    """
    if not isinstance(entry, dict) or entry.get("tdm-reservation") is None:
        return None
    said = entry.get("location")
    pattern = _NO_TEXT.sub("*", said).strip() if isinstance(said, str) else "/"
    is_plain = isinstance(said, str) and not _NO_TEXT.search(said)
    reserved = str(entry["tdm-reservation"]).strip().lower() not in {"0", "0.0", "false"}
    if not reserved and not (is_plain and len(pattern) <= MAX_PATTERN):
        return None
    if len(pattern) > MAX_PATTERN:
        pattern = _HALF_ESCAPE.sub("", pattern[:MAX_PATTERN]).rstrip("$")
    if not pattern.startswith(("/", "*")):
        pattern = f"/{pattern}"
    to_the_end = pattern.endswith("$")
    parts = tuple(_normal(part) for part in pattern.removesuffix("$").split("*"))
    return ReservationRule(parts, to_the_end, reserved)


def _normal(path: str) -> str:
    """Return the one normal spelling of a path, percent-encoding only what must be."""
    encoded = quote(path, safe="%/?:@!$&'()*+,;=~#[]")
    return _ESCAPE.sub(_decoded, encoded)


def _decoded(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    return character if character in _UNRESERVED else escape[0].upper()
