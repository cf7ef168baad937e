"""Adapt the pair model to a user's own labels, and measure the result."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bilingual_crawler.corpus.pair_search import PairSearch
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.labels import LabelledPair, SkippedLines, pair_rows
from bilingual_crawler.lab.training.pair_classifiers import LabelledPages, fit_pair_classifiers
from bilingual_crawler.lab.training.pairs import accepted, adapt
from bilingual_crawler.pairing.model import PairModel

FOLDS = 10
"""Folds of the cross-validation; each needs an example of each class."""
ENOUGH = 110
"""The number of labelled pairs that was enough for PPLocator's tree."""


@dataclass(slots=True)
class WeighedPairs:
    """The labelled pairs whose pages were found, with their features, and what is missing."""

    pairs: list[LabelledPages] = field(default_factory=list)
    rows: list[list[float]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """URLs that are in none of the inputs, or in neither language of the pair."""

    @property
    def positive(self) -> int:
        """The number of translations."""
        return sum(each.parallel for each in self.pairs)


def read_labels(source: str, skipped: SkippedLines) -> list[LabelledPair]:
    """Read rows `url<TAB>url<TAB>1|0`; refuse a pair with contradictory labels."""
    labels: dict[tuple[str, str], LabelledPair] = {}
    for row in pair_rows(source, skipped):
        pair = min(row.first, row.second), max(row.first, row.second)
        known = labels.setdefault(pair, row)
        if known.parallel != row.parallel:
            raise ConfigurationError(
                f"{source} labels {row.first} and {row.second} both as translations and as not"
                " translations: remove one of the two lines."
            )
    if not labels:
        raise ConfigurationError(
            f"{source} has no labels: write two URLs and 1 or 0 on each line, separated by tabs;"
            " 1 means translations."
        )
    return list(labels.values())


def gather(labels: Sequence[LabelledPair], search: PairSearch) -> WeighedPairs:
    """Find the labelled pairs among the pages of a finished search, with their features."""
    examples = WeighedPairs()
    missing: dict[str, None] = {}
    for row in labels:
        first, second = search.page(row.first), search.page(row.second)
        if first is None or second is None:
            pages = (row.first, first), (row.second, second)
            missing |= {url: None for url, page in pages if page is None}
            continue
        if first.language != search.pair.first.code:
            first, second = second, first
        if first.language != second.language:
            examples.pairs.append(LabelledPages(first, second, row.parallel))
    examples.rows = search.features_of([(one.url, two.url) for one, two, _ in examples.pairs])
    examples.missing = list(missing)
    return examples


def check(examples: WeighedPairs) -> None:
    """Raise an error that says what is needed if there are too few labels."""
    positive, negative = examples.positive, len(examples.pairs) - examples.positive
    if min(positive, negative) >= FOLDS:
        return
    gone = f" {len(examples.missing):,} labelled pages are in none of the inputs, for example"
    raise ConfigurationError(
        f"There are {positive:,} translations and {negative:,} other pairs with both pages in the"
        f" inputs; at least {FOLDS} of each are needed to learn from, and about {ENOUGH} pairs"
        " are enough." + (f"{gone} {examples.missing[0]}." if examples.missing else "")
    )


def learn(examples: WeighedPairs, start: PairModel) -> tuple[PairModel, dict[str, float]]:
    """Return a model adapted to the examples, and its figures in cross-validation.

    The figures are for held-out examples; `..._before` are those of the original model.
    """
    rows = np.array(examples.rows)
    labels = np.array([each.parallel for each in examples.pairs])
    judged = np.zeros(len(rows), dtype=bool)
    for fold in _folds(labels):
        judged[fold] = accepted(adapt(start, rows[~fold], labels[~fold]), rows[fold])
    before = _figures(accepted(start, rows), labels)
    figures = _figures(judged, labels) | {f"{name}_before": each for name, each in before.items()}
    adapted = adapt(start, rows, labels)
    about = {"labelled pairs": len(rows), "translations": examples.positive} | {
        f"cross-validated {name}": round(value, 4) for name, value in figures.items()
    }
    classifiers = fit_pair_classifiers(examples.pairs)
    return PairModel(adapted.bias, adapted.weights, about, classifiers), figures


def _folds(labels: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
    """Yield masks of the held-out examples, with each class spread evenly over the folds."""
    order = np.empty(len(labels), dtype=int)
    for label in (True, False):
        places = np.flatnonzero(labels == label)
        order[np.random.default_rng(0).permutation(places)] = np.arange(len(places)) % FOLDS
    for fold in range(FOLDS):
        yield order == fold


def _figures(judged: NDArray[np.bool_], labels: NDArray[np.bool_]) -> dict[str, float]:
    hits = int((judged & labels).sum())
    total = int(judged.sum() + labels.sum())
    return {
        "precision": hits / max(1, int(judged.sum())),
        "recall": hits / max(1, int(labels.sum())),
        "f1": 2 * hits / max(1, total),
    }
