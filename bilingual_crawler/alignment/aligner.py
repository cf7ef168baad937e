"""From two texts to scored beads: gather overlaps, find the cheapest path, judge the beads.

The score of a bead is the probability that its sides are translations of each other: a logistic
regression over a few things that are known once the path is found. Its factors were fitted by
benchmarks/alignment_fit.py on texts with a known alignment, and on pairs of texts that are not
translations at all.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bilingual_crawler.alignment.costs import (
    FIRST_PASS,
    SECOND_PASS,
    Bead,
    BeadCosts,
    SentenceSide,
    Weighed,
    Weights,
)
from bilingual_crawler.alignment.overlap import (
    Floats,
    Lexicon,
    Overlap,
    anchor_overlap,
    lexicon_overlap,
    vector_overlap,
)
from bilingual_crawler.alignment.path import cheapest_beads
from bilingual_crawler.alignment.splitting import Segment

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
    "always": -3.13,
    "anchors": 1.47,
    "lexicon": 6.21,
    "length cost": -0.59,
    "long": -0.54,
    "several": -0.83,
    "neighbours": 5.94,
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
    found = {name: each.likeness(groups1, groups2) for name, each in overlaps.items()}
    return {
        "anchors": nothing,
        **found,
        "always": nothing + 1,
        "length cost": costs.length_cost(size1, size2),
        "long": np.log1p(np.minimum(size1, size2)),
        "several": np.asarray([bead.shape != (1, 1) for bead in beads], dtype=np.float64),
        "neighbours": _neighbours(paired),
    }


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
