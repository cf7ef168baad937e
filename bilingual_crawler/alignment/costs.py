"""Beads, and what one costs: its lengths (Gale and Church), what its sides share, where it is.

A bead says how many sentences of one side match how many of the other. Everything is in nats, so
that the parts add up. Lengths cost the logarithm of how probable their difference is. Shared
content is worth what matches minus what should have matched: each side brings a weight of words,
and a bead whose words find no counterpart pays for them, while a skipped sentence does not. That
sum is linear in the sentences of a bead, so a bead of several sentences is a sum over a rectangle
of single ones.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bilingual_crawler.alignment.overlap import Floats, Overlap
from bilingual_crawler.alignment.splitting import Segment

Shape = tuple[int, int]
"""Sentences on the first side, sentences on the second."""

PAIRED: tuple[Shape, ...] = ((1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1))
"""The shapes that have text on both sides; (1, 0) and (0, 1) are always possible."""
LARGEST = 3

_STEP, _FURTHEST = 0.01, 7.0
_DEVIATIONS = np.arange(0.0, _FURTHEST + _STEP, _STEP)
_LENGTH_COST = np.asarray([-math.log(math.erfc(each / math.sqrt(2))) for each in _DEVIATIONS])
"""-log of the probability that lengths differ by more than this many standard deviations."""


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


@dataclass(frozen=True)
class SentenceSide:
    """A text's sentences as arrays: lengths, starts of paragraphs, headings."""

    lengths: Floats
    starts: NDArray[np.bool_]
    headings: NDArray[np.bool_]

    @cached_property
    def behind(self) -> Floats:
        """The characters before each sentence, and all of them at the end."""
        return np.concatenate([[0.0], np.cumsum(self.lengths)])

    @classmethod
    def of(cls, segments: Sequence[Segment]) -> "SentenceSide":
        """Return the arrays of some sentences."""
        numbers = np.asarray([each.paragraph for each in segments])
        return cls(
            np.asarray([max(1, len(each.text)) for each in segments], dtype=np.float64),
            np.concatenate([[True], numbers[1:] != numbers[:-1]])[: len(segments)],
            np.asarray([each.is_heading for each in segments], dtype=bool),
        )

    def __len__(self) -> int:
        return len(self.lengths)


class Weighed(NamedTuple):
    """An overlap and its weight.

    `expected` is the share of possible matches at which a pair is neither better nor worse than
    none.
    """

    overlap: Overlap
    weight: float
    expected: float

    def gain(self, rows: slice, columns: slice) -> Floats:
        """Return the gain of pairing sentences."""
        total1, total2 = self.overlap.total1, self.overlap.total2
        missing = self.expected / 2 * (total1[rows, None] + total2[None, columns])
        gain: Floats = self.weight * (self.overlap.shared(rows, columns) - missing)
        return gain


class BeadCosts:
    """The costs of all beads of two texts, computed block by block."""

    def __init__(
        self,
        side1: SentenceSide,
        side2: SentenceSide,
        weights: Weights,
        overlaps: Sequence[Weighed] = (),
    ) -> None:
        self._side1, self._side2, self._weights, self._overlaps = side1, side2, weights, overlaps
        self.ratio = (side2.behind[-1] or 1.0) / (side1.behind[-1] or 1.0)
        self.skip1 = self._skip(side1.lengths, np.zeros(1))
        self.skip2 = self._skip(np.zeros(1), side2.lengths)

    def _skip(self, lengths1: Floats, lengths2: Floats) -> Floats:
        weights = self._weights
        return weights.skip + weights.skip_length * self.length_cost(lengths1, lengths2)

    def length_cost(self, lengths1: Floats, lengths2: Floats) -> Floats:
        """Return the cost of a difference in length."""
        scaled = lengths2 / self.ratio
        spread = np.sqrt(self._weights.variance * np.maximum(1.0, (lengths1 + scaled) / 2))
        steps = np.minimum(np.abs(scaled - lengths1) / spread, _FURTHEST) / _STEP
        cost: Floats = _LENGTH_COST[steps.astype(np.int32)]
        return cost

    def lengths(self, edges: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return the characters on both sides of beads, each a row of starts and ends."""
        behind1, behind2 = self._side1.behind, self._side2.behind
        return behind1[edges[:, 1]] - behind1[edges[:, 0]], behind2[edges[:, 3]] - behind2[
            edges[:, 2]
        ]

    def headings_differ(self, edges: NDArray[np.int64]) -> Floats:
        """Return 1 for beads that pair a heading with prose, 0 for others."""
        headings1, headings2 = self._side1.headings, self._side2.headings
        last1, last2 = len(headings1) - 1, len(headings2) - 1
        differ = (
            headings1[np.minimum(edges[:, 0], last1)] != headings2[np.minimum(edges[:, 2], last2)]
        )
        return np.asarray(differ, dtype=np.float64)

    def expected(self) -> Floats:
        """Return the likely sentences passed on the second side, for each number on the first."""
        return np.interp(
            self._side1.behind / (self._side1.behind[-1] or 1.0),
            self._side2.behind / (self._side2.behind[-1] or 1.0),
            np.arange(len(self._side2) + 1),
        )

    def block(self, rows: range, columns: range) -> dict[Shape, Floats]:
        """Return the costs of beads that end at these places (see `aligner.Costs`)."""
        gains = self._gains(rows, columns)
        costs = {}
        for shape, prior in self._weights.prior.items():
            cost = np.full((len(rows), len(columns)), np.inf)
            row, column = max(rows.start, shape[0]), max(columns.start, shape[1])
            if row < rows.stop and column < columns.stop:
                ends1 = np.arange(row, rows.stop)
                ends2 = np.arange(column, columns.stop)
                at1, at2 = ends1 - rows.start + LARGEST, ends2 - columns.start + LARGEST
                gain = (
                    gains[np.ix_(at1, at2)]
                    - gains[np.ix_(at1 - shape[0], at2)]
                    - gains[np.ix_(at1, at2 - shape[1])]
                    + gains[np.ix_(at1 - shape[0], at2 - shape[1])]
                )
                cost[row - rows.start :, column - columns.start :] = (
                    prior + self._place_and_length(shape, ends1, ends2) - gain
                )
            costs[shape] = cost
        return costs

    def _gains(self, rows: range, columns: range) -> Floats:
        """Return the sums of gains over all rectangles from the corner, with a margin."""
        first1, first2 = rows.start - LARGEST, columns.start - LARGEST
        sums = np.zeros((len(rows) + LARGEST, len(columns) + LARGEST))
        low1, low2 = max(0, first1), max(0, first2)
        part1, part2 = slice(low1, rows.stop - 1), slice(low2, columns.stop - 1)
        if self._overlaps and part1.start < part1.stop and part2.start < part2.stop:
            gain = sum(each.gain(part1, part2) for each in self._overlaps)
            sums[low1 - first1 + 1 :, low2 - first2 + 1 :] = gain
        return sums.cumsum(axis=0).cumsum(axis=1)

    def _place_and_length(
        self, shape: Shape, ends1: NDArray[np.int64], ends2: NDArray[np.int64]
    ) -> Floats:
        side1, side2, weights = self._side1, self._side2, self._weights
        begins1, begins2 = ends1 - shape[0], ends2 - shape[1]
        cost = weights.length * self.length_cost(
            (side1.behind[ends1] - side1.behind[begins1])[:, None],
            (side2.behind[ends2] - side2.behind[begins2])[None, :],
        )
        if weights.boundary:
            cost += weights.boundary * (side1.starts[begins1, None] != side2.starts[None, begins2])
        if weights.heading:
            differ = side1.headings[begins1, None] != side2.headings[None, begins2]
            cost += weights.heading * differ
        if weights.crossing:
            for within in range(1, shape[0]):
                cost += weights.crossing * side1.starts[begins1 + within, None]
            for within in range(1, shape[1]):
                cost += weights.crossing * side2.starts[None, begins2 + within]
        return cost
