"""Text made safe for a format: on one line, as XML, or as tokens."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache

FLATTENED = "line ends, tabs and control characters made spaces"
REMOVED = "characters removed that XML forbids"
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
MAX_TOKEN = 1000
"""Characters of a token; longer ones are split, because CWB takes 4,095 bytes at most."""
_WITH_MARKS = (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0))
"""Code points that include all combining marks."""
_SIGNS = "\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_ALLOWED = "\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff"
_FORBIDDEN = re.compile(f"[^{_ALLOWED}]")
_LOOK_AT = re.compile(f"[&<>\r]|[^{_ALLOWED}]")
_LOOK_AT_ATTRIBUTE = re.compile(f'[&<>\r\n\t"]|[^{_ALLOWED}]')
_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_ATTRIBUTE = _TEXT | str.maketrans({'"': "&quot;", "\t": "&#9;", "\n": "&#10;"})


def has_breaks(text: str) -> bool:
    """Return whether `one_line` would change the text."""
    return _BREAKS.search(text) is not None


def one_line(text: str, changed: Counter[str]) -> str:
    """Return the text with every run of control characters and line ends as one space."""
    if not has_breaks(text):
        return text
    text, runs = _BREAKS.subn(" ", text)
    changed[FLATTENED] += runs
    return text


class XmlText:
    """Makes text safe for XML 1.0, and counts the characters that had to go.

    XML is written as text and not through a tree because an element of lxml costs ten times
    as much as its characters; every character of a row passes through these methods.
    """

    def __init__(self, changed: Counter[str]) -> None:
        self._changed = changed

    def allowed(self, text: str) -> str:
        """Return the text without forbidden characters, not escaped."""
        text, removed = _FORBIDDEN.subn("", text)
        if removed:
            self._changed[REMOVED] += removed
        return text

    def text(self, text: str) -> str:
        """Return the text as the content of an element."""
        return self.allowed(text).translate(_TEXT) if _LOOK_AT.search(text) else text

    def attribute(self, text: str) -> str:
        """Return the text as an attribute value in double quotes; keep tabs and line ends."""
        if _LOOK_AT_ATTRIBUTE.search(text):
            return self.allowed(text).translate(_ATTRIBUTE)
        return text


def tokens(text: str) -> Iterator[str]:
    """Yield the tokens of a text, for corpora with one token per line.

    A small tokenizer for all languages, without a model of any: runs of letters, marks and
    digits with apostrophes and hyphens inside them, numbers with their points and commas, web
    and mail addresses as a whole, Chinese and Japanese characters one by one (there are no
    spaces between words), every other character by itself. Thai, Lao, Khmer and Burmese, which
    have no spaces either, come out as long tokens.
    """
    for found in _pattern().finditer(text):
        token = found[0]
        for at in range(0, len(token), MAX_TOKEN):
            yield token[at : at + MAX_TOKEN]


@cache
def _pattern() -> re.Pattern[str]:
    letter, marks = rf"[^\W{_SIGNS}]", _marks()
    address = r"(?:https?://|www\.)[^\s<>\"]*[^\s<>\"'.,;:!?)\]}]"
    mail = r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+"
    number = r"\d+(?:[.,:]\d+)+"
    run = rf"{letter}+(?:{marks}+{letter}*)*"
    word = rf"{run}(?:['\u2019\u00b7\-\u2010\u2011]{run})*"
    other = rf"[^\s\x00-\x1f\x7f-\x9f]{marks}*"
    return re.compile(f"{address}|{mail}|{number}|{word}|[{_SIGNS}]|{other}")


def _marks() -> str:
    """Return a pattern for combining marks and joiners, which belong to the letter before.

    Those of the first plane are a set of their own, because `re` uses a table only then.
    """
    marks = [each for each in map(chr, _WITH_MARKS) if unicodedata.category(each)[0] == "M"]
    near = "".join(each for each in marks if each <= "\uffff") + "\u200c\u200d"
    far = "".join(each for each in marks if each > "\uffff")
    return f"(?:[{near}]|[{far}])"
