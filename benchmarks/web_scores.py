"""Fit and measure the scores of sentence pairs on real web pages.

python -m benchmarks.web_scores DIR         DIR as written by benchmarks.web_sentences build

Positives are the beads of document pairs that a reader confirmed (the gold lists of the recorded
sites). Negatives are made of the same documents: beads of wrong document pairs (those that a reader
refused, and two documents that belong to different pairs), and lists that are shifted by one
sentence. The regression is fitted on the sites for tuning, each of which is judged by one that has
not seen it (leave one site out); then on all of them, and judged on the sites of the final reading.
A positive bead may still be wrong, and a shifted one right by chance, so no figure can reach 1.
"""

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from benchmarks.recorded_pairs import SHARED
from benchmarks.web_sentences import folders
from bilingual_crawler.alignment.aligner import SECOND_PASS_FACTORS, Aligner, features
from bilingual_crawler.alignment.costs import Bead
from bilingual_crawler.alignment.documents import PairedDocuments, PairOfTexts
from bilingual_crawler.alignment.two_passes import first_pass

MOST_DOCUMENTS = 40
MOST_BEADS = 60
"""Beads of one document that are looked at, so that long ones do not outweigh the rest."""
LONGEST_SHIFT = 8
WRONG_SHARE = 0.13
"""The share of wrong or partial beads: 12 of the first 90 rows that a reader saw."""
PENALTY = 1e-3
BEFORE = {
    "always": -3.13,
    "anchors": 1.47,
    "lexicon": 6.21,
    "length cost": -0.59,
    "long": -0.54,
    "several": -0.83,
    "neighbours": 5.94,
}
"""The factors of the scores before, fitted on the help pages of LibreOffice."""


class Watched(Aligner):
    """An aligner that keeps what its last judgement was made of."""

    def judge(self, *known: Any) -> list[float]:
        self.last = known
        return super().judge(*known)


class Row(NamedTuple):
    site: str
    values: dict[str, float]
    right: bool
    kind: str


def lists(site: str, ending: str) -> set[frozenset[str]]:
    file = SHARED / "sites" / f"{site}.{ending}.tsv"
    if not file.exists():
        return set()
    return {frozenset(line.split("\t")[:2]) for line in file.read_text().splitlines()}


def rows_of(folder: Path) -> Iterator[Row]:
    site = folder.name.partition(".")[0]
    gold, wrong = lists(site, "gold"), lists(site, "wrong")
    documents = PairedDocuments(folder, lambda _done, _all: None)
    ((_, about),) = first_pass(documents.at_random()).items()
    if about.lexicon is None:
        return
    aligner = Watched(about.lexicon)
    chance = random.Random(site)
    true = []
    for pair in documents.at_random():
        name = frozenset((pair.url1.partition("#")[0], pair.url2.partition("#")[0]))
        if name in gold:
            true.append(pair)
        elif name in wrong:
            yield from judged(aligner, pair, site, "refused", chance)
    del true[MOST_DOCUMENTS:]
    for number, pair in enumerate(true):
        yield from judged(aligner, pair, site, "", chance)
        yield from shifted(aligner, site, chance)
        if number % 2 and len(true) > 1:
            other = true[number - 1]
            mixed = pair._replace(second=other.second)
            yield from judged(aligner, mixed, site, "other", chance)


def values(
    known: tuple[Any, ...], beads: Sequence[Bead], at: Sequence[int]
) -> Iterator[dict[str, float]]:
    found = features(beads, *known[1:])
    for each in at:
        yield {name: float(column[each]) for name, column in found.items()}


def judged(
    aligner: Watched, pair: PairOfTexts, site: str, kind: str, chance: random.Random
) -> Iterator[Row]:
    if not pair.first or not pair.second:
        return
    same = {each.text for each in pair.first} & {each.text for each in pair.second}
    aligner.align(pair.first, pair.second)
    beads = aligner.last[0]
    at = [
        number
        for number, bead in enumerate(beads)
        if bead.is_paired
        and pair.first[bead.start1].text not in same
        and any(map(str.isalpha, pair.first[bead.start1].text))
    ]
    at = sorted(chance.sample(at, min(len(at), MOST_BEADS)))
    for each in values(aligner.last, beads, at):
        yield Row(site, each, not kind, kind or "gold")


def shifted(aligner: Watched, site: str, chance: random.Random) -> Iterator[Row]:
    """Yield beads of the last document that pair each sentence with the one after its own."""
    beads: list[Bead] = aligner.last[0]
    single = [bead.shape == (1, 1) for bead in beads]
    for _ in range(3):
        size = chance.randint(1, LONGEST_SHIFT)
        starts = [at for at in range(len(beads) - size) if all(single[at : at + size + 1])]
        if not starts:
            continue
        start = chance.choice(starts)
        run = beads[start : start + size + 1]
        one, two = run[0].start1, run[0].start2
        made = [Bead(one, one, two, two + 1)] if chance.random() < 0.5 else []
        if made:
            made += [Bead(one + i, one + i + 1, two + i + 1, two + i + 2) for i in range(size)]
            made += [Bead(one + size, one + size + 1, two + size + 1, two + size + 1)]
            at = range(start + 1, start + 1 + size)
        else:
            made = [Bead(one, one + 1, two, two)]
            made += [Bead(one + i + 1, one + i + 2, two + i, two + i + 1) for i in range(size)]
            made += [Bead(one + size + 1, one + size + 1, two + size, two + size + 1)]
            at = range(start + 1, start + 1 + size)
        path = [*beads[:start], *made, *beads[start + size + 1 :]]
        for each in values(aligner.last, path, at):
            yield Row(site, each, right=False, kind="shifted")


def fit(rows: Sequence[Row], names: Sequence[str]) -> np.ndarray:
    x, y, weight = table(rows, names)

    def loss(factors: np.ndarray) -> tuple[float, np.ndarray]:
        logits = x @ factors
        signed = np.where(y, -logits, logits)
        value = weight @ np.logaddexp(0, signed) + PENALTY * factors[1:] @ factors[1:]
        slope = x.T @ (weight * (1 / (1 + np.exp(-logits)) - y))
        slope[1:] += 2 * PENALTY * factors[1:]
        return float(value), slope

    return np.asarray(minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B").x)


def table(rows: Sequence[Row], names: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x = np.asarray([[row.values[name] for name in names] for row in rows])
    y = np.asarray([row.right for row in rows], dtype=np.float64)
    sites: defaultdict[tuple[str, bool], float] = defaultdict(float)
    for row in rows:
        sites[row.site, row.right] += 1
    each = np.asarray([1 / sites[row.site, row.right] ** 0.5 for row in rows])
    good = each * y / (each @ y) * (1 - WRONG_SHARE)
    bad = each * (1 - y) / (each @ (1 - y)) * WRONG_SHARE
    return x, y, good + bad


def chances(rows: Sequence[Row], factors: dict[str, float]) -> np.ndarray:
    logits = sum(
        factor * np.asarray([row.values[name] for row in rows]) for name, factor in factors.items()
    )
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -30, 30))))


def auc(scores: np.ndarray, right: np.ndarray) -> float:
    order = np.argsort(np.argsort(scores)) + 1
    good, bad = right.sum(), (1 - right).sum()
    return float((order[right == 1].sum() - good * (good + 1) / 2) / (good * bad))


def report(name: str, rows: Sequence[Row], scores: np.ndarray) -> None:
    _, right, weight = table(rows, ["always"])
    kinds = np.asarray([row.kind for row in rows])
    parts = []
    for kind in ("refused", "other", "shifted"):
        some = (kinds == kind) | (right == 1)
        parts.append(f"{kind} {auc(scores[some], right[some]):.3f}")
    print(f"{name}: AUC {auc(scores, right):.3f} (against {', '.join(parts)})")
    bounds = [0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 1.001]
    for low, high in pairwise(bounds):
        inside = (scores >= low) & (scores < high)
        if inside.any():
            share = weight[inside] @ right[inside] / weight[inside].sum()
            said = weight[inside] @ scores[inside] / weight[inside].sum()
            mass = weight[inside].sum()
            print(
                f"  {low:.2f}-{high:.2f}: {mass:6.1%} of beads, said {said:.2f}, right {share:.2f}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("root", type=Path)
    root = parser.parse_args().root
    halves = {}
    for half in ("tune", "test"):
        halves[half] = [row for folder in folders(root, half) for row in rows_of(folder)]
        print(half, len(halves[half]), "beads", flush=True)
    tune = halves["tune"]
    names = list(SECOND_PASS_FACTORS)
    sites = sorted({row.site for row in tune})
    held = np.zeros(len(tune))
    for site in sites:
        inside = [row.site == site for row in tune]
        factors = fit([row for row in tune if row.site != site], names)
        some = [row for row in tune if row.site == site]
        held[inside] = chances(some, dict(zip(names, factors, strict=True)))
    report("before, sites for tuning", tune, chances(tune, BEFORE))
    report("after, each site left out", tune, held)
    final = dict(zip(names, (round(float(each), 2) for each in fit(tune, names)), strict=True))
    report("before, other sites", halves["test"], chances(halves["test"], BEFORE))
    report("after, other sites", halves["test"], chances(halves["test"], final))
    print(final)


if __name__ == "__main__":
    main()
