"""Beads, and how much each kind of evidence counts in the search for them.

A bead says how many sentences of one side match how many of the other.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

Shape = tuple[int, int]
"""Sentences on the first side, sentences on the second."""

PAIRED: tuple[Shape, ...] = ((1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1))
"""The shapes that have text on both sides; (1, 0) and (0, 1) are always possible."""
LARGEST = 3


class Bead(NamedTuple):
    """Sentences `start1` to `end1` of the first side and the matching ones of the second."""

    start1: int
    end1: int
    start2: int
    end2: int

    @property
    def shape(self) -> Shape:
        """The number of sentences on each side."""
        return self.end1 - self.start1, self.end2 - self.start2

    @property
    def is_paired(self) -> bool:
        """True if there is text on both sides."""
        return self.end1 > self.start1 and self.end2 > self.start2


@dataclass(frozen=True)
class Weights:
    """The costs of the search, in nats.

    `prior` is the cost of a shape by itself; `skip` that of a skipped sentence, to which
    `skip_length` times the cost of its length is added. `variance` is that of lengths in
    characters. Evidence is worth its weight times what a pair shares beyond the expected share.
    `boundary` is paid where a paragraph begins on one side only, `crossing` where a bead joins
    sentences of two paragraphs, `heading` where it pairs a heading with prose.
    """

    prior: Mapping[Shape, float]
    skip: float
    skip_length: float = 0.0
    variance: float = 6.8
    length: float = 1.0
    anchors: float = 0.0
    anchors_expected: float = 0.0
    lexicon: float = 0.0
    lexicon_expected: float = 0.0
    vectors: float = 10.0
    vectors_expected: float = 0.4
    boundary: float = 0.0
    crossing: float = 0.0
    heading: float = 0.0


_SHARES = {(1, 1): 0.89, (1, 2): 0.0445, (2, 1): 0.0445, (2, 2): 0.011}
GALE_CHURCH = Weights(
    prior={shape: -math.log(share) for shape, share in _SHARES.items()},
    skip=-math.log(0.0099),
    skip_length=1.0,
)
"""Lengths alone, with the figures of Gale and Church (1993)."""

_PRIOR: Mapping[Shape, float] = {
    (1, 1): 0.12,
    (1, 2): 3.1,
    (2, 1): 3.1,
    (2, 2): 7.0,
    (1, 3): 8.0,
    (3, 1): 8.0,
}
FIRST_PASS = Weights(
    prior=_PRIOR,
    skip=2.6,
    variance=6.0,
    length=1.25,
    anchors=0.8,
    anchors_expected=0.34,
    boundary=0.4,
    crossing=2.4,
    heading=1.6,
)
"""Fitted by benchmarks/alignment_fit.py, as are those of the second pass."""
SECOND_PASS = Weights(
    prior=_PRIOR,
    skip=2.6,
    variance=6.0,
    anchors=0.2,
    anchors_expected=0.34,
    lexicon=0.25,
    lexicon_expected=0.21,
    boundary=0.7,
    crossing=3.0,
    heading=1.0,
)
