"""Macro F1, the one figure that decides which weights are kept."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from bilingual_crawler.lab.training.data import TrainingUrl

FEWEST_URLS, FEWEST_DOMAINS = 20, 5


def enough(
    rows: Iterable[TrainingUrl], urls: int = FEWEST_URLS, domains: int = FEWEST_DOMAINS
) -> list[str]:
    """The languages that a set of rows can say something about."""
    count: Counter[str] = Counter()
    found: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        count[row.language] += 1
        found[row.language].add(row.domain)
    return sorted(
        language
        for language in count
        if count[language] >= urls and len(found[language]) >= domains
    )


def macro_f1(
    predicted: NDArray[np.int64], wanted: NDArray[np.int64], classes: Sequence[int]
) -> float:
    """The mean over classes of F1; every row counts, also of other classes."""
    return float(np.mean([f1(predicted == each, wanted == each) for each in classes] or [0.0]))


def f1(predicted: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> float:
    """F1 of one class."""
    right = int((predicted & wanted).sum())
    return 2 * right / max(1, int(predicted.sum()) + int(wanted.sum()))
