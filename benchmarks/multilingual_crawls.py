"""Crawls for several languages: which scorer is best, and what a crawl for each two would take.

The crawls of recorded sites with three or more languages are simulated, one for all languages whose
pairs were read. Two tables are printed. The first has the mean share of gold pairs that are
complete over the downloads of a crawl (AUC), and the same for versions of pages beyond the first
(pages that gold pairs tie together are versions of one). The second has the downloads until a share
of the gold pairs is found: in one crawl for all languages, and in a crawl for each two, added up.

With `--listed` the languages are those of the gold list, read or not, that have a quarter of the
pages of the largest, ten at most.

    python -m benchmarks.multilingual_crawls [--share 0.8] [--strip] [--sites a,b] [--listed]
        [--languages spa-eus-eng] [--scorers rules,adaptive] [--apart rules,adaptive] [FOLDER]
"""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from benchmarks.clusters import sites_with_many
from benchmarks.recorded_pairs import SHARED
from bilingual_crawler.lab.replay.gold import ENDING, read_gold
from bilingual_crawler.lab.replay.measure import ORACLE, Job, Measured, NothingToMeasureError
from bilingual_crawler.lab.simulation.measure import Simulation, simulate

BREADTH_FIRST = "breadth_first"
MOST_LANGUAGES = 10


class Site:
    """A recorded site, and the languages to crawl it for."""

    def __init__(self, folder: Path, name: str, langs: str, strip: bool) -> None:
        self.name = name
        self.langs = langs
        self._strip = strip
        self._warc, self._gold = folder / f"{name}.warc.gz", folder / f"{name}{ENDING}"

    def together(self, scorers: Sequence[str]) -> Measured:
        """Crawl it once with each scorer for all languages."""
        return simulate(self._job(self.langs, scorers))

    def apart(self, scorer: str, share: float) -> tuple[int, int]:
        """Return the downloads of a crawl for each two languages, until enough and in all."""
        enough = total = 0
        for both in combinations(self.langs.split("-"), 2):
            try:
                simulation = Simulation(self._job("-".join(both), (scorer,)))
            except NothingToMeasureError:
                continue
            result = simulation.measured(
                {
                    BREADTH_FIRST: simulation.run_scorer(BREADTH_FIRST),
                    scorer: simulation.run_scorer(scorer),
                }
            )
            simulation.web.save()
            enough += downloads(result, scorer, share)
            total += result.scorers[scorer]["downloads"]
        return enough, total

    def _job(self, langs: str, scorers: Sequence[str]) -> Job:
        return Job(
            warc=self._warc, gold=self._gold, langs=langs, strip=self._strip,
            scorers=tuple(dict.fromkeys((BREADTH_FIRST, *scorers))),
        )  # fmt: skip


def downloads(result: Measured, scorer: str, share: float) -> int:
    """Return the downloads until a share of the gold pairs is found; all, if it never is."""
    found = result.scorers[scorer][f"downloads_to_{share:.0%}"[:-1]]
    return int(result.scorers[scorer]["downloads"] if found is None else found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED / "sites")
    parser.add_argument("--sites", default="", help="some of the sites")
    parser.add_argument("--languages", default="", help="instead of those whose pairs were read")
    parser.add_argument("--listed", action="store_true", help="all languages of the gold lists")
    parser.add_argument("--scorers", default="rules,adaptive", help="for all languages at once")
    parser.add_argument("--apart", default="rules,adaptive", help="for each two languages")
    parser.add_argument("--strip", action="store_true", help="without declared translations")
    parser.add_argument("--share", type=float, default=0.8, choices=(0.5, 0.8, 0.95))
    options = parser.parse_args()
    scorers = list(dict.fromkeys((BREADTH_FIRST, *options.scorers.split(","))))
    two = [name for name in options.apart.split(",") if name]
    names = [name for name in options.sites.split(",") if name]
    areas = [f"{name}, {what}" for what in ("pairs", "versions") for name in (*scorers, ORACLE)]
    sites = read_sites(options.folder, names, options.languages)
    if options.listed:
        sites = {name: listed_languages(options.folder / f"{name}{ENDING}") for name in names}
    print(f"| site | pages | pairs | {' | '.join(areas)} |\n|---|---:|---:|{'---:|' * len(areas)}")
    costs: tuple[list[str], list[list[int]]] = [], []
    means: list[list[float]] = []
    for name, langs in sites.items():
        site = Site(options.folder, name, langs, options.strip)
        result = site.together(scorers)
        figures = [
            result.scorers[scorer][what]
            for what in ("auc", "versions_auc")
            for scorer in (*scorers, ORACLE)
        ]
        means.append(figures)
        cells = " | ".join(f"{each:.3f}" for each in figures)
        print(f"| {name} ({langs}) | {result.pages:,} | {result.pairs:,} | {cells} |", flush=True)
        one = [downloads(result, scorer, options.share) for scorer in scorers[1:]]
        each_two = [site.apart(scorer, options.share) for scorer in two]
        costs[0].append(name)
        costs[1].append([
            *one, *(enough for enough, _ in each_two),
            result.scorers[scorers[-1]]["downloads"], *(total for _, total in each_two[:1]),
        ])  # fmt: skip
    mean = [sum(column) / len(means) for column in zip(*means, strict=True)]
    print(f"| mean | | | {' | '.join(f'{each:.3f}' for each in mean)} |\n")
    ways = [f"one crawl, {name}" for name in scorers[1:]] + [f"each two, {name}" for name in two]
    ways += ["all of it, once", *(["all, each two"] if two else [])]
    print(f"| downloads to {options.share:.0%} | {' | '.join(ways)} |\n|---|{'---:|' * len(ways)}")
    for name, row in zip(*costs, strict=True):
        print(f"| {name} | {' | '.join(f'{each:,}' for each in row)} |")
    totals = [sum(column) for column in zip(*costs[1], strict=True)]
    print(f"| all | {' | '.join(f'{each:,}' for each in totals)} |")


def read_sites(folder: Path, names: list[str], langs: str) -> dict[str, str]:
    """Return the sites, each with all languages of which pairs were read."""
    found = {}
    for name, pairs in sites_with_many(folder, names).items():
        codes = dict.fromkeys(code for each in pairs for code in each.split("-"))
        found[name] = langs or "-".join(codes)
    return found or dict.fromkeys(names, langs)


def listed_languages(gold: Path) -> str:
    """Return the languages of a gold list with a quarter of the pages of the largest."""
    pages: defaultdict[str, set[str]] = defaultdict(set)
    for line in read_gold(gold):
        for url, code in zip((line.first, line.second), line.languages, strict=True):
            pages[code].add(url)
    codes = sorted((code for code in pages if code), key=lambda code: -len(pages[code]))
    least = len(pages[codes[0]]) / 4
    return "-".join([code for code in codes if len(pages[code]) >= least][:MOST_LANGUAGES])


if __name__ == "__main__":
    main()
