"""A lexicon of two languages, learned from sentences that were aligned with confidence.

IBM Model 1 in both directions at once: at each step the share of one word in another is the product
of what both directions believe (alignment by agreement), which leaves few wrong entries. A word
counts once per sentence. Everything is bounded: the number of sentences, the length of those that
are learned from, and the number of entries.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

MOST_PAIRS = 60_000
MOST_COOCCURRENCES = 8_000_000
LONGEST = 40
LEAST_SEEN = 2
ROUNDS = 5
LEAST_SHARE = 0.03
NULL = 0.02
"""The share reserved for words without a counterpart."""

Words = Sequence[str]


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


def learn(pairs: Sequence[tuple[Words, Words]]) -> Lexicon | None:
    """Return the lexicon learned from sentence pairs; None if there is too little in them."""
    ids1, rarity1 = _vocabulary([first for first, _ in pairs])
    ids2, rarity2 = _vocabulary([second for _, second in pairs])
    together = _cooccurrences(pairs, ids1, ids2)
    if together is None:
        return None
    words1, words2, groups1, groups2 = together
    keys, entry = np.unique(words1.astype(np.int64) * len(ids2) + words2, return_inverse=True)
    of1, of2 = keys // len(ids2), keys % len(ids2)
    forth = back = np.bincount(entry).astype(np.float64)
    for _ in range(ROUNDS):
        forth = _normalised(forth, of1)
        back = _normalised(back, of2)
        belief = _responsibility(forth[entry], groups2) * _responsibility(back[entry], groups1)
        forth = back = np.bincount(entry, belief, len(keys)).astype(np.float64)
    shares = np.sqrt(_normalised(forth, of1) * _normalised(back, of2))
    kept = shares >= LEAST_SHARE
    table = sparse.csr_array(
        (shares[kept], (of1[kept], of2[kept])), shape=(len(ids1), len(ids2)), dtype=np.float64
    )
    return Lexicon(ids1, ids2, table, rarity1, rarity2)


def _vocabulary(texts: Sequence[Words]) -> tuple[dict[str, int], NDArray[np.float64]]:
    """Return the words that were seen often enough, and how rare each is."""
    seen = Counter(word for text in texts for word in set(text))
    known = sorted(word for word, times in seen.items() if times >= LEAST_SEEN)
    rarity = [math.log(1 + len(texts) / seen[word]) for word in known]
    return {word: number for number, word in enumerate(known)}, np.asarray(rarity)


_Integers = NDArray[np.int32]


def _cooccurrences(
    pairs: Sequence[tuple[Words, Words]], ids1: dict[str, int], ids2: dict[str, int]
) -> tuple[_Integers, _Integers, _Integers, _Integers] | None:
    """Return each two words that occur in one pair, with their places in the texts."""
    parts: list[tuple[_Integers, _Integers, _Integers, _Integers]] = []
    size = place1 = place2 = 0
    for text1, text2 in pairs:
        first = np.asarray(sorted({ids1[word] for word in text1 if word in ids1}), dtype=np.int32)
        second = np.asarray(sorted({ids2[word] for word in text2 if word in ids2}), dtype=np.int32)
        if not 0 < len(first) <= LONGEST or not 0 < len(second) <= LONGEST:
            continue
        here1 = np.arange(place1, place1 + len(first), dtype=np.int32)
        here2 = np.arange(place2, place2 + len(second), dtype=np.int32)
        place1, place2 = place1 + len(first), place2 + len(second)
        parts.append(
            (
                np.repeat(first, len(second)),
                np.tile(second, len(first)),
                np.repeat(here1, len(second)),
                np.tile(here2, len(first)),
            )
        )
        size += len(first) * len(second)
        if size > MOST_COOCCURRENCES:
            break
    if not parts:
        return None
    words1, words2, groups1, groups2 = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    return words1, words2, groups1, groups2


def _responsibility(belief: NDArray[np.float64], groups: _Integers) -> NDArray[np.float64]:
    """Return the shares of the other text's words that each word comes from."""
    totals = np.bincount(groups, belief) + NULL
    shares: NDArray[np.float64] = belief / totals[groups]
    return shares


def _normalised(counts: NDArray[np.float64], of: NDArray[np.int64]) -> NDArray[np.float64]:
    totals = np.bincount(of, counts)
    shares: NDArray[np.float64] = counts / np.maximum(totals[of], 1e-12)
    return shares
