"""Plain text: one kind of space, no invisible characters, composed letters (NFC).

Typographic spaces differ between the languages of a page (French sets a narrow no-break
space before a colon) and between two copies of one text; nothing later should see that.
"""

import re

from bilingual_crawler.languages.normal_forms import normalize

_CONTROLS = (*range(0x20), *range(0x7F, 0xA0))
_NONCHARACTERS = (
    *range(0xFDD0, 0xFDF0),
    *(plane + end for plane in range(0, 0x110000, 0x10000) for end in (0xFFFE, 0xFFFF)),
)
_WIDTHLESS = (
    0x00AD,  # soft hyphen
    0x2060,  # word joiner
    0xFEFF,  # zero width no-break space, also a byte order mark gone astray
    0xFFFC,  # object replacement
)
_TABLE: dict[int, str | None] = {
    **dict.fromkeys((*_CONTROLS, *range(0xD800, 0xE000), *_NONCHARACTERS, *_WIDTHLESS)),
    0x200B: " ",  # zero width space: a boundary of words that does not show
}
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")


def clean(text: str) -> str:
    """Return a text as a reader would type it.

    Everything that `str.split` takes for white space becomes one plain space, which covers
    no-break, narrow no-break, three-per-em and their kind. Joiners that spell words (in
    Persian, Hindi or emoji) stay. Of marks in a row the first 30 stay.
    """
    text = " ".join(text.split())
    if not text.isprintable():
        text = " ".join(text.translate(_TABLE).split())
    return normalize("NFC", text)


def split_paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text without markup, which are separated by blank lines."""
    return [paragraph for paragraph in map(clean, _BLANK_LINE.split(text)) if paragraph]
