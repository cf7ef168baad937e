"""Fit data/pair_classifiers.json to recorded sites, and measure it on sites left out.

    python -m tools.pair_classifiers FOLDER [--write]

FOLDER holds `NAME.warc.gz` and `NAME.gold.tsv` (two URLs and two languages per line). hreflang and
the like are stripped from the pages first. The accuracy on a site is that of classifiers fitted on
all other sites.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

import bilingual_crawler
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.lab.replay.gold import ENDING, largest_pairs, of_languages, read_gold
from bilingual_crawler.lab.replay.recording import Recording, site_name
from bilingual_crawler.lab.replay.site import strip_body
from bilingual_crawler.lab.training.pairs import (
    LabelledPages,
    asked_about_structure,
    fit_pair_classifiers,
)
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.ilsp import structure_features
from bilingual_crawler.pairing.pair import PairingPage, page_of
from bilingual_crawler.pairing.pplocator import page_features
from bilingual_crawler.pairing.profile import ratio
from bilingual_crawler.pairing.small_models import SHIPPED

ACCEPTED = 0.5
PAIRS_PER_SITE = 3
"""Language pairs used per site, largest first."""
MOST_PAIRS = 40
"""True pairs taken per site and language pair: a large site teaches no more."""


class Site(NamedTuple):
    """The pages of a recorded site, and its true pairs by languages."""

    name: str
    pages: Mapping[str, PairingPage]
    gold: Mapping[LanguagePair, list[tuple[str, str]]]

    def examples(self) -> list[LabelledPages]:
        """Return the labelled pairs of the site."""
        return [each for gold in self.gold.values() for each in labelled_pairs(self.pages, gold)]


def read_sites(folder: Path) -> Iterator[Site]:
    """Yield the recorded sites of a folder."""
    for path in sorted(folder.glob("*.warc.gz")):
        name = site_name(path)
        lines = read_gold(path.with_name(name + ENDING))
        pairs = [LanguagePair.parse(each) for each in largest_pairs(lines)[:PAIRS_PER_SITE]]
        pages = {page.url: page for page in _pages(Recording(path))}
        gold = {
            pair: [_ordered(urls, pages, pair) for urls in of_languages(lines, pair)]
            for pair in pairs
        }
        yield Site(name, pages, gold)


def _pages(recording: Recording) -> Iterator[PairingPage]:
    for url in recording.pages:
        answer = recording.answer(url)
        if answer is not None:
            body, kind = strip_body(answer.body), answer.header("Content-Type")
            yield page_of(build_document(url, body, content_type=kind))


def _ordered(
    urls: tuple[str, str], pages: Mapping[str, PairingPage], pair: LanguagePair
) -> tuple[str, str]:
    """Return a true pair with the page of the first language first."""
    page = pages.get(urls[0])
    return urls[::-1] if page and page.language == pair.second.code else urls


def labelled_pairs(
    pages: Mapping[str, PairingPage], gold: Iterable[tuple[str, str]], seed: int = 0
) -> Iterator[LabelledPages]:
    """Yield the examples of one site and two languages; `gold` names the first language first.

    A true pair is a positive example. Its first page with a wrong partner is a negative one.
    Partners come from other true pairs, so they are surely wrong, and most of them are easy to
    mistake: the page with the most similar URL and the page nearest in size, beside a random one.
    """
    random = Random(seed)  # noqa: S311 - a repeatable sample, not a secret
    true = [(pages[one], pages[other]) for one, other in gold if one in pages and other in pages]
    partners = {(one.url, other.url) for one, other in true}
    others = [other for _, other in true]
    for one, other in random.sample(true, min(MOST_PAIRS, len(true))):
        yield LabelledPages(one, other, parallel=True)
        wrong = [each for each in others if (one.url, each.url) not in partners]
        if wrong:
            chosen = (_most_similar(one, wrong), _nearest_in_size(one, wrong), random.choice(wrong))
            for each in {page.url: page for page in chosen}.values():
                yield LabelledPages(one, each, parallel=False)


def _most_similar(page: PairingPage, others: Sequence[PairingPage]) -> PairingPage:
    found = process.extractOne(
        page.url, [each.url for each in others], scorer=Levenshtein.normalized_distance
    )
    return others[found[2]]


def _nearest_in_size(page: PairingPage, others: Sequence[PairingPage]) -> PairingPage:
    return max(others, key=lambda each: ratio(page.profile.words, each.profile.words))


def accuracies(train: list[LabelledPages], test: list[LabelledPages]) -> tuple[float, float]:
    """Return the accuracies of the SVM and the tree, fitted to `train`, on `test`."""
    machine, tree = fit_pair_classifiers(train)
    return (
        _share(
            (machine.score(structure_features(one.profile, other.profile)) >= ACCEPTED) == parallel
            for one, other, parallel in filter(asked_about_structure, test)
        ),
        _share(
            (tree.score(page_features(one.profile, other.profile)) >= ACCEPTED) == parallel
            for one, other, parallel in test
        ),
    )


def _share(right: Iterable[bool]) -> float:
    verdicts = list(right)
    return sum(verdicts) / len(verdicts)


def main() -> None:
    """Print the accuracies, and write the file if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true", help=f"write bilingual_crawler/{SHIPPED}")
    options = parser.parse_args()
    examples = {site.name: site.examples() for site in read_sites(options.folder)}
    print("| site | examples | structure | pplocator |")
    print("|---|---:|---:|---:|")
    rows = []
    for name, test in examples.items():
        train = [each for other, some in examples.items() if other != name for each in some]
        rows.append(accuracies(train, test))
        print(f"| {name} | {len(test)} | {rows[-1][0]:.3f} | {rows[-1][1]:.3f} |")
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    print(f"| mean of sites | | {means[0]:.3f} | {means[1]:.3f} |")
    if options.write:
        fitted = fit_pair_classifiers([each for some in examples.values() for each in some])
        package = Path(bilingual_crawler.__file__).parent
        (package / SHIPPED).write_text(fitted.dumps() + "\n", "utf-8")


if __name__ == "__main__":
    main()
