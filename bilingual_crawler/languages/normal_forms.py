"""Unicode normal forms of untrusted text, in linear time.

To normalise, Unicode sorts the marks of each letter, and Python sorts them by insertion: a
letter with a hundred thousand marks takes minutes. So runs of marks are cut first. Unicode's own
limit for such runs is 30 (UAX #15, Stream-Safe Text Format); no script needs more than a few.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal
from unicodedata import combining
from unicodedata import normalize as _normalize  # noqa: TID251 - made safe here

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

MOST_MARKS = 30
"""Marks that may follow each other; further ones are dropped."""
CODES = range(0x300, 0x20000)
"""The range of the marks of all scripts."""
_STEP = 5


def normalize(form: Form, text: str) -> str:
    """Normalise any text; the package uses no other function for this."""
    return text if text.isascii() else _normalize(form, without_long_runs(text))


def without_long_runs(text: str) -> str:
    """Cut every run of marks after the first `MOST_MARKS`.

    First only every fifth character is checked. A run of more than 30 marks appears there as six
    in a row, which ordinary text hardly ever has, not even Hebrew with all its points.
    """
    few, run = _patterns()
    return run.sub(r"\1", text) if few.search(text[::_STEP]) else text


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a long run, for every fifth character and for all.

    They are made when first needed. The character class lists everything that is not a mark,
    because `re` finds the letters of most languages in it at once.
    """
    others = "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in _between_marks())
    mark = f"[^{others}]"
    few = re.compile(f"{mark}{{{MOST_MARKS // _STEP}}}")
    return few, re.compile(f"({mark}{{{MOST_MARKS}}}){mark}+")


def _between_marks() -> Iterator[tuple[int, int]]:
    """Yield the ranges of characters that are not marks."""
    first = 0
    for code in filter(_is_mark, CODES):
        if code > first:
            yield first, code - 1
        first = code + 1
    yield first, 0x10FFFF


def _is_mark(code: int) -> bool:
    """Return True if a character is a mark, or begins with one when it is decomposed."""
    return combining(_normalize("NFKD", chr(code))[0]) > 0
