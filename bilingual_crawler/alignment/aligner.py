"""From two texts to scored beads: gather overlaps, find the cheapest path, judge the beads.

The path is found by dynamic programming over beads, row by row in numpy. Only a band around the
expected path is searched. If the path touches the edge of the band, the band is doubled and the
search repeated: a band that is too narrow costs time, not quality. A row depends on itself only
through skipped sentences of the second side. Their cost is a running sum, so the best way to skip
some is a running minimum, and a whole row takes a handful of array operations.

The score of a bead is the probability that its sides are translations of each other: a logistic
regression over what is known once the path is found. The factors of the first pass were fitted by
benchmarks/alignment_fit.py on texts with a known alignment, those of the second pass by
benchmarks/web_scores.py on real web pages: where a list lacks an item on one side, every bead
after that looks as regular as a right one, and only shows by what its sides share, and by how much
more they share with their neighbours.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bilingual_crawler.alignment.costs import (
    FIRST_PASS,
    SECOND_PASS,
    Bead,
    BeadCosts,
    SentenceSide,
    Shape,
    Weighed,
    Weights,
)
from bilingual_crawler.alignment.overlap import (
    Floats,
    GroupOverlap,
    Lexicon,
    Overlap,
    anchor_overlap,
    lexicon_overlap,
    vector_overlap,
)
from bilingual_crawler.alignment.reordered import crossing_beads
from bilingual_crawler.alignment.splitting import Segment

ROWS = 32
"""Rows whose costs are computed at once; the band moves only between such blocks."""
NEAR_EDGE = 3
LEFT_OUT_1, LEFT_OUT_2 = -1, -2
MOST_CELLS = 100_000_000
"""The largest band; two texts that need more are hardly translations."""

BAND = 100
"""How many sentences off the expected path the search looks at first."""

Encoder = Callable[[list[str]], Floats]
"""Gives sentences vectors, one row each, that are close for the same meaning."""


class Scored(NamedTuple):
    """A bead, and the probability that its sides are translations."""

    bead: Bead
    score: float


class Aligner:
    """Aligns texts of two languages with what is known about them.

    Without a lexicon this is the first pass, with one the second.
    """

    def __init__(
        self,
        lexicon: Lexicon | None = None,
        encoder: Encoder | None = None,
        weights: Weights | None = None,
    ) -> None:
        self._lexicon, self._encoder = lexicon, encoder
        self.weights = weights or (FIRST_PASS if lexicon is None else SECOND_PASS)

    def align(self, first: Sequence[Segment], second: Sequence[Segment]) -> list[Scored]:
        """Return beads that cover both texts, each sentence once and in order.

        Beads without text on one side have the score 0.
        """
        if not first or not second:
            alone = [Bead(at, at + 1, 0, 0) for at in range(len(first))]
            alone += [Bead(0, 0, at, at + 1) for at in range(len(second))]
            return [Scored(bead, 0.0) for bead in alone]
        overlaps = self._overlaps(first, second)
        costs = BeadCosts(
            SentenceSide.of(first), SentenceSide.of(second), self.weights, list(overlaps.values())
        )
        beads, _ = cheapest_beads(costs, costs.expected(), BAND)
        judged = self.judge(beads, costs, {name: each.overlap for name, each in overlaps.items()})
        return list(map(Scored, beads, judged))

    def with_crossing(
        self, first: Sequence[Segment], second: Sequence[Segment], found: list[Scored]
    ) -> list[Scored]:
        """Return the beads with those of sentences whose order differs, by the first side's order.

        Beads that they replace are gone; sentences that are alone are not listed.
        """
        if self._lexicon is None:
            return found
        crossing = [Scored(*each) for each in crossing_beads(first, second, found, self._lexicon)]
        if not crossing:
            return found
        used1 = {each.bead.start1 for each in crossing}
        used2 = {each.bead.start2 for each in crossing}
        kept = [
            each
            for each in found
            if used1.isdisjoint(range(each.bead.start1, each.bead.end1))
            and used2.isdisjoint(range(each.bead.start2, each.bead.end2))
        ]
        return sorted(kept + crossing, key=lambda each: each.bead)

    def judge(
        self, beads: Sequence[Bead], costs: BeadCosts, overlaps: Mapping[str, Overlap]
    ) -> list[float]:
        """Return the scores of beads; benchmarks override this."""
        return scores(beads, costs, overlaps)

    def _overlaps(self, first: Sequence[Segment], second: Sequence[Segment]) -> dict[str, Weighed]:
        weights, found = self.weights, {}
        texts1, texts2 = [each.text for each in first], [each.text for each in second]
        if weights.anchors:
            anchored = anchor_overlap(texts1, texts2)
            found["anchors"] = Weighed(anchored, weights.anchors, weights.anchors_expected)
        if self._lexicon is not None and weights.lexicon:
            known = lexicon_overlap(texts1, texts2, self._lexicon)
            found["lexicon"] = Weighed(known, weights.lexicon, weights.lexicon_expected)
        if self._encoder is not None:
            vectors = vector_overlap(self._encoder(texts1), self._encoder(texts2))
            found["vectors"] = Weighed(vectors, weights.vectors, weights.vectors_expected)
        return found


RIVALS = 2
"""How far off the sentences are that compete with the sides of a bead."""
NEIGHBOURS = 3
"""How far on each side of a bead its neighbours count."""

FIRST_PASS_FACTORS: Mapping[str, float] = {
    "always": -4.84,
    "anchors": 1.95,
    "length cost": -0.72,
    "long": -0.02,
    "several": -1.26,
    "neighbours": 8.02,
}
SECOND_PASS_FACTORS: Mapping[str, float] = {
    "always": -1.75,
    "anchors": 0.14,
    "lexicon": 0.24,
    "length cost": -0.38,
    "long": 0.47,
    "several": 0.01,
    "neighbours": 0.75,
    "words known": -0.61,
    "lexicon, words known": 1.25,
    "rival": -1.26,
    "ahead of rivals": 0.32,
    "rival anchors": -1.31,
    "alike around": 2.23,
    "alike in all": 1.86,
    "kinds differ": -0.52,
}
VECTORS = 8.0
VECTORS_EXPECTED = 0.5
"""Not fitted, because models differ. A cosine above one half speaks for a pair."""


def scores(beads: Sequence[Bead], costs: BeadCosts, overlaps: Mapping[str, Overlap]) -> list[float]:
    """Return the score of each bead, from 0 to 1; 0 without text on both sides."""
    known = features(beads, costs, overlaps)
    logits = np.zeros(len(beads))
    factors = SECOND_PASS_FACTORS if "lexicon" in overlaps else FIRST_PASS_FACTORS
    for name, factor in factors.items():
        logits += factor * known[name]
    if "vectors" in known:
        logits += VECTORS * (known["vectors"] - VECTORS_EXPECTED)
    paired = np.asarray([bead.is_paired for bead in beads], dtype=bool)
    found = np.where(paired, 1 / (1 + np.exp(-np.clip(logits, -30, 30))), 0.0)
    return [round(float(each), 4) for each in found]


def features(
    beads: Sequence[Bead], costs: BeadCosts, overlaps: Mapping[str, Overlap]
) -> dict[str, Floats]:
    """Return the features of each bead."""
    edges = np.asarray(beads, dtype=np.int64).reshape(-1, 4)
    size1, size2 = costs.lengths(edges)
    paired = (size1 > 0) & (size2 > 0)
    groups1, groups2 = _groups(edges[:, 0], edges[:, 1]), _groups(edges[:, 2], edges[:, 3])
    nothing = np.zeros(len(beads))
    joined = {name: each.of_groups(groups1, groups2) for name, each in overlaps.items()}
    found = {name: each.likeness() for name, each in joined.items()}
    known = {
        "anchors": nothing,
        **found,
        "always": nothing + 1,
        "length cost": costs.length_cost(size1, size2),
        "long": np.log1p(np.minimum(size1, size2)),
        "several": np.asarray([bead.shape != (1, 1) for bead in beads], dtype=np.float64),
        "neighbours": _neighbours(paired),
    }
    if "lexicon" in joined:
        known |= _of_lexicon(joined, known, paired)
        known["kinds differ"] = costs.headings_differ(edges)
    return known


def _of_lexicon(
    joined: Mapping[str, GroupOverlap], known: Mapping[str, Floats], paired: NDArray[np.bool_]
) -> dict[str, Floats]:
    """Return features of what the lexicon knows, of rivals nearby, and of the beads around."""
    lexicon, anchors = joined["lexicon"], known["anchors"]
    mass = np.log1p(np.minimum(lexicon.total1, lexicon.total2))
    alike = np.maximum(known["lexicon"], anchors) * paired
    rival = lexicon.best_rival(RIVALS) - known["lexicon"]
    if "anchors" in joined:
        rival_anchors = joined["anchors"].best_rival(RIVALS) - anchors
    else:
        rival_anchors = anchors
    return {
        "words known": mass,
        "lexicon, words known": known["lexicon"] * mass,
        "rival": np.maximum(rival, 0.0),
        "ahead of rivals": np.maximum(-rival, 0.0),
        "rival anchors": np.maximum(rival_anchors, 0.0),
        "alike around": _around(alike),
        "alike in all": np.full(len(alike), alike.sum() / max(1, len(alike))),
    }


def _around(values: Floats) -> Floats:
    """Return the mean of the values around each place, the nearest counting most."""
    weights = np.asarray([1.0, 2.0, 3.0, 0.0, 3.0, 2.0, 1.0])
    total = np.convolve(np.ones(len(values)), weights, "full")[NEIGHBOURS:-NEIGHBOURS]
    found = np.convolve(values, weights, "full")[NEIGHBOURS:-NEIGHBOURS]
    return np.asarray(found / np.maximum(total, 1.0), dtype=np.float64)


def _groups(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> sparse.csr_array:
    """Return one row per bead, with a one for each of its sentences; together all sentences."""
    bounds = np.concatenate([starts[:1], ends])
    size = int(bounds[-1])
    return sparse.csr_array((np.ones(size), np.arange(size), bounds), (len(starts), size))


def _neighbours(paired: NDArray[np.bool_]) -> Floats:
    """Return the share of paired beads around each bead; beyond the ends all count as paired."""
    padded = np.concatenate([np.ones(NEIGHBOURS), paired, np.ones(NEIGHBOURS)])
    around = np.convolve(padded, np.ones(2 * NEIGHBOURS + 1), "valid") - paired
    shares: Floats = around / (2 * NEIGHBOURS)
    return shares


class Costs(Protocol):
    """The costs of beads, for a search that asks for some of them at a time."""

    @property
    def skip1(self) -> Floats:
        """The cost of skipping each sentence of the first side."""

    @property
    def skip2(self) -> Floats:
        """The cost of skipping each sentence of the second side."""

    def block(self, rows: range, columns: range) -> Mapping[Shape, Floats]:
        """Return the costs of beads that end before sentence (row, column), for each shape.

        Rows and columns count the sentences passed; beads that would begin before the text cost
        infinity.
        """


class RowBlock(NamedTuple):
    """Some rows, and the columns that are searched in them."""

    rows: range
    columns: range


class _Way(NamedTuple):
    beads: list[Bead]
    cost: float
    touches_edge: bool


def cheapest_beads(costs: Costs, expected: Floats, band: int) -> tuple[list[Bead], float]:
    """Return the beads that cover both texts at the least cost, and that cost.

    `expected` is the likely number of sentences passed on the second side for every number on the
    first (0 to all); `band` is how far from there the search goes at first.
    """
    size1, size2 = len(costs.skip1), len(costs.skip2)
    while True:
        blocks = _blocks(expected, band, size1, size2)
        way = _search(costs, blocks, size2)
        if not way.touches_edge or band > size2 or 4 * band * size1 > MOST_CELLS:
            return way.beads, way.cost
        band *= 2


def _blocks(expected: Floats, band: int, size1: int, size2: int) -> list[RowBlock]:
    blocks = []
    for start in range(0, size1, ROWS):
        end = min(start + ROWS, size1)
        low = 0 if start == 0 else max(0, int(expected[start]) - band)
        high = size2 if end == size1 else min(size2, int(expected[end]) + band)
        blocks.append(RowBlock(range(start + 1, end + 1), range(low, high + 1)))
    return blocks or [RowBlock(range(1, 1), range(size2 + 1))]


def _search(costs: Costs, blocks: list[RowBlock], size2: int) -> _Way:
    sums2 = np.concatenate([[0.0], np.cumsum(costs.skip2)])
    start = blocks[0].columns
    totals: list[tuple[int, Floats]] = [(0, sums2[: len(start)])]
    choices: list[tuple[int, NDArray[np.int8]]] = [
        (0, np.full(len(start), LEFT_OUT_2, dtype=np.int8))
    ]
    shapes: tuple[Shape, ...] = ()
    for rows, columns in blocks:
        priced = costs.block(rows, columns)
        shapes = tuple(priced)
        deepest = max((shape[0] for shape in shapes), default=1)
        sums = sums2[columns.start : columns.stop]
        options = np.empty((len(shapes) + 1, len(columns)))
        for number, row in enumerate(rows):
            options[-1] = _moved(totals[-1], columns, 0) + costs.skip1[row - 1]
            for option, (shape, prices) in zip(options, priced.items(), strict=False):
                if shape[0] > row:
                    option[:] = np.inf
                else:
                    np.add(_moved(totals[-shape[0]], columns, shape[1]), prices[number], option)
            best = options.argmin(axis=0)
            reached = np.take_along_axis(options, best[None], axis=0)[0] - sums
            running = np.minimum.accumulate(reached)
            choice = best.astype(np.int8)
            choice[best == len(shapes)] = LEFT_OUT_1
            choice[running < reached] = LEFT_OUT_2
            choices.append((columns.start, choice))
            totals.append((columns.start, running + sums))
            del totals[: -max(deepest, 1)]
    return _walk_back(choices, shapes, size2, float(totals[-1][1][-1]))


def _moved(row: tuple[int, Floats], columns: range, by: int) -> Floats:
    """Return a row of totals shifted by `by` columns; infinity where it has none."""
    first, totals = row
    low, high = columns.start - by - first, columns.stop - by - first
    if low >= 0 and high <= len(totals):
        return totals[low:high]
    moved = np.full(len(columns), np.inf)
    begin, end = max(low, 0), min(high, len(totals))
    if begin < end:
        moved[begin - low : end - low] = totals[begin:end]
    return moved


def _walk_back(
    choices: list[tuple[int, NDArray[np.int8]]], shapes: tuple[Shape, ...], size2: int, cost: float
) -> _Way:
    beads, row, column, touches = [], len(choices) - 1, size2, False
    while row or column:
        first, choice = choices[row]
        last = first + len(choice) - 1
        touches = touches or (first > 0 and column - first < NEAR_EDGE)
        touches = touches or (last < size2 and last - column < NEAR_EDGE)
        kind = int(choice[column - first])
        if kind == LEFT_OUT_1:
            shape = (1, 0)
        elif kind == LEFT_OUT_2:
            shape = (0, 1)
        else:
            shape = shapes[kind]
        beads.append(Bead(row - shape[0], row, column - shape[1], column))
        row, column = row - shape[0], column - shape[1]
    return _Way(beads[::-1], cost, touches)
