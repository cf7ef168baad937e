"""Text as tokens, for corpora with one token a line.

A small tokenizer for all languages, no model of any: runs of letters, marks and digits with
apostrophes and hyphens inside them, numbers with their points and commas, web and mail
addresses whole, Chinese and Japanese signs one by one (they have no spaces between words),
every other sign by itself. Thai, Lao, Khmer and Burmese, which have no spaces either, come
out in long tokens.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

LONGEST = 1000
"""Characters of a token; longer ones are cut, because CWB takes 4,095 bytes at most."""
_WITH_MARKS = (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0))
"""Code points among which all combining marks are."""
_SIGNS = "\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"


def tokens(text: str) -> Iterator[str]:
    """The tokens of a text in their order; spaces and control characters are between them."""
    for found in _pattern().finditer(text):
        token = found[0]
        for at in range(0, len(token), LONGEST):
            yield token[at : at + LONGEST]


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
    """Combining marks and joiners: they belong to the letter before, which re does not know.

    Those of the first plane stand apart, because re looks them up in a table only then.
    """
    marks = [each for each in map(chr, _WITH_MARKS) if unicodedata.category(each)[0] == "M"]
    near = "".join(each for each in marks if each <= "\uffff") + "\u200c\u200d"
    far = "".join(each for each in marks if each > "\uffff")
    return f"(?:[{near}]|[{far}])"
