"""The search finds the cheapest beads, and beads cover both texts once and in order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bilingual_crawler.alignment.aligner import Aligner, cheapest_beads
from bilingual_crawler.alignment.costs import (
    FIRST_PASS,
    GALE_CHURCH,
    PAIRED,
    SECOND_PASS,
    Bead,
    BeadCosts,
    SentenceSide,
    Weighed,
)
from bilingual_crawler.alignment.overlap import anchor_overlap
from bilingual_crawler.alignment.splitting import Segment


class Table:
    """Costs that were drawn by lot."""

    def __init__(self, seed, size1, size2, skip=3.0):
        chance = np.random.default_rng(seed)
        self.skip1, self.skip2 = chance.random(size1) * skip, chance.random(size2) * skip
        self.price = {
            (shape, row, column): float(chance.random() * 5)
            for shape in PAIRED
            for row in range(shape[0], size1 + 1)
            for column in range(shape[1], size2 + 1)
        }

    def block(self, rows, columns):
        return {
            shape: np.asarray(
                [[self.price.get((shape, i, j), np.inf) for j in columns] for i in rows]
            ).reshape(len(rows), len(columns))
            for shape in PAIRED
        }

    def cost(self, bead):
        if bead.shape == (1, 0):
            return self.skip1[bead.start1]
        if bead.shape == (0, 1):
            return self.skip2[bead.start2]
        return self.price[bead.shape, bead.end1, bead.end2]


def brute_force(table, size1, size2):
    """Every cell from every bead that ends in it, without any cleverness."""
    best = {(0, 0): 0.0}
    for i in range(size1 + 1):
        for j in range(size2 + 1):
            for a, b in (*PAIRED, (1, 0), (0, 1)):
                before = best.get((i - a, j - b))
                if before is not None:
                    cost = before + table.cost(Bead(i - a, i, j - b, j))
                    best[i, j] = min(best.get((i, j), np.inf), cost)
    return best[size1, size2]


def assert_covers(beads, size1, size2):
    at1 = at2 = 0
    for bead in beads:
        assert (bead.start1, bead.start2) == (at1, at2)
        assert bead.shape in {*PAIRED, (1, 0), (0, 1)}
        at1, at2 = bead.end1, bead.end2
    assert (at1, at2) == (size1, size2)


sizes = st.integers(0, 14)


@given(st.integers(0, 10**6), sizes, sizes)
@settings(max_examples=60)
def test_the_cost_is_that_of_a_search_by_brute_force(seed, size1, size2):
    table = Table(seed, size1, size2)
    beads, cost = cheapest_beads(table, np.linspace(0, size2, size1 + 1), 100)
    assert_covers(beads, size1, size2)
    assert cost == pytest.approx(brute_force(table, size1, size2))
    assert sum(map(table.cost, beads)) == pytest.approx(cost)


@given(st.integers(0, 10**6))
@settings(max_examples=10)
def test_blocks_of_rows_join_seamlessly(seed):
    table = Table(seed, 75, 60)
    beads, cost = cheapest_beads(table, np.linspace(0, 60, 76), 100)
    assert_covers(beads, 75, 60)
    assert cost == pytest.approx(brute_force(table, 75, 60))


def test_a_band_that_is_too_narrow_is_widened():
    """The first hundred sentences of one side have no counterpart: far off the diagonal."""
    size, gone = 150, 100
    table = Table(0, size, size - gone, skip=0.2)
    for row in range(gone + 1, size + 1):
        table.price[(1, 1), row, row - gone] = -9.0
    beads, _ = cheapest_beads(table, np.linspace(0, size - gone, size + 1), 5)
    assert_covers(beads, size, size - gone)
    assert sum(bead.shape == (1, 1) for bead in beads[-50:]) == size - gone


WORDS = [
    "casa",
    "etxe",
    "2024",
    "museo",
    "Bilbao",
    "ura",
    "100",
    "?",
    "(a)",
    "www.a.org",
    "他",
    "。",
]
segments = st.lists(
    st.builds(
        Segment,
        st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join),
        st.integers(0, 3),
        st.sampled_from(["paragraph", "heading"]),
    ),
    max_size=45,
)


@given(segments, segments)
@settings(max_examples=40)
def test_beads_cover_all_sentences_once_and_in_order(first, second):
    found = Aligner().align(first, second)
    assert_covers([each.bead for each in found], len(first), len(second))
    assert all(0 <= each.score <= 1 for each in found)
    assert all(each.score == 0 for each in found if not each.bead.is_paired)


@given(segments.filter(bool), segments.filter(bool), st.sampled_from([FIRST_PASS, SECOND_PASS]))
@settings(max_examples=15)
def test_costs_made_in_blocks_are_those_of_single_beads(first, second, weights):
    """The sums over rectangles give what each bead would cost by itself."""
    overlap = anchor_overlap([each.text for each in first], [each.text for each in second])
    weighed = Weighed(overlap, weights.anchors, weights.anchors_expected)
    side1, side2 = SentenceSide.of(first), SentenceSide.of(second)
    costs = BeadCosts(side1, side2, weights, [weighed])
    rows, columns = range(1, len(first) + 1), range(len(second) + 1)
    whole = costs.block(rows, columns)
    for shape, prices in whole.items():
        part = costs.block(range(len(first), len(first) + 1), range(len(second), len(second) + 1))
        assert part[shape][0, 0] == pytest.approx(prices[-1, -1])
        if shape[0] > len(first) or shape[1] > len(second):
            assert np.isinf(prices[-1, -1])
            continue
        begin1, begin2 = len(first) - shape[0], len(second) - shape[1]
        alone = prices[-1, -1] - weights.prior[shape]
        alone += weighed.gain(slice(begin1, None), slice(begin2, None)).sum()
        lengths = side1.lengths[begin1:].sum(), side2.lengths[begin2:].sum()
        alone -= weights.length * costs.length_cost(*map(np.asarray, lengths))
        alone -= weights.boundary * (side1.starts[begin1] != side2.starts[begin2])
        alone -= weights.heading * (side1.headings[begin1] != side2.headings[begin2])
        alone -= weights.crossing * side1.starts[begin1 + 1 :].sum()
        alone -= weights.crossing * side2.starts[begin2 + 1 :].sum()
        assert alone == pytest.approx(0, abs=1e-9)


def test_lengths_alone_find_a_sentence_that_was_split():
    first = [Segment("x" * 20), Segment("x" * 90), Segment("x" * 30)]
    second = [Segment("y" * 21), Segment("y" * 40), Segment("y" * 48), Segment("y" * 29)]
    beads = [each.bead.shape for each in Aligner(weights=GALE_CHURCH).align(first, second)]
    assert beads == [(1, 1), (1, 2), (1, 1)]
