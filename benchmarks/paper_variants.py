"""Where pairing deviates from the papers: the papers' way beside ours, on recorded sites.

python -m benchmarks.paper_variants CACHE [FOLDER]

FOLDER holds the recorded sites (BILINGUAL_SHARED); of those whose pairs were read, all language
pairs of READ.tsv are used. CACHE keeps what was read of the pages, so that a second run is fast.
Declarations are stripped. Classifiers are fitted on the other sites. A pair is right if it is in
the list or repeats one under the address of a copy, and wrong if the reader refused it or one of
its pages has another partner; anything else is not judged.
"""

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.lab.evaluation.read_gold import ReadGold, read_language_pairs
from bilingual_crawler.lab.replay.recording import Recording
from bilingual_crawler.lab.replay.site import strip_body
from bilingual_crawler.lab.training.pairs import (
    LabelledPages,
    asked_about_structure,
    fit_machine,
    fit_tree,
)
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing import ilsp, pplocator
from bilingual_crawler.pairing.pair import PairingPage, page_of
from bilingual_crawler.pairing.profile import shared_words
from tools.pair_classifiers import labelled_pairs

FOLDS = 10
FEATURES = ("ratio of words", "ratio of sizes", "distance of tags", "shared words")


@dataclass(frozen=True)
class ReadSite:
    """A site with the language pairs that were read."""

    name: str
    pages: dict[str, PairingPage]
    gold: dict[LanguagePair, ReadGold]

    def sides(self, pair: LanguagePair, urls: tuple[str, str]) -> tuple[str, str]:
        """Return two URLs with that of the first language first."""
        page = self.pages.get(urls[0])
        return urls[::-1] if page and page.language == pair.second.code else urls

    def examples(self, pair: LanguagePair) -> list[LabelledPages]:
        """Return the labelled pairs of two languages."""
        gold = [self.sides(pair, urls) for urls in self.gold[pair].right.values()]
        return list(labelled_pairs(self.pages, gold))


def read_sites(folder: Path, cache: Path) -> list[ReadSite]:
    """Read the sites, or what an earlier run kept of them."""
    if cache.exists():
        found: list[ReadSite] = pickle.loads(cache.read_bytes())
        return found
    sites = []
    for name, pairs in read_language_pairs(folder).items():
        recording, pages = Recording(folder / f"{name}.warc.gz"), dict[str, PairingPage]()
        for url in recording.pages:
            answer = recording.answer(url)
            if answer is not None:
                body, kind = strip_body(answer.body), answer.header("Content-Type")
                page = page_of(build_document(url, body, content_type=kind))
                pages[page.url] = page
        gold = {pair: ReadGold.read(folder, name, pair) for pair in pairs}
        sites.append(ReadSite(name, pages, gold))
        print(name, len(pages), "pages", flush=True)
    cache.write_bytes(pickle.dumps(sites))
    return sites


def examples_of(sites: Sequence[ReadSite]) -> dict[str, list[LabelledPages]]:
    """Return the labelled pairs of each site, those of all its language pairs."""
    return {
        site.name: [each for pair in site.gold for each in site.examples(pair)] for site in sites
    }


def scores(said: Sequence[bool], true: Sequence[bool]) -> str:
    hits = sum(one and other for one, other in zip(said, true, strict=True))
    precision, recall = hits / (sum(said) or 1), hits / (sum(true) or 1)
    f1 = 2 * precision * recall / ((precision + recall) or 1)
    return f"{precision:.3f} | {recall:.3f} | {f1:.3f}"


Rows = list[list[float]]
Learner = Callable[[Rows, list[bool]], Callable[[Sequence[float]], float]]


def ours(rows: Rows, labels: list[bool]) -> Callable[[Sequence[float]], float]:
    return fit_tree(rows, labels).score


def grown(rows: Rows, labels: list[bool], **options: Any) -> Callable[[Sequence[float]], float]:
    model = DecisionTreeClassifier(criterion="entropy", random_state=0, **options)
    model.fit(np.asarray(rows), np.asarray(labels))
    return lambda features: float(model.predict_proba([list(features)])[0][1])


def paper_features(one: PairingPage, other: PairingPage) -> list[float]:
    """Return the four numbers as PPLocator has them, the first page's by the second's."""
    first, second = one.profile, other.profile
    return [
        first.words / max(1, second.words),
        first.size / max(1, second.size),
        float(
            Levenshtein.distance(
                first.tags[: pplocator.MOST_TAGS], second.tags[: pplocator.MOST_TAGS]
            )
        ),
        shared_words(first.vocabulary, second.vocabulary, pplocator.MOST_WORDS),
    ]


def by_fold(rows: Rows, labels: list[bool], groups: list[str], learn: Learner) -> tuple[str, str]:
    """Return the scores by 10-fold cross-validation, and with each site left out."""
    table, true = np.asarray(rows), np.asarray(labels)
    said = np.zeros(len(labels), dtype=bool)
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(table, true):
        judge = learn(table[train].tolist(), true[train].tolist())
        said[test] = [judge(row) >= 0.5 for row in table[test].tolist()]
    apart = np.zeros(len(labels), dtype=bool)
    for name in sorted(set(groups)):
        test = np.asarray([each == name for each in groups])
        judge = learn(table[~test].tolist(), true[~test].tolist())
        apart[test] = [judge(row) >= 0.5 for row in table[test].tolist()]
    return scores(said.tolist(), labels), scores(apart.tolist(), labels)


def print_trees(examples: dict[str, list[LabelledPages]]) -> None:
    """Print R55, R56 and R60: the tree with all features and without each, and other trees."""
    every = [(name, each) for name, some in examples.items() for each in some]
    labels, groups = [each.parallel for _, each in every], [name for name, _ in every]
    rows = [
        list(pplocator.page_features(each.first.profile, each.second.profile)) for _, each in every
    ]
    plain = [paper_features(each.first, each.second) for _, each in every]
    print(
        f"\n{len(labels)} examples of {len(examples)} sites, {sum(labels)} of them translations\n"
    )
    print("| tree | P | R | F1, 10 folds | P | R | F1, each site left out |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    arms: list[tuple[str, Rows, Learner]] = [("all four features", rows, ours)]
    for at, name in enumerate(FEATURES):
        arms.append((f"without {name}", [row[:at] + row[at + 1 :] for row in rows], ours))
    arms += [
        ("the paper's numbers", plain, ours),
        ("grown in full", rows, grown),
        ("at least 2 examples per leaf", rows, partial(grown, min_samples_leaf=2)),
        ("pruned by cost and complexity", rows, partial(grown, ccp_alpha=0.005)),
        ("the paper's numbers, pruned so", plain, partial(grown, ccp_alpha=0.005)),
    ]
    for name, table, learn in arms:
        print(f"| {name} | {' | '.join(by_fold(table, labels, groups, learn))} |", flush=True)


def print_machines(examples: dict[str, list[LabelledPages]]) -> None:
    """Print R105: the machine of ILSP-FC with lengths rounded, and as they are."""
    every = [
        (name, each)
        for name, some in examples.items()
        for each in some
        if asked_about_structure(each)
    ]
    labels, groups = [each.parallel for _, each in every], [name for name, _ in every]

    def learn(rows: Rows, known: list[bool]) -> Callable[[Sequence[float]], float]:
        return fit_machine(rows, known).score

    print("\n| machine | P | R | F1, 10 folds | P | R | F1, each site left out |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    rounded = [list(ilsp.structure_features(a.first.profile, a.second.profile)) for _, a in every]
    exact = [
        [
            *row[:2],
            Levenshtein.normalized_distance(
                a.first.profile.fingerprint, a.second.profile.fingerprint
            ),
        ]
        for row, (_, a) in zip(rounded, every, strict=True)
    ]
    for name, rows in (
        ("lengths rounded to powers of two", rounded),
        ("lengths as they are", exact),
    ):
        print(f"| {name} | {' | '.join(by_fold(rows, labels, groups, learn))} |", flush=True)
