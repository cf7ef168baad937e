"""The bar for url2lang: a linear model over character n-grams of the prepared URL.

Nothing is tuned: it is what anybody would try first, so a model that does not beat it
clearly is not worth its milliseconds.
"""

from collections.abc import Sequence
from typing import Any

from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline

from bilingual_crawler.scoring.preprocess import prepare

SMALLEST, LARGEST = 2, 5


class NgramBaseline:
    """scikit-learn's hashed n-grams (inside words) and one-against-rest logistic regression."""

    def __init__(self, *, seed: int = 0, buckets: int = 1 << 18, threads: int = 2) -> None:
        self._model: Any = make_pipeline(
            HashingVectorizer(
                analyzer="char_wb",
                ngram_range=(SMALLEST, LARGEST),
                n_features=buckets,
                preprocessor=_lower,
                alternate_sign=False,
            ),
            TfidfTransformer(sublinear_tf=True),
            SGDClassifier(
                loss="log_loss", alpha=1e-6, max_iter=6, tol=None, random_state=seed, n_jobs=threads
            ),
        )

    def fit(self, urls: Sequence[str], languages: Sequence[str]) -> None:
        """Learn from labelled URLs."""
        self._model.fit(urls, languages)

    def predict(self, urls: Sequence[str]) -> list[str]:
        """The likeliest language of every URL."""
        return [str(label) for label in self._model.predict(urls)]


def _lower(url: str) -> str:
    return prepare(url).lower()
