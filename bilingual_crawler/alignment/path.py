"""The cheapest path through two texts: dynamic programming over beads, row by row in numpy.

Only a band around the expected path is searched. If the path touches the edge of the band, the band
is doubled and the search repeated: a band that is too narrow costs time, not quality.

A row depends on itself only through skipped sentences of the second side. Their cost is a running
sum, so the best way to skip some is a running minimum, and a whole row takes a handful of array
operations.
"""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bilingual_crawler.alignment.costs import Bead, Shape

Floats = NDArray[np.float64]

ROWS = 32
"""Rows whose costs are computed at once; the band moves only between such blocks."""
NEAR_EDGE = 3
LEFT_OUT_1, LEFT_OUT_2 = -1, -2
MOST_CELLS = 100_000_000
"""The largest band; two texts that need more are hardly translations."""


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
