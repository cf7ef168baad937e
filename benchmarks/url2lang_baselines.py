"""The baselines of the url2lang model: ISO-code rules and a linear n-gram model.

The n-gram model is fitted to the real rows that `scrapy train url2lang` learns from, and all are
measured on the same rows, from domains that none of them has seen. The test part is for a finished
model; it is not used by default.

    python -m benchmarks.url2lang_baselines --data urls.tsv.gz --weak urls_weak.tsv.gz
    python -m benchmarks.url2lang_baselines --data urls.tsv.gz --part test --without-model
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline

from benchmarks.recorded_pairs import SHARED
from bilingual_crawler.lab.evaluation.classification import announced_language
from bilingual_crawler.lab.evaluation.metrics import macro_f1, well_covered
from bilingual_crawler.lab.labels import LabelledUrl, read_urls
from bilingual_crawler.lab.training.split import DEV, TEST, TRAIN, cap, part, split_domains
from bilingual_crawler.lab.training.url2lang import MEASURED, labels_of, thinned
from bilingual_crawler.scoring.classifier import Url2Lang
from bilingual_crawler.scoring.models import find_model
from bilingual_crawler.scoring.preprocess import prepare

DATA = [SHARED / "data" / "urls_strong.tsv.gz"]
WEAK = [SHARED / "data" / "urls_weak.tsv.gz"]

SMALLEST, LARGEST = 2, 5


class NgramBaseline:
    """scikit-learn's hashed n-grams (inside words) and one-against-rest logistic regression.

    Nothing is tuned: it is what anyone would try first, so a model that does not clearly beat
    it is not worth its milliseconds.
    """

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
        """Return the likeliest language of every URL."""
        return [str(label) for label in self._model.predict(urls)]


def _lower(url: str) -> str:
    return prepare(url).lower()


def report(name: str, found: Sequence[str], rows: Sequence[LabelledUrl], known: set[str]) -> None:
    """Print the figures of one method; languages that cannot be learned count as unknown."""
    wanted = [row.language if row.language in known else "unknown" for row in rows]
    classes = sorted(well_covered(rows, **MEASURED) & known)
    numbers = {label: number for number, label in enumerate(sorted({*found, *wanted}))}
    said, right = (np.array([numbers[label] for label in each]) for each in (found, wanted))
    figure = macro_f1(said, right, [numbers[each] for each in classes])
    print(
        f"{name:30} {figure:8.4f} {(said == right).mean():9.4f} {len(classes):9} "
        f"{np.mean([label == 'unknown' for label in found]):8.1%}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", nargs="+", type=Path, default=DATA)
    parser.add_argument("--weak", nargs="*", type=Path, default=WEAK)
    parser.add_argument("--part", choices=(DEV, TEST), default=DEV)
    parser.add_argument("--without-model", action="store_true", help="leave our own model out")
    parser.add_argument("--cap", type=int, default=6000, help="URLs a language")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    rows = [*read_urls(chosen.data), *read_urls(chosen.weak)]
    sides = split_domains(rows)
    learned, measured = part(rows, sides, TRAIN), part(rows, sides, chosen.part)
    known = set(labels_of(learned)) - {"unknown"}
    learned = cap(thinned(learned, chosen.seed), chosen.cap, seed=chosen.seed)
    urls = [row.url for row in measured]
    print(f"{len(learned):,} URLs learned from, {len(measured):,} of {chosen.part}\n")
    print(f"{'':30} {'macro F1':>8} {'accuracy':>9} {'languages':>9} {'unknown':>8}")
    report("ISO-code rules", [announced_language(url) for url in urls], measured, known)
    start = time.perf_counter()
    ngrams = NgramBaseline(seed=chosen.seed)
    kept = [row for row in learned if row.language in known]
    ngrams.fit([row.url for row in kept], [row.language for row in kept])
    report("character n-gram linear model", ngrams.predict(urls), measured, known)
    fitted = time.perf_counter() - start
    if not chosen.without_model:
        said = Url2Lang(find_model("url2lang")).languages(urls, top=1)
        report("compact model", [best[0][0] for best in said], measured, known)
    print(f"\nn-grams fitted and asked in {fitted:.0f} s")


if __name__ == "__main__":
    main()
