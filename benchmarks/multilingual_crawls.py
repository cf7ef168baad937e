"""Downloads of one crawl for several languages, against a crawl for each two of them.

The crawls of recorded sites are simulated, with declarations left in. A crawl has found a gold pair
when both of its pages are downloaded. What counts is how many downloads it takes until a share of
the pairs that can be reached are found: in one crawl for all languages, or in the crawls for each
two, added up.

    python -m benchmarks.multilingual_crawls [--share 0.9] [--sites a,b] [FOLDER]
"""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import NamedTuple

from benchmarks.clusters import sites_with_many
from benchmarks.recorded_pairs import SHARED
from bilingual_crawler.lab.replay.gold import ENDING
from bilingual_crawler.lab.replay.measure import Job, scope_of
from bilingual_crawler.lab.replay.run import ReplayCrawl
from bilingual_crawler.lab.simulation.crawl import SimulatedCrawl
from bilingual_crawler.lab.simulation.measure import Simulation
from bilingual_crawler.lab.simulation.web import SimulatedWeb
from bilingual_crawler.languages import parse_parallel
from bilingual_crawler.scoring.scorer import make_scorer

ONE, APART = "rules", ("rules", "adaptive")
Pairs = Iterable[tuple[str, str]]


class Downloads(NamedTuple):
    """Downloads until the share was found, and until the end."""

    enough: int
    all: int


def downloads(order: Sequence[str], copies: Mapping[str, str], pairs: Pairs, share: float) -> int:
    """Return how many downloads it takes to have both pages of a share of the pairs."""
    arrived: dict[str, int] = {}
    for at, name in enumerate(order, 1):
        arrived.setdefault(copies.get(name, name), at)
    ends = sorted(max(arrived.get(each, len(order)) for each in pair) for pair in pairs)
    return ends[ceil(share * len(ends)) - 1]


def apart(simulations: Sequence[Simulation], scorer: str, share: float) -> Downloads:
    """Return the downloads of a crawl for each two languages, added up."""
    enough = total = 0
    for each in simulations:
        order = each.run_scorer(scorer).order
        enough += downloads(order, each.prepared.copies, each.prepared.reachable, share)
        total += len(order)
    return Downloads(enough, total)


def together(simulations: Sequence[Simulation], scorer: str, share: float) -> Downloads:
    """Return the downloads of one crawl for all languages."""
    first = simulations[0]
    codes = dict.fromkeys(code for each in simulations for code in each.pair.codes)
    languages = parse_parallel(",".join(codes))
    web = SimulatedWeb(first.job.warc, languages, first.config)
    crawl = ReplayCrawl(first.pair, first.prepared.seeds)
    simulated = SimulatedCrawl(web, first.prepared.seeds, scope_of(crawl), first.config)
    order = simulated.run(lambda so_far: make_scorer(scorer, languages, so_far, first.config)).order
    pairs = [pair for each in simulations for pair in each.prepared.reachable]
    copies = {copy: page for each in simulations for copy, page in each.prepared.copies.items()}
    return Downloads(downloads(order, copies, pairs, share), len(order))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED / "sites")
    parser.add_argument("--sites", default="", help="some of the sites")
    parser.add_argument("--share", type=float, default=0.9)
    options = parser.parse_args()
    names = [name for name in options.sites.split(",") if name]
    ways = [f"one crawl, {ONE}", *(f"each two, {scorer}" for scorer in APART)]
    print(f"| site | language pairs | {' | '.join(ways)} | all of it, once | all, each two |")
    print(f"|---|---:|{'---:|' * (len(ways) + 2)}")
    totals: list[int] = []
    for site, langs in sites_with_many(options.folder, names).items():
        warc = options.folder / f"{site}.warc.gz"
        jobs = [
            Job(warc=warc, gold=options.folder / f"{site}{ENDING}", scorers=APART, langs=each)
            for each in langs
        ]
        simulations = [Simulation(job) for job in jobs]
        one = together(simulations, ONE, options.share)
        many = [apart(simulations, scorer, options.share) for scorer in APART]
        cells = [one.enough, *(each.enough for each in many), one.all, many[0].all]
        print(f"| {site} | {len(langs)} | {' | '.join(map('{:,}'.format, cells))} |", flush=True)
        totals = [sum(each) for each in zip(totals or [0] * len(cells), cells, strict=True)]
    print(f"| all | | {' | '.join(map('{:,}'.format, totals))} |")


if __name__ == "__main__":
    main()
