"""A linear model of n-gram ids: one-against-rest logistic regression, weighted by rarity.

The ids are those that a crawl passes to the graph of the compact model, which must be better than
what scikit-learn fits to them in minutes.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import SGDClassifier

from bilingual_crawler.lab.training.examples import PAD, Examples
from bilingual_crawler.scoring.encode import Arrays

PENALTY = 1e-6
PASSES = 4


class LinearModel(NamedTuple):
    """Weights [buckets, outputs], bias [outputs], and how rare each n-gram is [buckets]."""

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    rarity: NDArray[np.float32]

    def logits(self, ngrams: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the logits of rows of ids (0 is padding)."""
        rows = _unit_rows(_counts(ngrams, len(self.rarity)), self.rarity.astype(np.float64))
        return np.asarray(rows @ self.weights + self.bias, dtype=np.float32)


def fit_linear(
    ngrams: NDArray[np.int64],
    targets: NDArray[np.int64],
    weights: NDArray[np.float64],
    *,
    buckets: int,
    outputs: int,
    by_rarity: bool = True,
    seed: int = 0,
    threads: int = 2,
) -> LinearModel:
    """Fit rows of n-gram ids (0 is padding); every class is one against the rest."""
    rows = _counts(ngrams, buckets)
    rarity = np.ones(buckets)
    if by_rarity:
        rarity += np.log((1 + len(targets)) / (1 + np.asarray((rows > 0).sum(axis=0)).ravel()))
    model = SGDClassifier(
        loss="log_loss",
        alpha=PENALTY,
        max_iter=PASSES,
        tol=None,
        random_state=seed,
        n_jobs=threads,
    )
    model.fit(_unit_rows(rows, rarity), targets, sample_weight=weights)
    table = np.zeros((buckets, outputs), dtype=np.float32)
    bias = np.full(outputs, float(model.intercept_.min()), dtype=np.float32)
    if len(model.classes_) == 2:  # noqa: PLR2004 - scikit-learn then has one row for both
        table[:, model.classes_[1]], bias[model.classes_[1]] = model.coef_[0], model.intercept_[0]
        table[:, model.classes_[0]], bias[model.classes_[0]] = -model.coef_[0], -model.intercept_[0]
    else:
        table[:, model.classes_] = model.coef_.T
        bias[model.classes_] = model.intercept_
    return LinearModel(table, bias, rarity.astype(np.float32))


def joined_ids(arrays: Arrays, tables: Mapping[str, int]) -> NDArray[np.int64]:
    """Return several inputs of a model as numbers of one table, which has theirs one by one."""
    parts, start = [], 0
    for name, size in tables.items():
        parts.append(np.where(arrays[name] > 0, arrays[name] + np.int64(start), 0))
        start += size
    return np.concatenate(parts, axis=1)


def _counts(ngrams: NDArray[np.int64], buckets: int) -> sparse.csr_matrix:
    used = ngrams > 0
    ends = np.concatenate(([0], np.cumsum(used.sum(axis=1))))
    ids = ngrams[used]
    ones = np.ones(len(ids), dtype=np.float32)
    return sparse.csr_matrix((ones, ids, ends), shape=(len(ngrams), buckets))


def _unit_rows(rows: sparse.csr_matrix, rarity: NDArray[np.float64]) -> sparse.csr_matrix:
    weighted = (rows @ sparse.diags(rarity)).tocsr()
    lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    return (sparse.diags(1 / np.maximum(lengths, 1e-6)) @ weighted).tocsr().astype(np.float32)


def token_statistics(examples: Examples, outputs: int) -> NDArray[np.float32]:
    """Return what each token says about each class: damped log-odds against the class's share.

    A transformer whose embeddings start with this need not learn from scratch that `ja` is Finnish:
    it learns in minutes what otherwise took an hour.
    """
    ids = np.concatenate([variant["input_ids"] for variant in examples.variants])
    repeated = len(examples.variants)
    targets = np.concatenate([examples.targets] * repeated)
    rows = np.ones(len(examples)) if examples.weights is None else examples.weights
    weights = np.concatenate([rows / rows.mean()] * repeated)
    words = ids > PAD + 3  # after the special tokens
    lengths = words.sum(axis=1)
    count = np.zeros((int(ids.max()) + 1, outputs))
    np.add.at(count, (ids[words], np.repeat(targets, lengths)), np.repeat(weights, lengths))
    share = np.maximum(count.sum(axis=0) / max(1.0, count.sum()), 1e-9)
    total = count.sum(axis=1, keepdims=True)
    odds = np.log((count + 2 * share) / (total + 2) / share)
    return np.asarray(odds * np.minimum(1, np.sqrt(total / 10)), dtype=np.float32)
