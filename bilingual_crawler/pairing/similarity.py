"""How alike two numbers or two sets are, from 0 to 1, and when that is enough."""

from bisect import bisect_right

from bilingual_crawler.pairing.profile import HASH, Hashes


def ratio(one: float, other: float) -> float:
    """The smaller of two sizes as a share of the larger; two empty ones are the same size."""
    larger = max(one, other)
    return min(one, other) / larger if larger > 0 else 1.0


def passing(value: float, threshold: float) -> float:
    """A score that is at least 0.5 exactly where the value reaches the threshold.

    0 stays 0 and 1 stays 1 (with a threshold of 0 everything passes): the rules of the seed
    systems say yes or no, and how clearly they said it is kept.
    """
    if value >= threshold:
        return 0.5 + 0.5 * min(1.0, (value - threshold) / (1.0 - threshold or 1.0))
    return 0.5 * (max(0.0, value) / threshold)


def jaccard(one: frozenset[int], other: frozenset[int]) -> float:
    """Shared members as a share of all; two empty sets share nothing."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def shared_words(one: Hashes, other: Hashes, most: int) -> float:
    """The Jaccard similarity of two sets of which the `most` smallest hashes are kept.

    Where a set was cut, only hashes that could have been kept on both sides are compared.
    """
    sides = [memoryview(each).cast(HASH) for each in (one, other)]
    ends = [side[-1] for side in sides if len(side) >= most]
    if ends:
        sides = [side[: bisect_right(side, min(ends))] for side in sides]
    return jaccard(frozenset(sides[0]), frozenset(sides[1]))
