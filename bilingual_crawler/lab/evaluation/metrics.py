"""Precision, recall and F1, per class and as macro averages over the classes in the data."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bilingual_crawler.lab.labels import LabelledUrl, registered_domain
from bilingual_crawler.scoring.models import UNKNOWN

LEAST_URLS, LEAST_SITES = 100, 10
"""What a language needs before SBFC reports a figure for it."""


@dataclass(frozen=True, slots=True)
class ClassScore:
    """How well one class is recognised."""

    label: str
    support: int
    predicted: int
    right: int

    @property
    def precision(self) -> float:
        """The share of rows given this label that have it; 0 if none was given it."""
        return self.right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of the class that was found."""
        return self.right / self.support if self.support else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.support + self.predicted
        return 2 * self.right / both if both else 0.0


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of the classes in the data, largest first, and their averages."""

    classes: tuple[ClassScore, ...]
    unknown_share: float
    accuracy: float
    """The share of rows with the right label, whatever their class."""

    @property
    def macro_precision(self) -> float:
        """The mean precision over classes."""
        return self._mean(lambda each: each.precision)

    @property
    def macro_recall(self) -> float:
        """The mean recall over classes."""
        return self._mean(lambda each: each.recall)

    @property
    def macro_f1(self) -> float:
        """The mean F1 over classes."""
        return self._mean(lambda each: each.f1)

    def of(self, label: str) -> ClassScore:
        """Return the scores of one class; zeros if it does not occur."""
        found = [each for each in self.classes if each.label == label]
        return found[0] if found else ClassScore(label, 0, 0, 0)

    def _mean(self, value: Callable[[ClassScore], float]) -> float:
        return sum(map(value, self.classes)) / len(self.classes) if self.classes else 0.0


def scores(
    gold: Sequence[str], predicted: Sequence[str], only: Collection[str] | None = None
) -> Scores:
    """Compare labels; `only` limits the classes reported, not the rows they are judged on."""
    support, answers = Counter(gold), Counter(predicted)
    right = Counter(label for label, answer in zip(gold, predicted, strict=True) if label == answer)
    labels = sorted(support, key=lambda label: (-support[label], label))
    return Scores(
        tuple(
            ClassScore(label, support[label], answers[label], right[label])
            for label in labels
            if only is None or label in only
        ),
        answers[UNKNOWN] / len(predicted) if predicted else 0.0,
        right.total() / len(predicted) if predicted else 0.0,
    )


class TakenFor(NamedTuple):
    """Rows of one class that got one label, and their share of the class."""

    label: str
    answer: str
    rows: int
    share: float


class Confusion:
    """Which classes are taken for which."""

    def __init__(self, gold: Sequence[str], predicted: Sequence[str]) -> None:
        self._counts = Counter(zip(gold, predicted, strict=True))
        self._support = Counter(gold)

    def entries(self) -> list[TakenFor]:
        """Return what was answered for each class, right or wrong, the largest classes first."""
        return sorted(
            (
                TakenFor(label, answer, count, count / self._support[label])
                for (label, answer), count in self._counts.items()
            ),
            key=lambda each: (-self._support[each.label], each.label, -each.rows, each.answer),
        )

    def errors(self) -> list[TakenFor]:
        """Return the wrong answers, the most frequent ones first."""
        wrong = [each for each in self.entries() if each.label != each.answer]
        return sorted(wrong, key=lambda each: -each.rows)

    def taken_for(self, answer: str, least_share: float) -> list[TakenFor]:
        """Return the other classes of which at least some share got one label, worst first."""
        found = [each for each in self.errors() if each.answer == answer]
        return sorted(
            (each for each in found if each.share >= least_share), key=lambda each: -each.share
        )


def well_covered(
    rows: Iterable[LabelledUrl], urls: int = LEAST_URLS, sites: int = LEAST_SITES
) -> frozenset[str]:
    """Return the languages with enough URLs of enough sites for a figure that means something."""
    count: Counter[str] = Counter()
    found: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        count[row.language] += 1
        found[row.language].add(row.domain or registered_domain(row.url))
    return frozenset(
        label for label in count if count[label] >= urls and len(found[label]) >= sites
    )


def macro_f1(
    predicted: NDArray[np.int64], wanted: NDArray[np.int64], classes: Sequence[int]
) -> float:
    """Return the mean F1 over some classes; rows of other classes count too."""
    return float(np.mean([f1(predicted == each, wanted == each) for each in classes] or [0.0]))


def f1(predicted: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> float:
    """Return the F1 of one class."""
    right = int((predicted & wanted).sum())
    return 2 * right / max(1, int(predicted.sum()) + int(wanted.sum()))
