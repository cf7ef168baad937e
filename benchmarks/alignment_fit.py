"""Fit the figures in alignment/costs.py and alignment/aligner.py, on the half for tuning.

python -m benchmarks.alignment_fit [--root DIR] [weights|scores]

weights: each figure in turn is made larger and smaller, and kept if the mean F1 over all languages
    rises; first those of the first pass, then, with the lexicons that it learns, those of the
    second. It takes long. The costs of 2-2, 1-3 and 3-1 are not fitted: real pages have such beads,
    the gold alignments do not.
scores: a logistic regression of whether a bead is right, over texts that are translations and
    texts that are not, with lexicons learned from few and from many documents.
"""

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from benchmarks.alignment import f1, learned_from
from benchmarks.alignment_gold import PAIRS, Case, cases
from bilingual_crawler.alignment.aligner import FIRST_PASS_FACTORS as FIRST_FACTORS
from bilingual_crawler.alignment.aligner import SECOND_PASS_FACTORS as SECOND_FACTORS
from bilingual_crawler.alignment.aligner import Aligner, features
from bilingual_crawler.alignment.costs import FIRST_PASS, SECOND_PASS, Weights
from bilingual_crawler.alignment.overlap import Lexicon

DOCUMENTS = 120
SOME = (8, 30, 120)
ROUNDS = 2
FACTORS = (0.7, 1.4)
FIGURES = ("skip", "variance", "length", "anchors", "anchors_expected")
KNOWN = ("lexicon", "lexicon_expected")
PLACES = ("boundary", "crossing", "heading")
LEAST_GAIN = 2e-4
PENALTY = 1e-4
APART = 7
"""How far apart in the list two texts are that are not translations."""

Texts = dict[str, list[Case]]
Lexicons = Mapping[str, Lexicon | None]


def mean_f1(texts: Texts, lexicons: Lexicons, weights: Weights) -> float:
    each = [f1(some, Aligner(lexicons.get(name), weights=weights)) for name, some in texts.items()]
    return float(np.mean([figures[2] for figures in each]))


def fitted(texts: Texts, lexicons: Lexicons, weights: Weights, names: tuple[str, ...]) -> Weights:
    best = mean_f1(texts, lexicons, weights)
    for _ in range(ROUNDS):
        before = best
        for name in names:
            for factor in FACTORS:
                tried = replace(weights, **{name: round(getattr(weights, name) * factor, 3)})
                reached = mean_f1(texts, lexicons, tried)
                if reached > best + LEAST_GAIN:
                    best, weights = reached, tried
                    print(f"{name} {getattr(weights, name)}: {best:.4f}", flush=True)
        if best == before:
            break
    return weights


def fit_weights(texts: Texts) -> None:
    some = {name: each[::3] for name, each in texts.items()}
    print(fitted(some, {}, FIRST_PASS, (*FIGURES, *PLACES)))
    pairs = {pair.name: pair for pair in PAIRS}
    lexicons = {name: learned_from(each, pairs[name]) for name, each in texts.items()}
    print(fitted(some, lexicons, SECOND_PASS, (*KNOWN, *FIGURES, *PLACES)))


class Watched(Aligner):
    """An aligner that keeps the features of its last beads."""

    def judge(self, *known: Any) -> list[float]:
        self.last = known[0], features(*known)
        return super().judge(*known)


class Seen(NamedTuple):
    rows: list[list[float]]
    right: list[bool]


def look(aligner: Watched, texts: list[Case], names: list[str], seen: Seen) -> None:
    for number, case in enumerate(texts):
        other = texts[(number + APART) % len(texts)]
        both = [(case.second, case.gold)]
        if number % 4 == 0 and other is not case:
            both.append((other.second, frozenset()))
        for second, gold in both:
            aligner.align(case.first, second)
            beads, known = aligner.last
            for at, bead in enumerate(beads):
                if bead.is_paired:
                    seen.rows.append([known[name][at] for name in names])
                    seen.right.append(bead in gold)


def regression(names: list[str], seen: Seen) -> None:
    rows, right = np.asarray(seen.rows), np.asarray(seen.right, dtype=np.float64)

    def loss(factors: np.ndarray) -> float:
        logits = rows @ factors
        each = np.logaddexp(0, logits) - right * logits
        return float(each.mean() + PENALTY * factors @ factors)

    factors = minimize(loss, np.zeros(len(names)), method="L-BFGS-B").x
    print({name: round(float(factor), 2) for name, factor in zip(names, factors, strict=True)})
    found = 1 / (1 + np.exp(-rows @ factors))
    for low, high in ((0, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.0)):
        among = right[(found >= low) & (found <= high)]
        print(f"  score {low} to {high}: {len(among):6} beads, {among.mean():.3f} right")


def fit_scores(texts: Texts) -> None:
    first, second = Seen([], []), Seen([], [])
    pairs = {pair.name: pair for pair in PAIRS}
    for name, every in texts.items():
        look(Watched(), every, list(FIRST_FACTORS), first)
        for size in SOME:
            for start in range(0, len(every), size):
                some = every[start : start + size]
                lexicon = learned_from(some, pairs[name])
                if lexicon is not None:
                    look(Watched(lexicon), some, list(SECOND_FACTORS), second)
    regression(list(FIRST_FACTORS), first)
    regression(list(SECOND_FACTORS), second)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("what", nargs="?", choices=("weights", "scores"))
    parser.add_argument("--root", type=Path, default=Path("/"), help="where the packages are")
    options = parser.parse_args()
    found = {pair.name: cases(options.root, pair, "dev", DOCUMENTS) for pair in PAIRS}
    texts = {name: some for name, some in found.items() if some}
    if not texts:
        parser.error("there is no data: see benchmarks/alignment_gold.py")
    if options.what != "scores":
        fit_weights(texts)
    if options.what != "weights":
        fit_scores(texts)


if __name__ == "__main__":
    main()
