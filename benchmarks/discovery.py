"""How many bilingual sites each strategy finds with its downloads, in a synthetic web.

The web of tests/synthetic_web is served on loopback, by one process that answers for all hosts;
each strategy crawls it over HTTP with `scrapy crawl discovery`, from the same seeds, until its
downloads are used up. A file with half of all links stands in for a backlink service. All figures
are averages over several webs. The focused crawl with a page classifier gets the words of the
topics in which many sites are bilingual, with which its seeds agree.

    python -m benchmarks.discovery                     the table of docs/experiments/discovery.md
    python -m benchmarks.discovery --plot docs/images/discovery.png
    python -m benchmarks.discovery --size large --webs 1 --arm classifier
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.discovery_variants import VARIANTS
from bilingual_crawler.config.discovery import ONE, TWO
from tests.support.crawling import ROOT
from tests.support.servers import serve_web
from tests.support.synthetic_web.texts import RICH, TOPICS
from tests.support.synthetic_web.web import PAIR, Web

Curve = list[tuple[int, int]]
"""(downloads, bilingual sites found)"""
POINTS = 20


class Size(NamedTuple):
    sites: int
    downloads: int
    seeds: int


class Arm(NamedTuple):
    """A way to search: its strategy, its queues, whether it is given a topic, and what is undone.

    `learn_after` is the share of the downloads after which the classifiers first learn.
    """

    strategy: str
    queues: str = ONE
    topic: bool = False
    variant: str = ""
    learn_after: float = 0.2


ARMS = {
    "forward": Arm("forward"),
    "focused": Arm("focused"),
    "focused, with a topic": Arm("focused", topic=True),
    "back-forward": Arm("back-forward"),
    "back-forward, two queues": Arm("back-forward", TWO),
    "classifier": Arm("classifier"),
    "classifier, two queues": Arm("classifier", TWO),
}
FURTHER_ARMS = {
    **{f"classifier, {name}": Arm("classifier", variant=name) for name in VARIANTS},
    "classifier, learns after 1/20": Arm("classifier", learn_after=0.05),
    "classifier, learns after 1/10": Arm("classifier", learn_after=0.1),
    "classifier, learns after 1/2": Arm("classifier", learn_after=0.5),
}
"""Arms that only run when they are named."""
SIZES = {"small": Size(3_000, 600, 10), "large": Size(6_000, 1_200, 20)}
FURTHER_SIZES = {"long": Size(30_000, 6_000, 60)}
"""Sizes that only run when they are named: for the speed of a long search."""
SETTINGS = {
    "BILINGUAL_ALLOW_PRIVATE": 1,
    "BILINGUAL_HONOUR": "",
    "BILINGUAL_PROGRESS": "off",
    "BILINGUAL_CHECKPOINT_SECONDS": 5,
    "ROBOTSTXT_OBEY": 0,
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": 0,
    "CONCURRENT_REQUESTS": 8,
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 0,  # no request while a page is being read
    "LOG_LEVEL": "ERROR",
    "EXTENSIONS": '{"bilingual_crawler.crawl.extensions.picture.YieldPicture": null}',
}


def topic_table() -> str:
    """Return the words of the topics in which many sites are bilingual, as a topic."""
    words = (
        f"1\t{word}\t{topic}\t{language}\n"
        for topic in RICH
        for language in PAIR
        for word in TOPICS[topic][language].split()
    )
    return "".join(["weight\tterm\tsubdomain\tlanguage\n", *words])


def run(web: Web, proxy: str, size: Size, arm: Arm, folder: Path) -> Curve:
    """Run one search and return its curve, read from crawl.json."""
    links, output = folder / "links.tsv", folder / "-".join(map(str, arm)).replace(" ", "-")
    if not links.exists():
        links.write_text("".join(f"{target}\t{source}\n" for target, source in web.backlinks()))
    settings = SETTINGS | {
        "BILINGUAL_BACKLINKS": f"links:{links}",
        "BILINGUAL_DISCOVERY_STRATEGY": arm.strategy,
        "BILINGUAL_DISCOVERY_QUEUES": arm.queues,
        "BILINGUAL_DISCOVERY_LEARN_AFTER": round(arm.learn_after * size.downloads),
        "CLOSESPIDER_PAGECOUNT": size.downloads,
    }
    program = ["benchmarks.discovery_variants", arm.variant] if arm.variant else ["scrapy"]
    command = [sys.executable, "-m", *program, "crawl", "discovery", "-a", "langs=eng-spa"]
    command += ["-a", f"seeds={','.join(web.seeds(size.seeds))}", "-a", f"output={output}"]
    if arm.topic:
        topic = folder / "topic.tsv"
        topic.write_text(topic_table())
        command += ["-a", f"topic={topic}"]
    for name, value in settings.items():
        command += ["-s", f"{name}={value}"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=ROOT, env={"http_proxy": proxy}, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = {json.loads(line)["site"] for line in (output / "sites.jsonl").open()}
    wrong = found - web.bilingual
    if wrong:
        print(f"not bilingual: {', '.join(sorted(wrong))}", file=sys.stderr)
    report = json.loads((output / "crawl.json").read_text())
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    pages, seconds = report["pages"], report["seconds"]
    print(
        f"  {pages} pages in {seconds:.0f} s, {used:.0f} s of CPU:"
        f" {pages / seconds:.0f} per second, {pages / used:.0f} per CPU second,"
        f" {after.ru_maxrss // 1024} MB",
        file=sys.stderr,
    )
    return [(pages, sites) for pages, sites in report["yield"]]


def at(curve: Curve, downloads: int) -> int:
    """Return the sites found after some downloads; a search that ended earlier finds no more."""
    return max((sites for pages, sites in curve if pages <= downloads), default=0)


def mean_curve(curves: Sequence[Curve], downloads: int) -> list[tuple[int, float]]:
    steps = [downloads * step // POINTS for step in range(POINTS + 1)]
    return [(step, statistics.mean(at(curve, step) for curve in curves)) for step in steps]


def measure(size: Size, webs: int, arms: Sequence[str]) -> dict[str, list[Curve]]:
    curves: dict[str, list[Curve]] = {arm: [] for arm in arms}
    for seed in range(webs):
        web = Web(size.sites, seed)
        with serve_web(size.sites, seed) as server, tempfile.TemporaryDirectory() as name:
            for arm in arms:
                curve = run(web, server.url, size, (ARMS | FURTHER_ARMS)[arm], Path(name))
                curves[arm].append(curve)
                ended = f"{curve[-1][1]} sites in {curve[-1][0]} downloads" if curve else "nothing"
                print(f"  web {seed}, {arm}: {ended}", file=sys.stderr, flush=True)
    return curves


def table(name: str, size: Size, curves: dict[str, list[Curve]]) -> str:
    """Return the sites found after a quarter, half and all of the downloads: mean and range."""
    steps = (size.downloads // 4, size.downloads // 2, size.downloads)
    bilingual = [
        len(Web(size.sites, seed).bilingual) for seed in range(len(next(iter(curves.values()))))
    ]
    lines = [
        f"{name}: {size.sites:,} sites, {statistics.mean(bilingual):.0f} of them bilingual\n",
        "| search | " + " | ".join(f"after {step:,} downloads" for step in steps) + " |",
        "|---|" + "---:|" * len(steps),
    ]
    for arm, each in curves.items():
        cells = []
        for step in steps:
            found = [at(curve, step) for curve in each]
            cells.append(f"{statistics.mean(found):.1f} ({min(found)}-{max(found)})")
        lines.append(f"| {arm} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(measured: dict[str, dict[str, list[Curve]]], path: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - heavy
    from matplotlib.figure import Figure  # noqa: PLC0415 - heavy

    figure = Figure(figsize=(5 * len(measured), 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(measured), squeeze=False)[0]
    for panel, (name, curves) in zip(panels, measured.items(), strict=True):
        size = (SIZES | FURTHER_SIZES)[name]
        for arm, each in curves.items():
            points = mean_curve(each, size.downloads)
            panel.plot(*zip(*points, strict=True), label=arm, linewidth=1.6)
        panel.axvline(
            Arm("classifier").learn_after * size.downloads,
            color="grey",
            linewidth=0.6,
            linestyle=":",
        )
        panel.set_title(f"{size.sites:,} sites")
        panel.set_xlabel("downloads")
        panel.set_ylabel("bilingual sites found")
        panel.grid(alpha=0.25)
        panel.legend()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    sizes = SIZES | FURTHER_SIZES
    parser.add_argument("--size", choices=sizes, action="append", help="by default two")
    parser.add_argument("--webs", type=int, default=3, help="webs that are averaged over")
    parser.add_argument(
        "--arm", choices=ARMS | FURTHER_ARMS, action="append", help="by default all"
    )
    parser.add_argument("--plot", type=Path, help="draw the curves here")
    given = parser.parse_args()
    measured = {}
    for name in given.size or SIZES:
        curves = measure(sizes[name], given.webs, given.arm or list(ARMS))
        measured[name] = curves
        print(table(name, sizes[name], curves) + "\n", flush=True)
    if given.plot:
        draw(measured, given.plot)


if __name__ == "__main__":
    main()
