"""A user's own labels for document pairs: what they teach, and how well it is learned."""

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
"""Of the cross-validation; each class must have an example for each."""
ENOUGH = 110
"""Labelled pairs that were enough for PPLocator's tree."""


@dataclass(slots=True)
class WeighedPairs:
    """The labelled pairs whose pages were found and weighed, and what was not."""

    pairs: list[LabelledPages] = field(default_factory=list)
    rows: list[list[float]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """URLs that are in none of the inputs, or in neither language."""

    @property
    def positive(self) -> int:
        """How many are translations."""
        return sum(each.parallel for each in self.pairs)


def read_labels(source: str, skipped: SkippedLines) -> list[LabelledPair]:
    """Rows `url<TAB>url<TAB>1|0`; a pair that is labelled both ways is refused."""
    labels: dict[tuple[str, str], LabelledPair] = {}
    for row in pair_rows(source, skipped):
        pair = min(row.first, row.second), max(row.first, row.second)
        known = labels.setdefault(pair, row)
        if known.parallel != row.parallel:
            raise ConfigurationError(
                f"{source} says of {row.first} and {row.second} both that they are translations"
                " and that they are not: leave one of the two lines out."
            )
    if not labels:
        raise ConfigurationError(
            f"{source} has no label in it: write two URLs and 1 or 0 a line, with tabs between;"
            " 1 is for translations."
        )
    return list(labels.values())


def gather(labels: Sequence[LabelledPair], search: PairSearch) -> WeighedPairs:
    """The labelled pairs among the pages of a finished search, with their numbers."""
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
    """Refuse labels from which nothing can be learned, and say what is needed."""
    positive, negative = examples.positive, len(examples.pairs) - examples.positive
    if min(positive, negative) >= FOLDS:
        return
    gone = f" {len(examples.missing):,} labelled pages are in none of the inputs, for instance"
    raise ConfigurationError(
        f"There are {positive:,} translations and {negative:,} other pairs with both pages in the"
        f" inputs; at least {FOLDS} of each are needed to learn from, and about {ENOUGH} pairs"
        " are enough." + (f"{gone} {examples.missing[0]}." if examples.missing else "")
    )


def learn(examples: WeighedPairs, start: PairModel) -> tuple[PairModel, dict[str, float]]:
    """The model that the examples make of another, and what it reaches in cross-validation.

    The figures are of examples that were left out; `..._before` are those of the start.
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
    """Masks of the examples that are left out, with as many of each class in every fold."""
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
