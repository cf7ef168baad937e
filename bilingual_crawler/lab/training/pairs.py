"""Learn to pair pages: the weights of pairing, a user's labels, and the small classifiers.

The weights are a logistic regression on the features of `pairing/comparison.py`, measured on sites
that are left out. Each site is used several times, with all detectors and without some of them, so
that the model does not rely on language switches or URLs alone: many sites have neither. A user's
own labels adapt them.

The SVM of ILSP-FC and the decision tree of PPLocator need few examples: PPLocator was trained on
110, 25 of them translations. What scikit-learn fits is stored as numbers that
`pairing/small_models.py` evaluates, so that a crawl does not need scikit-learn.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import product
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from bilingual_crawler.corpus.pair_search import PairSearch
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.evaluation.read_gold import ReadGold
from bilingual_crawler.lab.labels import LabelledPair, SkippedLines, pair_rows
from bilingual_crawler.pairing.comparison import (
    FEATURES,
    GROUPS,
    hidden,
    hide,
    likeness,
    rivalry,
)
from bilingual_crawler.pairing.ilsp import may_be_pair, sizes_agree, structure_features
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.model import PairModel
from bilingual_crawler.pairing.pair import PairingPage
from bilingual_crawler.pairing.pplocator import page_features
from bilingual_crawler.pairing.resources import DETECTORS
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

FeatureRows = Sequence[Sequence[float]]


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
    rows: FeatureRows, labels: Sequence[bool], *, degree: int = DEGREE, penalty: float = PENALTY
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


def fit_tree(rows: FeatureRows, labels: Sequence[bool], *, seed: int = 0) -> DecisionTree:
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
        if first.language != search.languages.codes[0]:
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


URL_GROUPS = frozenset(group for group in GROUPS if group.startswith("url_"))
HIDDEN = (
    frozenset[str](),
    frozenset({"url_model"}),
    frozenset({"switches"}),
    URL_GROUPS,
    URL_GROUPS | {"switches"},
)
"""The detectors hidden from the model, one set for each time a site is used."""
REGULARISATION = 0.3
CAUTION, LESS_CAUTION = math.log(0.92 / 0.08), math.log(0.7 / 0.3)
"""What is taken from the log-odds, and what if the URLs are equal but for the language: the last
pages that are left look alike, and below these probabilities most pairs are wrong. That was seen on
the demo and on the recorded sites."""
OPPOSING = frozenset(
    ("depths", "claimants", "targets", "words", "words_squared", "characters", "exact")
)
"""The features that can only speak against a pair: differences, and how common a claim is."""
NEUTRAL = frozenset(("shared_words", "shortness", *(n for n in FEATURES if n.startswith("no_"))))
"""Those that may speak either way: what is missing, and words that stayed the same."""
SUPPORTING = frozenset(FEATURES) - OPPOSING - NEUTRAL
MOST_STEPS = 2_000
STIFFNESS = 2.0
LEAST_SCALE = 0.1
"""The least standard deviation assumed of a feature: constant ones would get huge weights."""

Rows = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Lesson:
    """The candidates of one site and language pair whose labels are known."""

    site: str
    rows: Rows
    labels: NDArray[np.bool_]

    @property
    def weight(self) -> float:
        """The weight of a candidate: large sites count more, but not in proportion."""
        return 1 / sqrt(max(1, int(self.labels.sum())))


def lessons(site: str, matcher: Matcher, gold: ReadGold) -> Iterator[Lesson]:
    """Yield the lessons of a site, one for each set of hidden detectors.

    The matcher has finished and refuses no thin pairs. Candidates with no page in a true pair are
    left out: a reader refuses counterparts without content, and it is not the task of this model
    to see that.
    """
    candidates = list(matcher.features())
    for groups in HIDDEN:
        places = hidden(frozenset(DETECTORS) - groups)
        alike: defaultdict[str, list[float]] = defaultdict(list)
        seen = []
        for nodes, urls, known in candidates:
            numbers = list(known)
            hide(numbers, places)
            seen.append((nodes, urls, numbers, likeness(numbers)))
            for node in nodes:
                alike[node].append(seen[-1][-1])
        best = {node: nlargest(2, [*some, 0.0]) for node, some in alike.items()}
        rows, labels = [], []
        for nodes, urls, numbers, own in seen:
            label = gold.label(*urls)
            if label == "right" or (label == "wrong" and gold.knows(urls)):
                rivals = (best[node][own >= best[node][0]] for node in nodes)
                rows.append([*numbers, *rivalry(own, *rivals)])
                labels.append(label == "right")
        if rows:
            yield Lesson(site, np.array(rows), np.array(labels))


def fit(given: Iterable[Lesson], about: dict[str, Any]) -> PairModel:
    """Fit a model to lessons.

    What two pages have in common can only speak for a pair, and what sets them apart only against
    one (`SUPPORTING`, `OPPOSING`), whatever the sites of the lessons look like.
    """
    some = list(given)
    rows = np.vstack([lesson.rows for lesson in some])
    labels = np.concatenate([lesson.labels for lesson in some])
    counts = Counter(lesson.site for lesson in some)
    weights = np.concatenate(
        [np.full(len(each.rows), each.weight / counts[each.site]) for each in some]
    )
    weights *= REGULARISATION / weights.mean()
    mean, scale = rows.mean(axis=0), np.maximum(rows.std(axis=0), LEAST_SCALE)
    inputs = np.hstack([np.ones((len(rows), 1)), (rows - mean) / scale])
    signs = np.where(labels, 1.0, -1.0)

    def cost(slopes: Rows) -> tuple[float, Rows]:
        margins = signs * (inputs @ slopes)
        penalised = np.concatenate([[0.0], slopes[1:]])
        pull = -signs * np.exp(-np.logaddexp(0, margins)) * weights
        loss = weights @ np.logaddexp(0, -margins) + penalised @ penalised / 2
        return float(loss), inputs.T @ pull + penalised

    bounds = [(None, None), *map(_bounds, FEATURES)]
    start = np.zeros(inputs.shape[1])
    options = {"maxiter": MOST_STEPS}
    found = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    slopes = found[1:] / scale
    bias = float(found[0] - (slopes * mean).sum()) - CAUTION
    slopes[FEATURES.index("same_key")] += CAUTION - LESS_CAUTION
    return PairModel(bias, tuple(map(float, slopes)), about)


def _bounds(feature: str) -> tuple[float | None, float | None]:
    """Return the least and the greatest weight that a feature may have."""
    return (0.0 if feature in SUPPORTING else None, 0.0 if feature in OPPOSING else None)


def adapt(model: PairModel, rows: Rows, labels: NDArray[np.bool_]) -> PairModel:
    """Adapt a model to more examples.

    A hundred labels cannot determine fifty weights, so the weights stay near where they were: each
    unit by which one moves costs as much as `STIFFNESS` badly wrong examples.
    """
    start = np.array([model.bias, *model.weights])
    inputs = np.hstack([np.ones((len(rows), 1)), rows])
    signs = np.where(labels, 1.0, -1.0)
    scale = np.concatenate([[1.0], np.maximum(rows.std(axis=0), LEAST_SCALE)])

    def cost(weights: Rows) -> tuple[float, Rows]:
        margins = signs * (inputs @ weights)
        moved = (weights - start) * scale
        slopes = -signs * np.exp(-np.logaddexp(0, margins))
        loss = np.logaddexp(0, -margins).sum() + STIFFNESS / 2 * (moved @ moved)
        return float(loss), inputs.T @ slopes + STIFFNESS * moved * scale

    found = minimize(cost, start, jac=True, method="L-BFGS-B").x
    return PairModel(float(found[0]), tuple(map(float, found[1:])), model.about)


def accepted(model: PairModel, rows: Rows) -> NDArray[np.bool_]:
    """Return which examples a model takes for pairs."""
    return np.array(rows @ np.array(model.weights) + model.bias > 0)
