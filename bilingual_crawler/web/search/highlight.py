"""Hits made visible: a text in pieces, and as much of it as is asked for."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from bilingual_crawler.languages.unicode_ranges import UNSPACED
from bilingual_crawler.web.search.query import Span

ELLIPSIS = "…"
_STEP = re.compile(rf"[{UNSPACED}]{{2}}|[^\s{UNSPACED}]+")
"""A word; two characters stand for a word in scripts without spaces."""


class Piece(NamedTuple):
    """A part of a text, and whether it is what was searched for."""

    text: str
    hit: bool = False


def pieces(text: str, spans: Sequence[Span], words: int | None = None) -> list[Piece]:
    """The text cut at its hits; with `words`, only so many on each side of the first and last."""
    begin, end = (0, len(text)) if words is None or not spans else _window(text, spans, words)
    found: list[Piece] = [Piece(ELLIPSIS)] if begin > 0 else []
    at = begin
    for start, stop in spans:
        if start < at or stop > end:
            continue
        if start > at:
            found.append(Piece(text[at:start]))
        found.append(Piece(text[start:stop], hit=True))
        at = stop
    if at < end:
        found.append(Piece(text[at:end]))
    if end < len(text):
        found.append(Piece(ELLIPSIS))
    return found


def _window(text: str, spans: Sequence[Span], words: int) -> Span:
    """From `words` before the first hit to `words` after it, and after further hits in reach."""
    first = spans[0]
    before = [each.start() for each in _STEP.finditer(text, 0, first[0])]
    begin = before[-words] if len(before) > words else 0
    end = first[1]
    for span in spans:
        if span[0] > end:
            break
        after = [each.end() for each in _first(text, span[1], words + 1)]
        end = after[words - 1] if len(after) > words else len(text)
    return begin, max(end, first[1])


def _first(text: str, begin: int, most: int) -> list[re.Match[str]]:
    found = []
    for each in _STEP.finditer(text, begin):
        found.append(each)
        if len(found) == most:
            break
    return found
