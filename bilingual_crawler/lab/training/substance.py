"""Learn which counterparts hold translated content, from pairs that a person has read.

Right pairs and refused ones of read gold lists are the examples. A site counts for the square root
of its examples of each kind, so that no template decides alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bilingual_crawler.pairing.substance import FEATURES, SubstanceModel

PENALTY = 1.0


@dataclass(frozen=True, slots=True)
class SubstanceLesson:
    """Counterparts of one site: their features, and which of them are pairs."""

    site: str
    rows: NDArray[np.float64]
    labels: NDArray[np.bool_]


def fit_substance(given: Iterable[SubstanceLesson], about: dict[str, Any]) -> SubstanceModel:
    """Fit a model; a feature that would speak the wrong way is left out."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - only to train

    some = list(given)
    sites = np.concatenate([np.full(len(each.labels), each.site, dtype=object) for each in some])
    rows = np.vstack([each.rows for each in some])
    labels = np.concatenate([each.labels for each in some])
    counts: dict[tuple[str, bool], int] = {}
    keys = list(zip(sites, labels, strict=True))
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    weights = np.array([1 / sqrt(counts[key]) for key in keys])
    kept = list(range(len(FEATURES)))
    while True:
        mean, scale = rows[:, kept].mean(axis=0), rows[:, kept].std(axis=0) + 1e-9
        regression = LogisticRegression(C=PENALTY, max_iter=1_000)
        inputs = (rows[:, kept] - mean) / scale
        regression.fit(inputs, labels, sample_weight=weights / weights.mean())
        slopes = regression.coef_[0] / scale
        wrong = [at for at, slope in zip(kept, slopes, strict=True) if (slope > 0) != (at == 0)]
        if not wrong:
            break
        kept = [at for at in kept if at not in wrong]
    found = np.zeros(len(FEATURES))
    found[kept] = slopes
    bias = float(regression.intercept_[0] - (slopes * mean).sum())
    return SubstanceModel(bias, tuple(map(float, found)), about)
