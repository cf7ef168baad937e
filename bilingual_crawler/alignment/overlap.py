"""What sentences of two texts have in common: anchors, words of a learned lexicon, meaning.

Anchors look the same in both languages: numbers, addresses, names, cognates, marks. They need no
knowledge of the languages, so they carry the first pass; in the second they cover what no lexicon
knows, the names and figures of the page.

The lexicon is learned from sentences that were aligned with confidence (`word_shares.py`).
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bilingual_crawler.alignment.word_shares import Words, learn_shares
from bilingual_crawler.languages.normal_forms import normalize

MOST_PAIRS = 60_000

ADDRESS, NUMBER, WORD, COGNATE, MARK = 2.0, 1.0, 1.0, 0.5, 0.4
"""The value of a shared anchor of each kind, multiplied by how rare it is in the two documents."""
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
"""One sign for marks that other scripts write with signs of their own."""
_KEPT_MARKS = frozenset('?!:(…"%')
END = ".,;:!?)]}»”"


@dataclass(frozen=True)
class Lexicon:
    """How much a word of one language translates a word of the other, from 0 to 1."""

    ids1: dict[str, int]
    ids2: dict[str, int]
    shares: sparse.csr_array
    rarity1: NDArray[np.float64]
    rarity2: NDArray[np.float64]

    def __len__(self) -> int:
        return int(self.shares.nnz)

    @cached_property
    def worth(self) -> sparse.csr_array:
        """The value of finding two words: their share, more for rare words."""
        rare1 = sparse.diags_array(self.rarity1) @ self.shares
        rare2 = self.shares @ sparse.diags_array(self.rarity2)
        return ((rare1 + rare2) / 2).tocsr()

    def share(self, word1: str, word2: str) -> float:
        """Return how much one word translates the other."""
        if word1 not in self.ids1 or word2 not in self.ids2:
            return 0.0
        return float(self.shares[self.ids1[word1], self.ids2[word2]])


def learn_lexicon(pairs: Sequence[tuple[Words, Words]]) -> Lexicon | None:
    """Return the lexicon learned from sentence pairs; None if there is too little in them."""
    found = learn_shares(pairs)
    if found is None:
        return None
    rarity1, rarity2 = found.rarity1, found.rarity2
    table = sparse.csr_array(
        (found.shares, (found.of1, found.of2)),
        shape=(len(found.ids1), len(found.ids2)),
        dtype=np.float64,
    )
    return Lexicon(found.ids1, found.ids2, table, rarity1, rarity2)


def words(text: str) -> list[str]:
    """Return the words of a text, folded and stemmed; pairs of characters in unspaced scripts.

    Endings vary much in Basque or Finnish, so the lexicon knows beginnings of words.
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
    """Return the anchors of a text, and the value of each before its rarity is known."""
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
    """Return a number without separators, which differ between languages."""
    return "".join(str(unicodedata.digit(each, "")) for each in text)


@lru_cache(maxsize=1 << 16)
def _folded(word: str) -> str:
    return word.casefold()


@lru_cache(maxsize=1 << 16)
def _bare(word: str) -> str:
    """Return a word without accents, in which cognates often differ."""
    if word.isascii():
        return word.lower()
    parts = normalize("NFKD", word.casefold())
    return "".join(each for each in parts if not unicodedata.combining(each))


Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Overlap:
    """A matrix per side: what two sentences share is the product of their rows.

    `total1` and `total2` are the most that each sentence could share with a perfect counterpart.
    """

    rows1: Any
    rows2: Any
    total1: Floats
    total2: Floats

    def shared(self, first: slice, second: slice) -> Floats:
        """Return what each sentence of one slice shares with each of the other."""
        product = self.rows1[first] @ self.rows2[second].T
        shared: Floats = product.toarray() if sparse.issparse(product) else product
        return shared

    def of_groups(self, groups1: sparse.csr_array, groups2: sparse.csr_array) -> "GroupOverlap":
        """Return what groups of sentences have in common; a row has a one for each sentence."""
        return GroupOverlap(
            groups1 @ self.rows1,
            groups2 @ self.rows2,
            groups1 @ self.total1,
            groups2 @ self.total2,
        )


MOST_GROUPS = 300
"""Groups that are all compared with one another at once."""


@dataclass(frozen=True)
class GroupOverlap:
    """What groups of sentences have in common, group by group; see `Overlap`."""

    rows1: Any
    rows2: Any
    total1: Floats
    total2: Floats

    def likeness(self, off: int = 0) -> Floats:
        """Return the share that each group has in common with its counterpart, from 0 to 1.

        With `off` it is compared with the group that many places after its counterpart; where
        there is none, the likeness is 0.
        """
        size = len(self.total1)
        found = np.zeros(size)
        low, high = max(0, -off), min(size, size - off)
        if low >= high:
            return found
        one, two = slice(low, high), slice(low + off, high + off)
        if size <= MOST_GROUPS:
            shared = np.diagonal(self._products, off)
        elif sparse.issparse(self.rows1):
            shared = np.asarray((self.rows1[one] * self.rows2[two]).sum(axis=1)).ravel()
        else:
            shared = np.einsum("ij,ij->i", self.rows1[one], self.rows2[two])
        total = self.total1[one] + self.total2[two]
        found[one] = np.clip(2 * shared / np.maximum(total, 1e-9), 0.0, 1.0)
        return found

    @cached_property
    def _products(self) -> Floats:
        """What each group has in common with each other: faster than row by row if they are few."""
        products = self.rows1 @ self.rows2.T
        return np.asarray(products.toarray() if sparse.issparse(products) else products)

    def best_rival(self, reach: int) -> Floats:
        """Return how much either side of each group has in common with a group nearby, at most."""
        best = np.zeros(len(self.total1))
        for off in (*range(-reach, 0), *range(1, reach + 1)):
            found = self.likeness(off)
            best = np.maximum(best, found)
            turned = np.zeros(len(best))
            low, high = max(0, -off), min(len(best), len(best) - off)
            if low < high:
                turned[low + off : high + off] = found[low:high]
            best = np.maximum(best, turned)
        return best


def anchor_overlap(first: Sequence[str], second: Sequence[str]) -> Overlap:
    """Return what sentences share regardless of their languages.

    Rare anchors are worth more. Anchors on one side alone say nothing.
    """
    found1, found2 = [anchors(text) for text in first], [anchors(text) for text in second]
    times1 = Counter(name for found in found1 for name in found)
    times2 = Counter(name for found in found2 for name in found)
    size = max(len(first), len(second))
    shared = [name for name in times1 if name in times2]
    ids = {name: number for number, name in enumerate(shared)}
    rarity = [math.log(1 + size / max(times1[name], times2[name])) for name in shared]
    rows1, total1 = _anchor_rows(found1, ids, rarity)
    rows2, total2 = _anchor_rows(found2, ids, rarity)
    return Overlap(rows1, rows2, total1, total2)


def _anchor_rows(
    found: Sequence[dict[str, float]], ids: dict[str, int], rarity: Sequence[float]
) -> tuple[sparse.csr_array, Floats]:
    starts, columns, values, totals = [0], [], [], []
    for each in found:
        known = [(ids[name], worth) for name, worth in each.items() if name in ids]
        weights = [worth * rarity[number] for number, worth in known]
        columns += [number for number, _ in known]
        values += [math.sqrt(weight) for weight in weights]
        totals.append(sum(weights))
        starts.append(len(columns))
    shape = (len(found), max(1, len(ids)))
    return sparse.csr_array((values, columns, starts), shape, np.float64), np.asarray(totals)


def lexicon_overlap(first: Sequence[str], second: Sequence[str], lexicon: Lexicon) -> Overlap:
    """Return what sentences share according to the lexicon.

    Words that it does not know say nothing.
    """
    rows1, rows2 = _word_rows(first, lexicon.ids1), _word_rows(second, lexicon.ids2)
    total1, total2 = rows1 @ lexicon.rarity1, rows2 @ lexicon.rarity2
    return Overlap((rows1 @ lexicon.worth).tocsr(), rows2, total1, total2)


def _word_rows(texts: Sequence[str], ids: dict[str, int]) -> sparse.csr_array:
    starts: list[int] = [0]
    columns: list[int] = []
    for text in texts:
        columns.extend(sorted({ids[word] for word in words(text) if word in ids}))
        starts.append(len(columns))
    shape = (len(texts), max(1, len(ids)))
    return sparse.csr_array((np.ones(len(columns)), columns, starts), shape, np.float64)


def vector_overlap(vectors1: Floats, vectors2: Floats) -> Overlap:
    """Return the cosines of sentence vectors."""
    unit1, unit2 = _unit(vectors1), _unit(vectors2)
    return Overlap(unit1, unit2, np.ones(len(unit1)), np.ones(len(unit2)))


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = np.asarray(vectors, dtype=np.float64) / np.maximum(lengths, 1e-9)
    return unit
