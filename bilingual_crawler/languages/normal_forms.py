"""Unicode for untrusted text: normal forms in linear time, and the character ranges of scripts.

To normalise, Unicode sorts the marks of each letter, and Python sorts them by insertion: a
letter with a hundred thousand marks takes minutes. So runs of marks are cut first. Unicode's own
limit for such runs is 30 (UAX #15, Stream-Safe Text Format); no script needs more than a few.

The ranges are for splitting text into words.
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

UNSPACED = (
    "\\u0e01-\\u0e3a\\u0e40-\\u0e4e\\u0e50-\\u0e59"  # Thai
    "\\u0e81-\\u0eff"  # Lao
    "\\u1000-\\u1049\\u1050-\\u109d\\ua9e0-\\ua9fe\\uaa60-\\uaa7f"  # Myanmar
    "\\u1780-\\u17d3\\u17d7\\u17dc-\\u17e9"  # Khmer
    "\\u3041-\\u3096\\u3099\\u309a\\u309d-\\u309f"  # Hiragana
    "\\u30a1-\\u30fa\\u30fc-\\u30ff\\u31f0-\\u31ff"  # Katakana
    "\\u3005-\\u3007\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\U00020000-\\U000323af"  # Han
)
"""The characters of scripts without spaces, as a class of a regular expression."""

MARKS = (
    "\\u0300-\\u036f\\u0483-\\u0487"  # Latin, Greek, Cyrillic
    "\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7"  # Hebrew
    "\\u0610-\\u061a\\u0640\\u064b-\\u065f\\u0670\\u06d6-\\u06ed\\u200c\\u200d"  # Arabic, joiners
    "\\u0900-\\u0903\\u093a-\\u094f\\u0951-\\u0957\\u0962\\u0963"  # Devanagari
    "\\u0981-\\u0983\\u09bc\\u09be-\\u09cd\\u09d7"  # Bengali
    "\\u0a01-\\u0a03\\u0a3c-\\u0a51"  # Gurmukhi
    "\\u0a81-\\u0a83\\u0abc\\u0abe-\\u0acd\\u0b01-\\u0b03\\u0b3c\\u0b3e-\\u0b57"  # Gujarati, Oriya
    "\\u0b82\\u0bbe-\\u0bcd\\u0bd7\\u0c00-\\u0c04\\u0c3c\\u0c3e-\\u0c56"  # Tamil, Telugu
    "\\u0c81-\\u0c83\\u0cbc\\u0cbe-\\u0cd6"  # Kannada
    "\\u0d00-\\u0d03\\u0d3b-\\u0d4d\\u0d57"  # Malayalam
    "\\u0d81-\\u0d83\\u0dca-\\u0ddf"  # Sinhala
)
"""Marks that are parts of words but are not matched by `\\w` of the standard library."""


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
