"""Any text as XML 1.0 can hold it: escaped, and without the characters that it forbids.

XML is written as text and not through a tree because an element of lxml costs ten times as
much as its characters; every character of a row passes through the two functions here.
"""

import re
from collections import Counter

REMOVED = "characters removed that XML forbids"
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
_ALLOWED = "\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff"
_FORBIDDEN = re.compile(f"[^{_ALLOWED}]")
_LOOK_AT = re.compile(f"[&<>\r]|[^{_ALLOWED}]")
_LOOK_AT_ATTRIBUTE = re.compile(f'[&<>\r\n\t"]|[^{_ALLOWED}]')
_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_ATTRIBUTE = _TEXT | str.maketrans({'"': "&quot;", "\t": "&#9;", "\n": "&#10;"})


class XmlText:
    """Makes text safe, and counts what had to go."""

    def __init__(self, changed: Counter[str]) -> None:
        self._changed = changed

    def allowed(self, text: str) -> str:
        """The text without forbidden characters, not escaped yet."""
        text, removed = _FORBIDDEN.subn("", text)
        if removed:
            self._changed[REMOVED] += removed
        return text

    def text(self, text: str) -> str:
        """Content of an element, from which a parser reads the same text again."""
        return self.allowed(text).translate(_TEXT) if _LOOK_AT.search(text) else text

    def attribute(self, text: str) -> str:
        """Value of an attribute in double quotes, tabs and line ends kept."""
        if _LOOK_AT_ATTRIBUTE.search(text):
            return self.allowed(text).translate(_ATTRIBUTE)
        return text
