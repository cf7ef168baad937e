"""Unicode normal forms of foreign text, in time that grows no faster than the text.

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
"""Marks that may follow each other; what comes after them is dropped."""
CODES = range(0x300, 0x20000)
"""Where the marks of all scripts are; the planes beyond have none."""
_STEP = 5


def normalize(form: Form, text: str) -> str:
    """Normalise any text; all code of the package that does so does it here."""
    return text if text.isascii() else _normalize(form, without_long_runs(text))


def without_long_runs(text: str) -> str:
    """Cut every run of marks after the first `MOST_MARKS`.

    Every fifth character is looked at first. A run of more than 30 marks shows there as six in
    a row, which ordinary text hardly ever has, not even Hebrew with all its points.
    """
    few, run = _patterns()
    return run.sub(r"\1", text) if few.search(text[::_STEP]) else text


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what a long run looks like at every fifth place, and in full.

    Made when first needed. The class is written as what is no mark, because `re` finds the
    letters of most languages in it at once.
    """
    others = "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in _between_marks())
    mark = f"[^{others}]"
    few = re.compile(f"{mark}{{{MOST_MARKS // _STEP}}}")
    return few, re.compile(f"({mark}{{{MOST_MARKS}}}){mark}+")


def _between_marks() -> Iterator[tuple[int, int]]:
    """Yield the characters that sorting does not move, as ranges."""
    first = 0
    for code in filter(_is_mark, CODES):
        if code > first:
            yield first, code - 1
        first = code + 1
    yield first, 0x10FFFF


def _is_mark(code: int) -> bool:
    """Return True if a character is a mark, or begins with one when it is decomposed."""
    return combining(_normalize("NFKD", chr(code))[0]) > 0
