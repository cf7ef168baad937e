"""Text as it is indexed and searched: without case and accents, split into tokens.

Scripts without spaces are indexed as overlapping pairs of characters (the word 北京市 as 北京 and
京市), so that a search finds any part of them. Most Chinese words have two characters, which is
too short for SQLite's own trigrams. The script decides, not the language of a page, because
texts mix them.
"""

import re
from typing import NamedTuple

import regex

from bilingual_crawler.languages.normal_forms import normalize
from bilingual_crawler.languages.unicode_ranges import UNSPACED

WORD = rf"[[\p{{L}}\p{{N}}\p{{M}}\p{{Co}}]--[{UNSPACED}]]"
"""A character of a word in a script with spaces; the index agrees (see `TOKENIZER`)."""

TOKENIZER = "unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'"
"""SQLite's tokenizer, which runs after `fold`: the marks of Indic scripts are parts of words."""

_ACCENTS = re.compile(
    "[\\u0300-\\u036f\\u0483-\\u0487"  # Latin, Greek, Cyrillic
    "\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7"  # Hebrew points
    "\\u0610-\\u061a\\u0640\\u064b-\\u065f\\u0670\\u06d6-\\u06ed]"  # Arabic vowels, lengthening
)
_RUN = re.compile(f"[{UNSPACED}]+")
_ATOM = regex.compile(rf"(?P<run>[{UNSPACED}]+)|(?P<word>{WORD}+)", regex.V1)
_CLUSTER = regex.compile(r"\X")


class Atom(NamedTuple):
    """A word, or a run of characters in a script without spaces."""

    text: str
    is_run: bool


class Folded(NamedTuple):
    """A folded text, and the original span of each of its characters."""

    text: str
    begins: list[int]
    ends: list[int]


def fold(text: str) -> str:
    """Return the text for comparison: without presentation forms, case and accents."""
    if text.isascii():
        return text.lower()
    plain = _ACCENTS.sub("", normalize("NFKD", text).casefold())
    return normalize("NFC", plain)


def fold_with_places(text: str) -> Folded:
    """Return the folded text with its places in the original, for highlighting."""
    if text.isascii():
        return Folded(text.lower(), list(range(len(text))), list(range(1, len(text) + 1)))
    folded: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    for cluster in _CLUSTER.finditer(text):
        piece = fold(cluster[0])
        folded.append(piece)
        begins += [cluster.start()] * len(piece)
        ends += [cluster.end()] * len(piece)
    return Folded("".join(folded), begins, ends)


def atoms(text: str) -> list[Atom]:
    """Return the words and runs of a folded text, in order."""
    return [Atom(found[0], found["run"] is not None) for found in _ATOM.finditer(text)]


def bigrams(run: str) -> str:
    """Return a run as it is indexed: its pairs of characters, or its only character."""
    if len(run) == 1:
        return run
    return " ".join(run[at : at + 2] for at in range(len(run) - 1))


def index_columns(text: str) -> tuple[str, str]:
    """Return the two indexed forms of a text: its tokens, and its single unspaced characters."""
    folded = fold(text)
    if folded.isascii() or not _RUN.search(folded):
        return folded, ""
    characters: set[str] = set()
    for run in _RUN.findall(folded):
        characters.update(run)
    return _RUN.sub(lambda run: f" {bigrams(run[0])} ", folded), " ".join(sorted(characters))
