"""The site detector on recorded real sites: how often it is right, and how many downloads it takes.

Each site is judged with a predictor that was trained on the others. The detector looks for language
pairs that the site has, from its home page and from a page deep inside, and for some it lacks:

    absent     a language that no page of the site is in
    hidden     the pages of the second language do not exist; links to them are dead
    unlinked   nor does any link or declaration lead to them
    landing    the same, except for one page that the home page leads to
    fallback   the pages of the second language show the text of the first, as on sites with a
               language in their menu before any page is translated

    python -m benchmarks.site_detector [FOLDER WITH NAME.warc.gz AND NAME.gold.tsv] [--sweep]

All of this is done twice: with what pages declare about their versions (hreflang), and without.

--sweep repeats the second for the thresholds of Table 1 of Barbosa et al.
"""

import argparse
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from bilingual_crawler.discovery.link_predictor import LinkPredictor
from bilingual_crawler.discovery.site_detector import LIKELIHOOD, SiteDetector
from bilingual_crawler.discovery.site_records import SiteVerdict
from bilingual_crawler.documents.document import Document
from bilingual_crawler.lab.training.links import (
    NEVER_THERE,
    THRESHOLDS,
    VARIANTS,
    LabelledLink,
    LabelledSite,
    left_out,
    measure,
)
from bilingual_crawler.languages import LanguagePair, find_language

SHARED = Path(os.environ.get("BILINGUAL_SHARED", Path(__file__).parents[2] / "shared"))
LEAST_PAIRS = 4
PAIRS_PER_SITE = 6
MISSING = "http_404"
POSITIVE, NEGATIVE = (
    ("home", "deep"),
    ("absent", "hidden", "unlinked", "landing", "fallback"),
)


class World:
    """A recorded site as the detector sees it."""

    def __init__(
        self,
        site: LabelledSite,
        hidden: Container[str] = (),
        shown_as: Mapping[str, str] | None = None,
        *,
        unlinked: bool = False,
    ) -> None:
        self._site, self._hidden, self._shown_as = site, hidden, shown_as or {}
        self._unlinked = unlinked

    def fetch(self, url: str) -> Document | None:
        """Return the page at an address, through redirects, or None."""
        page = self._site.page_of(url)
        if page is None or page in self._hidden:
            return None
        document = self._site.document(self._shown_as.get(page, page))
        if document is None:
            return None
        document.url, document.requested_url = page, url
        if self._unlinked:
            links = [each for each in document.links if self._is_there(each.url)]
            alternates = [each for each in document.alternates if self._is_there(each.url)]
            document = replace(document, links=links, alternates=alternates)
        return document

    def _is_there(self, url: str) -> bool:
        return (self._site.page_of(url) or url) not in self._hidden


class Case(NamedTuple):
    """A question to the detector, and the true answer."""

    site: str
    kind: str
    start: str
    pair: LanguagePair
    world: World

    @property
    def is_bilingual(self) -> bool:
        return self.kind in POSITIVE


class Result(NamedTuple):
    """The answer of the detector."""

    case: Case
    verdict: SiteVerdict


def largest_pairs(site: LabelledSite) -> Iterator[tuple[LanguagePair, dict[str, str]]]:
    """Yield the language pairs with most pages on a site, with the partner of each page."""
    counts = Counter(line.languages for line in site.gold)
    for languages, count in counts.most_common(PAIRS_PER_SITE):
        if count >= LEAST_PAIRS:
            pair = LanguagePair.parse("-".join(languages))
            partners = {
                one: other
                for line in site.gold
                if line.languages == languages
                for one, other in ((line.first, line.second), (line.second, line.first))
            }
            yield pair, partners


def cases_of(site: LabelledSite) -> Iterator[Case]:
    """Yield the questions about a site."""
    home = site.page_of(site.recording.homes()[0]) or ""
    language = site.language_of(home)
    by_language: defaultdict[str, set[str]] = defaultdict(set)
    for url in site.recording.pages:
        by_language[site.language_of(url)].add(url)
    for pair, partners in largest_pairs(site):
        deep = max(sorted(partners), key=lambda url: url.count("/"))
        yield Case(site.name, "home", home, pair, World(site))
        yield Case(site.name, "deep", deep, pair, World(site))
        second = pair.other(language).code if language in pair else pair.second.code
        hidden = by_language[second]
        yield Case(site.name, "hidden", home, pair, World(site, hidden))
        yield Case(site.name, "unlinked", home, pair, World(site, hidden, unlinked=True))
        if home in partners and language in pair:
            rest = hidden - {partners[home]}
            yield Case(site.name, "landing", home, pair, World(site, rest, unlinked=True))
        shown_as = {url: partners.get(url, home) for url in hidden}
        yield Case(site.name, "fallback", home, pair, World(site, shown_as=shown_as))
    for code in [code for code in NEVER_THERE if not by_language[code]][:2]:
        pair = LanguagePair(find_language(language), find_language(code))
        yield Case(site.name, "absent", home, pair, World(site))


def ask(case: Case, predictor: LinkPredictor, likelihood: float) -> Result:
    """Run the detector on a question."""
    return Result(case, ask_about(case.start, case.pair, case.world, predictor, likelihood))


def ask_about(
    start: str,
    pair: LanguagePair,
    world: World,
    predictor: LinkPredictor,
    likelihood: float = LIKELIHOOD,
) -> SiteVerdict:
    """Return the verdict on a site, fetching one page at a time."""
    detector = SiteDetector(start, pair, predictor, likelihood=likelihood)
    while detector.verdict is None:
        url = detector.wanted()[0]
        document = world.fetch(url)
        if document is None:
            detector.missed(url, MISSING)
        else:
            detector.take(document)
    return detector.verdict


class Figures(NamedTuple):
    """How good the answers are; all sites and all kinds of questions count the same."""

    recall: float
    precision: float

    def __str__(self) -> str:
        total = self.precision + self.recall
        f = 2 * self.precision * self.recall / total if total else 0.0
        return f"{self.recall:.2f} | {self.precision:.2f} | {f:.2f}"


def figures_of(answers: Sequence[tuple[Case, bool]]) -> Figures:
    """Return the figures; positive and negative questions weigh the same (Barbosa et al.)."""
    recall = fmean(_share(answers, kind) for kind in POSITIVE)
    wrong = fmean(_share(answers, kind) for kind in NEGATIVE)
    return Figures(recall, recall / max(1e-9, recall + wrong))


def _share(answers: Iterable[tuple[Case, bool]], kind: str) -> float:
    """Return how often one kind of question is answered with yes, as the mean over sites."""
    by_site: defaultdict[str, list[bool]] = defaultdict(list)
    for case, answer in answers:
        if case.kind == kind:
            by_site[case.site].append(answer)
    return fmean(fmean(each) for each in by_site.values()) if by_site else 0.0


def is_promised(case: Case, predictor: LinkPredictor, likelihood: float) -> bool:
    """Return True if the first page has a likely link: the predictor's own answer."""
    document = case.world.fetch(case.start)
    if document is None:
        return False
    found = predictor.likelihoods(document.links, document.url, case.pair, document.language or "")
    return any(each >= likelihood for each in found)


def print_kinds(results: Sequence[Result]) -> None:
    print("| question | asked | yes | no | unsure | downloads |")
    print("|---|---:|---:|---:|---:|---:|")
    for kind in (*POSITIVE, *NEGATIVE):
        some = [result for result in results if result.case.kind == kind]
        shares = " | ".join(
            f"{_share([(case, verdict.answer == each) for case, verdict in some], kind):.3f}"
            for each in ("yes", "no", "unsure")
        )
        downloads = fmean(result.verdict.downloads for result in some)
        print(f"| {kind} | {len(some)} | {shares} | {downloads:.1f} |")


def print_sites(results: Sequence[Result]) -> None:
    print("| site | pairs | bilingual: right | downloads | not bilingual: right | downloads |")
    print("|---|---:|---:|---:|---:|---:|")
    for site in dict.fromkeys(result.case.site for result in results):
        cells = []
        for kinds, answer in ((POSITIVE, "yes"), (NEGATIVE, "no")):
            some = [r for r in results if r.case.site == site and r.case.kind in kinds]
            right = sum(result.verdict.answer == answer for result in some)
            downloads = fmean(result.verdict.downloads for result in some)
            cells.append(f"{right} of {len(some)} | {downloads:.1f}")
        pairs = len({str(r.case.pair) for r in results if r.case.site == site}) - 2
        print(f"| {site} | {pairs} | {' | '.join(cells)} |")


def print_links(predictors: dict[str, LinkPredictor], links: Sequence[LabelledLink]) -> None:
    """Print how good the predictor is on single links, also without what some sites lack."""
    print(
        "| likelihood | as they are: recall | precision | F | without hreflang | | "
        "| without any text | | |"
    )
    print(f"|{'---:|' * 10}")
    columns = [
        measure(predictors, [link for link in links if link.variant == variant])
        for variant in range(len(VARIANTS))
    ]
    for row in zip(*columns, strict=True):
        figures = " | ".join(str(Figures(each.recall, each.precision)) for each in row)
        print(f"| {row[0].threshold:.1f} | {figures} |", flush=True)


def print_sweep(cases: Sequence[Case], predictors: dict[str, LinkPredictor]) -> None:
    """Print Table 1 of Barbosa et al."""
    columns = [f"{what}: recall | precision | F" for what in ("predictor", "detector")]
    print(f"| likelihood | {' | '.join(columns)} | downloads |")
    print(f"|{'---:|' * 8}")
    for least in THRESHOLDS:
        promised = [(case, is_promised(case, predictors[case.site], least)) for case in cases]
        results = [ask(case, predictors[case.site], least) for case in cases]
        answers = [(case, verdict.answer == "yes") for case, verdict in results]
        downloads = fmean(result.verdict.downloads for result in results)
        print(
            f"| {least:.1f} | {figures_of(promised)} | {figures_of(answers)} | {downloads:.1f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED / "sites")
    parser.add_argument("--sweep", action="store_true", help="all thresholds of Table 1")
    parser.add_argument("--wrong", action="store_true", help="show every wrong answer")
    options = parser.parse_args()
    links: list[LabelledLink] = []
    for warc in sorted(options.folder.glob("*.warc.gz")):
        links += LabelledSite(warc).labelled()
        print(warc.name, file=sys.stderr, flush=True)
    predictors = dict(left_out(links))
    print("### Links\n")
    print_links(predictors, links)
    for strip in (False, True):
        print(f"\n### {'Without' if strip else 'With'} declarations\n")
        cases: list[Case] = []
        for warc in sorted(options.folder.glob("*.warc.gz")):
            cases += cases_of(LabelledSite(warc, strip=strip))
        results = [ask(case, predictors[case.site], LIKELIHOOD) for case in cases]
        print_kinds(results)
        answers = [(case, verdict.answer == "yes") for case, verdict in results]
        print(f"\nRecall | precision | F: {figures_of(answers)}\n")
        print_sites(results)
        for case, verdict in results if options.wrong else ():
            if verdict.answer != ("yes" if case.is_bilingual else "no"):
                print(case.site, case.kind, case.pair, case.start, verdict.to_dict())
        if options.sweep and strip:
            print()
            print_sweep(cases, predictors)


if __name__ == "__main__":
    main()
