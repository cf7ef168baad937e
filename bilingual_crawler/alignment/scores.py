"""How sure a bead is: the probability that its sides are translations of one another.

A logistic regression over a few things that are known of a bead once the way is found. The
factors were fitted by benchmarks/alignment_fit.py on texts with a known alignment, and on pairs
of texts that are no translations at all.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bilingual_crawler.alignment.beads import Bead
from bilingual_crawler.alignment.costs import BeadCosts
from bilingual_crawler.alignment.overlap import Floats, Overlap

NEIGHBOURS = 3
"""How far on each side a bead looks for others that are paired."""

FIRST_PASS: Mapping[str, float] = {
    "always": -4.84,
    "anchors": 1.95,
    "length cost": -0.72,
    "long": -0.02,
    "several": -1.26,
    "neighbours": 8.02,
}
SECOND_PASS: Mapping[str, float] = {
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
"""Not fitted: models differ. A cosine above a half speaks for a pair."""


def scores(beads: Sequence[Bead], costs: BeadCosts, overlaps: Mapping[str, Overlap]) -> list[float]:
    """The score of each bead, from 0 to 1; of one without text on both sides it is 0."""
    known = features(beads, costs, overlaps)
    logits = np.zeros(len(beads))
    factors = SECOND_PASS if "lexicon" in overlaps else FIRST_PASS
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
    """What the score of each bead is made of."""
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
    """A row a bead, with a one for each of its sentences; together they are all sentences."""
    bounds = np.concatenate([starts[:1], ends])
    size = int(bounds[-1])
    return sparse.csr_array((np.ones(size), np.arange(size), bounds), (len(starts), size))


def _neighbours(paired: NDArray[np.bool_]) -> Floats:
    """Which share of the beads around each one is paired; beyond the ends all are."""
    padded = np.concatenate([np.ones(NEIGHBOURS), paired, np.ones(NEIGHBOURS)])
    around = np.convolve(padded, np.ones(2 * NEIGHBOURS + 1), "valid") - paired
    shares: Floats = around / (2 * NEIGHBOURS)
    return shares
