"""Words, and what looks the same in both languages: numbers, addresses, names, cognates, marks.

Anchors need no knowledge of the languages. They carry the first pass, and in the second they
hold what no lexicon knows: this page's names and figures.
"""

import re
import unicodedata
from functools import lru_cache

from bilingual_crawler.normal_forms import normalize

ADDRESS, NUMBER, WORD, COGNATE, MARK = 2.0, 1.0, 1.0, 0.5, 0.4
"""What a shared anchor of a kind is worth, times how rare it is in the two documents."""
PREFIX = 4
STEM = 5
SHORTEST_NAME = 2

_ADDRESS = re.compile(
    r"(?:https?://|www\.)[^\s<>\"«»“”]+|(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)+"
)
_NUMBER = re.compile(r"\d+(?:[.,:'\u2019]\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_UNSPACED = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
)
_QUOTES = "\u00ab\u00bb\u201c\u201d\u201e\u300c\u300d\u300e\u300f"
_MARKS = str.maketrans("\uff1f\u061f\uff01\uff1a\uff08" + _QUOTES, "??!:(" + '"' * len(_QUOTES))
"""One sign for marks that other scripts have signs of their own for."""
_KEPT_MARKS = frozenset('?!:(…"%')
END = ".,;:!?)]}»”"


def words(text: str) -> list[str]:
    """The words of a text, folded and cut to a stem; of scripts without spaces, pairs of signs.

    What an ending changes is much in Basque or Finnish, so the lexicon knows beginnings.
    """
    found: list[str] = []
    has_unspaced = _UNSPACED.search(text) is not None
    for word in _WORD.findall(text):
        if has_unspaced and _UNSPACED.search(word):
            found.extend(word[at : at + 2] for at in range(max(1, len(word) - 1)))
        else:
            found.append(_folded(word)[:STEM])
    return found


def anchors(text: str) -> dict[str, float]:
    """The anchors of a text, and what each is worth before it is known how rare it is."""
    found: dict[str, float] = {}
    for match in _ADDRESS.finditer(text):
        found["@" + match.group().rstrip(END).casefold()] = ADDRESS
    if found:
        text = _ADDRESS.sub(" ", text)
    for number in _NUMBER.findall(text):
        found["#" + _digits(number)] = NUMBER
    has_unspaced = _UNSPACED.search(text) is not None
    for word in _WORD.findall(text):
        if len(word) < SHORTEST_NAME or (has_unspaced and _UNSPACED.search(word)):
            continue
        folded = _bare(word)
        found["=" + folded] = WORD
        if len(folded) >= PREFIX:
            found["~" + folded[:PREFIX]] = COGNATE
    for mark in set(text.translate(_MARKS)) & _KEPT_MARKS:
        found[mark] = MARK
    return found


def _digits(text: str) -> str:
    """A number without what parts its digits, which differs from language to language."""
    return "".join(str(unicodedata.digit(each, "")) for each in text)


@lru_cache(maxsize=1 << 16)
def _folded(word: str) -> str:
    return word.casefold()


@lru_cache(maxsize=1 << 16)
def _bare(word: str) -> str:
    """A word without accents: they are the first thing that cognates differ in."""
    if word.isascii():
        return word.lower()
    parts = normalize("NFKD", word.casefold())
    return "".join(each for each in parts if not unicodedata.combining(each))
