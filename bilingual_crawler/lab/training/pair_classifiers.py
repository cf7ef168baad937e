"""Fit the small classifiers of pairs: the SVM of ILSP-FC and the decision tree of PPLocator.

Both need few examples: PPLocator was trained on 110, 25 of them translations. What scikit-learn
fits is stored as numbers that `pairing/small_models.py` evaluates, so that a crawl does not need
scikit-learn.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.pairing.ilsp import may_be_pair, sizes_agree, structure_features
from bilingual_crawler.pairing.pair import PairingPage
from bilingual_crawler.pairing.pplocator import page_features
from bilingual_crawler.pairing.small_models import (
    DecisionTree,
    PairClassifiers,
    PolynomialMachine,
    Split,
    Tree,
)

DEGREE = 2
PENALTY = 1.0
"""The cost of an example on the wrong side of the soft margin."""
MOST_QUESTIONS = 3
LEAST_SHARE_OF_LEAF = 0.01
LEAST_AT_LEAF = 5
SMALLEST_FACTOR = 1e-12

Rows = Sequence[Sequence[float]]


class LabelledPages(NamedTuple):
    """Two pages, and whether they are translations of each other."""

    first: PairingPage
    second: PairingPage
    parallel: bool


def fit_pair_classifiers(examples: Sequence[LabelledPages]) -> PairClassifiers:
    """Fit both classifiers, each to the examples that its system would judge."""
    structured = list(filter(asked_about_structure, examples))
    return PairClassifiers(
        fit_machine(
            [structure_features(each.first.profile, each.second.profile) for each in structured],
            [each.parallel for each in structured],
        ),
        fit_tree(
            [page_features(each.first.profile, each.second.profile) for each in examples],
            [each.parallel for each in examples],
        ),
    )


def asked_about_structure(example: LabelledPages) -> bool:
    """Return True if ILSP-FC would compare the structure of two pages."""
    return may_be_pair(example.first, example.second) and sizes_agree(
        example.first.profile, example.second.profile
    )


def fit_machine(
    rows: Rows, labels: Sequence[bool], *, degree: int = DEGREE, penalty: float = PENALTY
) -> PolynomialMachine:
    """Fit a soft-margin SVM with a polynomial kernel, and multiply it out."""
    _demand_both_kinds(labels)
    machine = SVC(
        kernel="poly", degree=degree, gamma=1.0, coef0=1.0, C=penalty, class_weight="balanced"
    )
    machine.fit(np.asarray(rows), np.asarray(labels))
    vectors, weights = machine.support_vectors_, machine.dual_coef_[0]
    terms = []
    for powers in _powers(len(rows[0]), degree):
        factor = _times(powers, degree) * float(weights @ np.prod(vectors**powers, axis=1))
        if not any(powers):
            factor += float(machine.intercept_[0])
        if abs(factor) > SMALLEST_FACTOR:
            terms.append((powers, factor))
    return PolynomialMachine(tuple(terms))


def fit_tree(rows: Rows, labels: Sequence[bool], *, seed: int = 0) -> DecisionTree:
    """Fit a decision tree by information gain, as C4.5 does, kept small instead of pruned."""
    _demand_both_kinds(labels)
    least = max(LEAST_AT_LEAF, round(LEAST_SHARE_OF_LEAF * len(rows)))
    model = DecisionTreeClassifier(
        criterion="entropy", max_depth=MOST_QUESTIONS, min_samples_leaf=least, random_state=seed
    )
    model.fit(np.asarray(rows), np.asarray(labels))
    return DecisionTree(_node(model.tree_, 0))


def _node(tree: Any, number: int) -> Tree:
    if tree.children_left[number] < 0:
        others, parallel = tree.value[number][0]
        return float(parallel / (others + parallel))
    below, above = (
        _node(tree, children[number]) for children in (tree.children_left, tree.children_right)
    )
    if isinstance(below, float) and isinstance(above, float) and below == above:
        return below
    return Split(int(tree.feature[number]), float(tree.threshold[number]), below, above)


def _powers(features: int, degree: int) -> Iterator[tuple[int, ...]]:
    """Yield the powers of every monomial of at most this degree."""
    return (
        powers for powers in product(range(degree + 1), repeat=features) if sum(powers) <= degree
    )


def _times(powers: tuple[int, ...], degree: int) -> int:
    """Return the coefficient of a monomial in (1 + x1 + ... + xn) to the power of `degree`."""
    rest = degree - sum(powers)
    return math.factorial(degree) // math.prod(map(math.factorial, (rest, *powers)))


def _demand_both_kinds(labels: Sequence[bool]) -> None:
    if len(set(labels)) < 2:  # noqa: PLR2004 - true and false
        raise ConfigurationError(
            "The classifiers need examples of both kinds: pairs that are translations, and pairs"
            " that are not, with texts of about the same size."
        )
