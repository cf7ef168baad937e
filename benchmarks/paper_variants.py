"""Where pairing deviates from the papers: the papers' way beside ours, on recorded sites.

python -m benchmarks.paper_variants CACHE [FOLDER]

FOLDER holds the recorded sites (BILINGUAL_SHARED); of those whose pairs were read, all language
pairs of READ.tsv are used. CACHE keeps what was read of the pages, so that a second run is fast.
Declarations are stripped. Classifiers are fitted on the other sites. A pair is right if it is in
the list or repeats one under the address of a copy, and wrong if the reader refused it or one of
its pages has another partner; anything else is not judged.
"""

import argparse
import pickle
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from rapidfuzz.distance import Levenshtein
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from benchmarks.recorded_pairs import SHARED
from benchmarks.seed_systems import accepted, run_pplocator, surest
from benchmarks.translation_data import read
from bilingual_crawler.alignment.word_shares import learn_shares
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.export.safe_text import tokens
from bilingual_crawler.lab.evaluation.read_gold import ReadFigures, ReadGold, read_language_pairs
from bilingual_crawler.lab.replay.recording import Recording
from bilingual_crawler.lab.replay.site import strip_body
from bilingual_crawler.lab.training.pairs import (
    LabelledPages,
    asked_about_structure,
    fit_machine,
    fit_pair_classifiers,
    fit_tree,
)
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing import ilsp, pplocator
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.pair import PairingPage, page_of
from bilingual_crawler.pairing.profile import MOST_WORDS, members, shared_words
from bilingual_crawler.pairing.small_models import PairClassifiers
from bilingual_crawler.pairing.word_list import WordList
from bilingual_crawler.urls.language_tokens import url_key
from tools.pair_classifiers import Site, labelled_pairs

FOLDS = 10
SURE = 0.9
LEAST_SHARE = 0.1
"""How sure the words of a list must be."""
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
        shared_words(first.vocabulary, second.vocabulary, MOST_WORDS),
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


Found = set[tuple[str, str]]


def ordered_site(site: ReadSite) -> Site:
    return Site(site.name, site.pages, {})


def run_default(site: ReadSite, pair: LanguagePair) -> Found:
    """Return the pairs of the combined model; the order of pages does not matter."""
    matcher = Matcher(pair)
    for page in site.pages.values():
        if page.language in pair:
            matcher.hold(page)
    matcher.finish()
    return {(each.first, each.second) for each in matcher.pairs}


def run_images(site: ReadSite, pair: LanguagePair) -> Found:
    """Return the pairs of shared rare images alone."""
    first, second = (
        [page for page in site.pages.values() if page.language == code] for code in pair.codes
    )
    pages = [*first, *second]
    frequencies = Counter(image for page in pages for image in members(page.profile.images))
    images = ilsp.site_images(frequencies, len(pages))
    return surest(
        scored
        for one in first
        for other in second
        for scored in accepted(one, other, ilsp.judge_images(one, other, images))
    )


def median(histogram: Mapping[Any, int]) -> float:
    values = (value for value, times in histogram.items() for _ in range(times))
    return float(statistics.median(values))


def median_only(histogram: Mapping[int, int]) -> float:
    """Return the bandwidth by the median deviation alone, 1 where it is 0."""
    count, middle = sum(histogram.values()), median(histogram)
    deviations: Counter[float] = Counter()
    for frequency, images in histogram.items():
        deviations[abs(frequency - middle)] += images
    deviation = median(deviations) / ilsp.NORMAL_MEDIAN
    return float(deviation * (4 / (3 * count)) ** 0.2) if deviation else 1.0


def word_lists(sentences: Path, pair: LanguagePair, without: str) -> WordList:
    """Return what sentence pairs of the other sites say which words translate which."""
    good = [
        ([*tokens(each.text1.lower())], [*tokens(each.text2.lower())])
        for each in read(sentences)
        if each.site != without and not each.broken and each.score >= SURE
    ]
    found = learn_shares(good)
    assert found is not None, pair
    names1, names2 = list(found.ids1), list(found.ids2)
    return WordList(
        (names1[one], names2[other])
        for one, other, share in zip(found.of1, found.of2, found.shares, strict=True)
        if share >= LEAST_SHARE
    )


def run_pti(site: ReadSite, pair: LanguagePair, words: WordList, least: float) -> Found:
    """Return the pairs of PTI: equal file names but for the language, then shared dictionary words.

    The languages are those that the identifier found. The likeness of two pages is the share of
    their words in the list whose translation is on the other page.
    """
    codes = pair.first.tokens | pair.second.tokens
    first, second = (
        [page for page in site.pages.values() if page.language == code] for code in pair.codes
    )
    named: defaultdict[str, list[PairingPage]] = defaultdict(list)
    for page in second:
        named[url_key(page.url, codes).key].append(page)
    found = surest(
        (1.0, (one.url, other.url)) for one in first for other in named[url_key(one.url, codes).key]
    )
    taken = {url for urls in found for url in urls}
    hashes = {
        page.url: np.frombuffer(page.profile.vocabulary, np.uint32) for page in (*first, *second)
    }
    known = {url: words.translations(some) for url, some in hashes.items()}

    def likeness(one: PairingPage, other: PairingPage) -> float:
        hits = total = 0
        for here, there in ((one.url, other.url), (other.url, one.url)):
            owners, translations = known[here]
            total += len(np.unique(owners))
            hits += len(np.unique(owners[np.isin(translations, hashes[there])]))
        return hits / total if total else 0.0

    rest = [page for page in second if page.url not in taken]
    return found | surest(
        (score, (one.url, other.url))
        for one in first
        if one.url not in taken
        for other in rest
        if (score := likeness(one, other)) >= least
    )


def figures(name: str, judged: ReadFigures, union: int = 0) -> str:
    precision, recall = judged.precision or 0.0, judged.recall or 0.0
    relative = f"{judged.right / union:.3f}" if union else "-"
    f1 = 2 * precision * recall / ((precision + recall) or 1)
    return (
        f"| {name} | {judged.right:,} | {judged.wrong + judged.repeated:,} | {judged.unjudged:,} |"
        f" {precision:.3f} | {recall:.3f} | {f1:.3f} | {relative} |"
    )


def print_systems(
    sites: Sequence[ReadSite], examples: dict[str, list[LabelledPages]], sentences: Path | None
) -> None:
    """Print R57, R59, R102 and R103: whole systems, with relative recall where PTI takes part."""
    totals: defaultdict[str, ReadFigures] = defaultdict(ReadFigures)
    among: defaultdict[str, ReadFigures] = defaultdict(ReadFigures)
    union = 0
    for site in sites:
        others = [each for name, some in examples.items() if name != site.name for each in some]
        classifiers = fit_pair_classifiers(others)
        for pair, gold in site.gold.items():
            found = systems_on(site, pair, classifiers)
            for name, pairs in found.items():
                totals[name] = totals[name].plus(gold.judge(pairs).figures)
            if sentences is not None and set(pair.codes) == {"eng", "spa"}:
                words = word_lists(sentences, pair, site.name)
                two = {
                    "PPLocator": found["PPLocator: lists of URLs, then the tree"],
                    "PTI, at least 0.9 alike": run_pti(site, pair, words, 0.9),
                    "PTI, at least 0.5 alike": run_pti(site, pair, words, 0.5),
                }
                right = {
                    gold.key(*urls)
                    for pairs in list(two.values())[:2]
                    for urls in pairs
                    if gold.label(*urls) == "right"
                }
                union += len(right)
                for name, pairs in two.items():
                    among[name] = among[name].plus(gold.judge(pairs).figures)
        print(site.name, flush=True, file=sys.stderr)
    heading = "| right | wrong | not judged | P | R | F1 | relative recall |"
    for title, some, of in (("all", totals, 0), ("eng-spa", among, union)):
        print(f"\n| system, {title} {heading}\n|---|---:|---:|---:|---:|---:|---:|---:|")
        for name, judged in some.items():
            print(figures(name, judged, of if "0.5" not in name else 0))


def systems_on(
    site: ReadSite, pair: LanguagePair, classifiers: PairClassifiers
) -> dict[str, Found]:
    """Return the pairs of each system on a site."""
    default = run_default(site, pair)
    near = {urls for urls in default if ilsp.may_be_pair(*(site.pages[url] for url in urls))}
    found = {
        "default, with an identifier": default,
        "default, at most one level apart": near,
        "PPLocator: lists of URLs, then the tree": run_pplocator(
            ordered_site(site), pair, classifiers
        ),
        "images": run_images(site, pair),
    }
    with patch.object(ilsp, "LEAST_PAGES_WITH_IMAGE", 1):
        found["images, those on two pages like others"] = run_images(site, pair)
    with patch.object(ilsp, "bandwidth", median_only):
        found["images, the median alone"] = run_images(site, pair)
    with patch.object(ilsp, "MOST_LEVELS_APART", 1_000):
        found["images, any number of levels apart"] = run_images(site, pair)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("cache", type=Path)
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED / "sites")
    parser.add_argument("--part", choices=("trees", "machines", "systems"))
    parser.add_argument(
        "--sentences", type=Path, help="DIR of benchmarks.translation_data, for PTI's word list"
    )
    options = parser.parse_args()
    sites = read_sites(options.folder, options.cache)
    examples = examples_of(sites)
    if options.part in (None, "trees"):
        print_trees(examples)
    if options.part in (None, "machines"):
        print_machines(examples)
    if options.part in (None, "systems"):
        print_systems(sites, examples, options.sentences)


if __name__ == "__main__":
    main()
