"""Text on one line, for formats in which a line or a tab ends it."""

import re
from collections import Counter

FLATTENED = "line ends, tabs and control characters made spaces"
_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def has_breaks(text: str) -> bool:
    """Whether anything in the text would have to be changed."""
    return _BREAKS.search(text) is not None


def one_line(text: str, changed: Counter[str]) -> str:
    """The text with every run of control characters and line ends as one space."""
    if not has_breaks(text):
        return text
    text, runs = _BREAKS.subn(" ", text)
    changed[FLATTENED] += runs
    return text
