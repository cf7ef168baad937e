"""Learn the weights of pairing from pages whose pairs are known.

It is a logistic regression on the features of `pairing/comparison.py`, measured on sites that are
left out. Each site is used several times, with all detectors and without some of them, so that the
model does not rely on language switches or URLs alone: many sites have neither.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.comparison import FEATURES, GROUPS
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.model import PairModel
from bilingual_crawler.pairing.one_to_one import Urls
from bilingual_crawler.pairing.pair import PairingPage
from bilingual_crawler.pairing.resources import DETECTORS, PairingAids, UrlModel

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


def lessons(
    site: str,
    pair: LanguagePair,
    pages: Sequence[tuple[PairingPage, str]],
    true: Collection[Urls],
    url_model: UrlModel | None = None,
) -> Iterator[Lesson]:
    """Yield the lessons of a site, one for each set of hidden detectors.

    `pages` come with their nodes. Candidates with no page in a true pair are left out.
    """
    partners = dict(true) | {second: first for first, second in true}
    for groups in HIDDEN:
        matcher = Matcher(
            pair, frozenset(DETECTORS) - groups, aids=PairingAids(url_model=url_model)
        )
        matcher.restore(pages)
        rows, labels = [], []
        for urls, numbers in matcher.features():
            known = [partners[url] == other for url, other in _both_ways(urls) if url in partners]
            if known:
                rows.append(numbers)
                labels.append(all(known))
        if rows:
            yield Lesson(site, np.array(rows), np.array(labels))


def fit(given: Iterable[Lesson], about: dict[str, Any]) -> PairModel:
    """Fit a model to lessons."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - only to train

    some = list(given)
    rows = np.vstack([lesson.rows for lesson in some])
    labels = np.concatenate([lesson.labels for lesson in some])
    counts = {lesson.site: 0 for lesson in some}
    for lesson in some:
        counts[lesson.site] += 1
    weights = np.concatenate(
        [np.full(len(each.rows), each.weight / counts[each.site]) for each in some]
    )
    mean, scale = rows.mean(axis=0), np.maximum(rows.std(axis=0), LEAST_SCALE)
    regression = LogisticRegression(C=REGULARISATION, max_iter=1_000)
    regression.fit((rows - mean) / scale, labels, sample_weight=weights / weights.mean())
    slopes = regression.coef_[0] / scale
    bias = float(regression.intercept_[0] - (slopes * mean).sum())
    assert len(slopes) == len(FEATURES)
    return PairModel(bias, tuple(map(float, slopes)), about)


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


def _both_ways(urls: Urls) -> tuple[Urls, Urls]:
    return urls, (urls[1], urls[0])
