"""Learns how much words of two languages translate each other, from texts that correspond.

IBM Model 1 in both directions at once: at each step the share of one word in another is the product
of what both directions believe (alignment by agreement), which leaves few wrong entries. A word
counts once per text. Everything is bounded: the number of texts, the length of those that are
learned from, and the number of entries.

A crawl learns while it runs, so this needs no more than numpy: scipy takes longer to import than a
lesson to give.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST_COOCCURRENCES = 8_000_000
LONGEST = 40
LEAST_SEEN = 2
ROUNDS = 5
LEAST_SHARE = 0.03
NULL = 0.02
"""The share reserved for words without a counterpart."""

Words = Sequence[str]
_Integers = NDArray[np.int32]


@dataclass(frozen=True)
class WordShares:
    """How much words translate each other, from 0 to 1: one place in three lists per two words."""

    ids1: dict[str, int]
    ids2: dict[str, int]
    of1: NDArray[np.int64]
    of2: NDArray[np.int64]
    shares: NDArray[np.float64]
    rarity1: NDArray[np.float64]
    rarity2: NDArray[np.float64]


def learn_shares(pairs: Sequence[tuple[Words, Words]]) -> WordShares | None:
    """Return what pairs of texts teach; None if there is too little in them."""
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
    return WordShares(ids1, ids2, of1[kept], of2[kept], shares[kept], rarity1, rarity2)


def _vocabulary(texts: Sequence[Words]) -> tuple[dict[str, int], NDArray[np.float64]]:
    """Return the words that were seen often enough, and how rare each is."""
    seen = Counter(word for text in texts for word in set(text))
    known = sorted(word for word, times in seen.items() if times >= LEAST_SEEN)
    rarity = [math.log(1 + len(texts) / seen[word]) for word in known]
    return {word: number for number, word in enumerate(known)}, np.asarray(rarity)


def _cooccurrences(
    pairs: Sequence[tuple[Words, Words]], ids1: dict[str, int], ids2: dict[str, int]
) -> tuple[_Integers, _Integers, _Integers, _Integers] | None:
    """Return each two words that occur in one pair, with their places in the texts."""
    words1: list[int] = []
    words2: list[int] = []
    sizes: list[tuple[int, int]] = []
    size = 0
    for text1, text2 in pairs:
        first = sorted({ids1[word] for word in text1 if word in ids1})
        second = sorted({ids2[word] for word in text2 if word in ids2})
        if not 0 < len(first) <= LONGEST or not 0 < len(second) <= LONGEST:
            continue
        words1 += first
        words2 += second
        sizes.append((len(first), len(second)))
        size += len(first) * len(second)
        if size > MOST_COOCCURRENCES:
            break
    if not sizes:
        return None
    size1, size2 = np.asarray(sizes, np.int32).T
    per_word = np.repeat(size2, size1)
    """How many words the other text has, for each place in a first text."""
    groups1 = np.repeat(np.arange(len(words1), dtype=np.int32), per_word)
    starts = np.repeat(np.cumsum(size2) - size2, size1)
    within = np.arange(size) - np.repeat(np.cumsum(per_word) - per_word, per_word)
    groups2 = (np.repeat(starts, per_word) + within).astype(np.int32)
    ones, others = np.asarray(words1, np.int32), np.asarray(words2, np.int32)
    return ones[groups1], others[groups2], groups1, groups2


def _responsibility(belief: NDArray[np.float64], groups: _Integers) -> NDArray[np.float64]:
    """Return the shares of the other text's words that each word comes from."""
    totals = np.bincount(groups, belief) + NULL
    shares: NDArray[np.float64] = belief / totals[groups]
    return shares


def _normalised(counts: NDArray[np.float64], of: NDArray[np.int64]) -> NDArray[np.float64]:
    totals = np.bincount(of, counts)
    shares: NDArray[np.float64] = counts / np.maximum(totals[of], 1e-12)
    return shares
