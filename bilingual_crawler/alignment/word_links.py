"""What two paired pages teach about words: the parts of them that correspond, and their words.

Sentences are aligned much later and at leisure (`two_passes.py`). Here it has to be fast, and what
is missed costs little: paragraphs of the same kind and about the same length, in the same order,
correspond; where both have as many sentences, these do.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import log2, sqrt

from rapidfuzz.distance import Levenshtein

from bilingual_crawler.alignment.word_shares import learn_shares
from bilingual_crawler.documents.document import Paragraph
from bilingual_crawler.pairing.lexicon import LONGEST_WORD, TranslationLexicon

MOST_PARAGRAPHS = 400
LONGEST = 40
"""Distinct words of a text to learn from, on either side."""
LARGEST_RATIO = 2.0
"""Of the lengths of two texts that correspond."""
SHORT = 20
"""Characters that are added to both lengths, because short texts differ more."""
LEAST_COVERED = 0.5
"""The least share of the shorter page that must correspond to learn from two pages."""

_WORD = re.compile(r"[^\W\d_]+")
_SHORTEST = 3
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+")

Block = tuple[str, str]
"""The kind and the text of a paragraph."""
Words = Sequence[str]
Unit = tuple[Words, Words]
"""The words of two texts that correspond."""


def blocks_of(paragraphs: Iterable[Paragraph]) -> list[Block]:
    """Return what is kept of a page to learn from it."""
    return [(each.kind, each.text) for each in islice(paragraphs, MOST_PARAGRAPHS)]


def units_of(first: Sequence[Block], second: Sequence[Block]) -> list[Unit]:
    """Return the texts of two pages that correspond; none if too little of them does."""
    found = list(_corresponding(first, second))
    covered = sum(len(one) for one, _ in found), sum(len(other) for _, other in found)
    wholes = (sum(len(text) for _, text in page) for page in (first, second))
    shares = [part / max(1, whole) for part, whole in zip(covered, wholes, strict=True)]
    if max(shares) < LEAST_COVERED:
        return []
    units = [
        (words_of(text1), words_of(text2))
        for one, other in found
        for text1, text2 in _sentences(one, other)
    ]
    return [unit for unit in units if all(0 < len(words) <= LONGEST for words in unit)]


def words_of(text: str) -> list[str]:
    """Return the distinct words of a text, as profiles of pages know them."""
    found = (word for word in _WORD.findall(text) if _SHORTEST <= len(word) <= LONGEST_WORD)
    return list(dict.fromkeys(word.lower() for word in found))


def learn(
    languages: tuple[str, str], units: Sequence[Unit], pages: int
) -> TranslationLexicon | None:
    """Return the lexicon that corresponding texts teach; None if there is too little in them."""
    found = learn_shares(units)
    if found is None:
        return None
    seen1 = Counter(word for words, _ in units for word in words)
    seen2 = Counter(word for _, words in units for word in words)
    names1, names2 = list(found.ids1), list(found.ids2)
    together = {}
    entries = zip(found.of1.tolist(), found.of2.tolist(), found.shares.tolist(), strict=True)
    for one, other, share in entries:
        first, second = names1[one], names2[other]
        if first != second:
            together[first, second] = share * sqrt(seen1[first] * seen2[second])
    return TranslationLexicon(languages, together, (seen1, seen2), pages=pages)


def _corresponding(first: Sequence[Block], second: Sequence[Block]) -> Iterator[tuple[str, str]]:
    """Yield paragraphs of one kind and similar length, in the order of both pages."""
    shapes = [[_shape(*block) for block in page] for page in (first, second)]
    for edit in Levenshtein.opcodes(*shapes):
        size = edit.src_end - edit.src_start
        if size != edit.dest_end - edit.dest_start:
            continue
        for at in range(size):
            kind1, text1 = first[edit.src_start + at]
            kind2, text2 = second[edit.dest_start + at]
            if kind1 == kind2 and text1 != text2 and _lengths_fit(text1, text2):
                yield text1, text2


def _shape(kind: str, text: str) -> tuple[str, int]:
    return kind, int(log2(len(text) + 1))


def _lengths_fit(one: str, other: str) -> bool:
    short, long = sorted((len(one) + SHORT, len(other) + SHORT))
    return long <= LARGEST_RATIO * short


def _sentences(one: str, other: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences of two paragraphs if both have as many, or else the paragraphs."""
    mine, theirs = _SENTENCE.split(one), _SENTENCE.split(other)
    if len(mine) == len(theirs) and all(map(_lengths_fit, mine, theirs)):
        yield from zip(mine, theirs, strict=True)
    else:
        yield one, other
