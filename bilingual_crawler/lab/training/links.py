"""Fit the link predictor to labelled links: a linear SVM and Platt's sigmoid.

Every site counts the same, however many links it has. A word is learned only if several sites have
it, so that the names of one site do not become a rule. The sigmoid is fitted to margins of links
from sites that the SVM has not seen; fitted to those it has seen, it would be far too confident.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bilingual_crawler.discovery.link_predictor import LinkPredictor
from bilingual_crawler.lab.training.link_labels import LabelledLink

LEAST_SITES = 4
PENALTY = 0.02
"""The cost of an example on the wrong side (C of the SVM)."""
FOLDS = 5
"""The number of folds of sites for fitting the sigmoid."""
THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

Numbers = NDArray[np.float64]


class LinkFigures(NamedTuple):
    """Recall and precision of the links above a threshold; every site counts the same."""

    threshold: float
    recall: float
    precision: float

    @property
    def f(self) -> float:
        """The harmonic mean of precision and recall."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def fit(given: Iterable[LabelledLink], about: dict[str, Any]) -> LinkPredictor:
    """Fit a predictor to links."""
    from sklearn.calibration import CalibratedClassifierCV  # noqa: PLC0415 - only to train
    from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415 - only to train
    from sklearn.model_selection import GroupKFold  # noqa: PLC0415 - only to train
    from sklearn.svm import LinearSVC  # noqa: PLC0415 - only to train

    links = list(given)
    counter = CountVectorizer(analyzer=_same, binary=True, vocabulary=vocabulary(links))
    rows = counter.transform([link.features for link in links])
    labels = np.array([link.is_right for link in links])
    sites = np.array([link.site for link in links])
    machine = CalibratedClassifierCV(
        LinearSVC(C=PENALTY, random_state=0),
        method="sigmoid",
        cv=list(GroupKFold(min(FOLDS, len(set(sites)))).split(rows, labels, sites)),
        ensemble=False,
    )
    machine.fit(rows, labels, sample_weight=weights_of(links))
    (fitted,) = machine.calibrated_classifiers_
    (sigmoid,) = fitted.calibrators
    slopes = fitted.estimator.coef_[0]
    names = counter.get_feature_names_out()
    return LinkPredictor(
        weights={str(n): float(w) for n, w in zip(names, slopes, strict=True) if w},
        bias=float(fitted.estimator.intercept_[0]),
        slope=float(sigmoid.a_),
        offset=float(sigmoid.b_),
        about=about,
    )


def vocabulary(links: Iterable[LabelledLink]) -> list[str]:
    """Return the features to learn: those about languages, and words found on several sites."""
    sites: defaultdict[str, set[str]] = defaultdict(set)
    for link in links:
        for feature in link.features:
            sites[feature].add(link.site)
    return sorted(f for f, where in sites.items() if "<" in f or len(where) >= LEAST_SITES)


def weights_of(links: Sequence[LabelledLink]) -> Numbers:
    """Return the weight of each link, so that every site counts the same; 1 on average."""
    totals: defaultdict[str, float] = defaultdict(float)
    for link in links:
        totals[link.site] += link.weight
    share = len(links) / len(totals)
    return np.array([share * link.weight / totals[link.site] for link in links])


def left_out(links: Sequence[LabelledLink]) -> Iterator[tuple[str, LinkPredictor]]:
    """Yield each site with the predictor that is learned from all others."""
    for site in sorted({link.site for link in links}):
        yield site, fit([link for link in links if link.site != site], {})


def measure(
    predictors: dict[str, LinkPredictor], links: Sequence[LabelledLink]
) -> list[LinkFigures]:
    """Return recall and precision by threshold; each site is judged by its own predictor."""
    likelihoods = np.array(
        [
            predictor.probability(predictor.margin(link.features))
            for link in links
            for predictor in (predictors[link.site],)
        ]
    )
    right = np.array([link.is_right for link in links])
    weights = weights_of(links)
    found = []
    for threshold in THRESHOLDS:
        passed = likelihoods >= threshold
        hits = weights[passed & right].sum()
        recall = hits / max(1e-9, weights[right].sum())
        precision = hits / max(1e-9, weights[passed].sum())
        found.append(LinkFigures(threshold, float(recall), float(precision)))
    return found


def _same(features: Sequence[str]) -> Sequence[str]:
    """Return the features as they are."""
    return features
