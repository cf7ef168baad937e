"""Each of the three seed systems on its own, as its paper describes it, on recorded sites.

    BILINGUAL_SHARED=folder-with-sites python -m benchmarks.seed_systems

The folder holds `sites/NAME.warc.gz` and `sites/NAME.gold.tsv`. hreflang and the like are stripped
from the pages; languages are detected by CLD2. The three largest language pairs of every site are
used; classifiers are fitted on the other sites. A found pair is wrong if one of its pages has
another partner in the gold list; pairs with neither page in it are not judged.

    ILSP-FC    shared critical images, then structure among the remaining pages
    PPLocator  URLs with a similarity of 0.85 or more, then the decision tree
    Almeida    URLs that are the same without their language tags, then the validation

ILSP-FC compares every page with all others, as in its paper. Where a system accepts several
partners of a page, the highest scores win, each page once.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.recorded_pairs import SHARED
from bilingual_crawler.lab.training.pairs import fit_pair_classifiers
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing import almeida, ilsp, pplocator
from bilingual_crawler.pairing.pair import Evidence, PairingPage
from bilingual_crawler.pairing.profile import members
from bilingual_crawler.pairing.small_models import PairClassifiers
from bilingual_crawler.urls.language_tokens import url_key
from tools.pair_classifiers import Site, read_sites

Urls = tuple[str, str]
Sides = tuple[list[PairingPage], list[PairingPage]]
Scored = Iterator[tuple[float, Urls]]


def sides(site: Site, pair: LanguagePair) -> Sides:
    first, second = (
        [page for page in site.pages.values() if page.language == code] for code in pair.codes
    )
    return first, second


def accepted(one: PairingPage, other: PairingPage, *evidence: Evidence | None) -> Scored:
    scores = [0.0 if each is None else each.score for each in evidence]
    if min(scores) >= 0.5:
        yield sum(scores), (one.url, other.url)


def surest(scored: Scored) -> set[Urls]:
    """Return the pairs with the highest scores, each page once."""
    taken: set[str] = set()
    found = set()
    for _, urls in sorted(scored, key=lambda item: (-item[0], item[1])):
        if not taken & set(urls):
            taken |= set(urls)
            found.add(urls)
    return found


def run_ilsp(site: Site, pair: LanguagePair, classifiers: PairClassifiers) -> set[Urls]:
    first, second = sides(site, pair)
    pages = [*first, *second]
    frequencies = Counter(image for page in pages for image in members(page.profile.images))
    images = ilsp.site_images(frequencies, len(pages))
    showing: defaultdict[int, list[PairingPage]] = defaultdict(list)
    for page in second:
        for image in images.critical(page.profile.images):
            showing[image].append(page)
    found = surest(
        scored
        for one in first
        for other in {
            page.url: page
            for image in images.critical(one.profile.images)
            for page in showing[image]
        }.values()
        for scored in accepted(one, other, ilsp.judge_images(one, other, images))
    )
    paired = {url for urls in found for url in urls}
    rest = [[page for page in some if page.url not in paired] for some in (first, second)]
    return found | surest(
        scored
        for one in rest[0]
        for other in rest[1]
        if ilsp.sizes_agree(one.profile, other.profile)
        for scored in accepted(one, other, ilsp.judge_structure(one, other, classifiers.structure))
    )


def run_pplocator(site: Site, pair: LanguagePair, classifiers: PairClassifiers) -> set[Urls]:
    candidates = [
        (site.pages[each.first], site.pages[each.second])
        for each in pplocator.candidates(site.pages, pair)
    ]
    return surest(
        scored
        for one, other in candidates
        for scored in accepted(
            one,
            other,
            pplocator.judge_urls(one, other, pair),
            pplocator.judge_pages(one, other, classifiers.pplocator),
        )
    )


def run_almeida(site: Site, pair: LanguagePair, _: PairClassifiers) -> set[Urls]:
    tokens = pair.first.tokens | pair.second.tokens
    first, second = sides(site, pair)
    congruent: defaultdict[str, list[PairingPage]] = defaultdict(list)
    for page in second:
        congruent[url_key(page.url, tokens).key].append(page)
    return surest(
        scored
        for one in first
        for other in congruent[url_key(one.url, tokens).key]
        for scored in accepted(one, other, almeida.judge(one, other, tokens))
    )


SYSTEMS = {"ILSP-FC": run_ilsp, "PPLocator": run_pplocator, "Almeida": run_almeida}


def judged(found: set[Urls], gold: set[Urls]) -> Counter[str]:
    known = {url for urls in gold for url in urls}
    hits = found & gold
    wrong = {urls for urls in found - gold if known & set(urls)}
    return Counter(
        gold=len(gold), hits=len(hits), wrong=len(wrong), unjudged=len(found - hits - wrong)
    )


def cells(counts: Counter[str]) -> str:
    precision = counts["hits"] / ((counts["hits"] + counts["wrong"]) or 1)
    recall = counts["hits"] / (counts["gold"] or 1)
    f1 = 2 * precision * recall / ((precision + recall) or 1)
    return f"{precision:.2f} / {recall:.2f} / {f1:.2f} ({counts['unjudged']})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED / "sites")
    sites = list(read_sites(parser.parse_args().folder))
    examples = {site.name: site.examples() for site in sites}
    totals: defaultdict[str, Counter[str]] = defaultdict(Counter)
    print("precision / recall / F1 (pairs not judged)\n")
    print(f"| site | gold pairs | {' | '.join(SYSTEMS)} |")
    print(f"|---|---:|{'---|' * len(SYSTEMS)}")
    for site in sites:
        others = [each for name, some in examples.items() if name != site.name for each in some]
        classifiers = fit_pair_classifiers(others)
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for pair, gold in site.gold.items():
            for name, run in SYSTEMS.items():
                counts[name].update(judged(run(site, pair, classifiers), set(gold)))
        for name in SYSTEMS:
            totals[name].update(counts[name])
        row = " | ".join(cells(counts[name]) for name in SYSTEMS)
        print(f"| {site.name} | {counts['Almeida']['gold']} | {row} |", flush=True)
    row = " | ".join(cells(totals[name]) for name in SYSTEMS)
    print(f"| all | {totals['Almeida']['gold']} | {row} |")


if __name__ == "__main__":
    main()
