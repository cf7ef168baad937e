"""Replay every recorded site with every scorer, with its hreflang links and without them.

Each site is replayed for its largest language pairs (two by default). This prints the tables of
docs/experiments/replay.md in Markdown and plots the curves of the largest pair of each site.

    python -m benchmarks.replay_sites [FOLDER] [--scorers a,b] [--pairs N] [--plot OUT.png]
        [--json OUT.jsonl] [--sites a,b]
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.recorded_pairs import SHARED
from bilingual_crawler.config.settings import SCORERS
from bilingual_crawler.lab.replay import curve
from bilingual_crawler.lab.replay.gold import ENDING, largest_pairs, read_gold
from bilingual_crawler.lab.replay.measure import BREADTH_FIRST, ORACLE, Job, Measured
from bilingual_crawler.lab.replay.recording import site_name
from bilingual_crawler.lab.replay.report import aggregate, json_lines, plot_curves, replay_with_bar

PAIRS_PER_SITE = 2


def jobs_for(
    folder: Path, scorers: Sequence[str], pairs: int, names: Sequence[str], *, strip: bool
) -> list[Job]:
    jobs: list[Job] = []
    for warc in sorted(folder.glob("*.warc.gz")):
        name = site_name(warc)
        gold = warc.with_name(name + ENDING)
        if (names and name not in names) or not gold.exists():
            continue
        jobs += [
            Job(warc=warc, gold=gold, scorers=tuple(scorers), langs=langs, strip=strip)
            for langs in largest_pairs(read_gold(gold))[:pairs]
        ]
    return jobs


def markdown(results: Sequence[Measured], scorers: Sequence[str]) -> str:
    """Return one line per site and language pair: what can be reached, and each scorer's gain."""
    names = [name for name in scorers if name != BREADTH_FIRST]
    lines = [
        f"| site | langs | pages | pairs | AUC {BREADTH_FIRST} | AUC {ORACLE} | "
        + " | ".join(f"gain {name}" for name in names)
        + " |",
        "|---|---|---:|---:|---:|---:|" + "---:|" * len(names),
    ]
    for each in results:
        base, ideal = (each.scorers[name]["auc"] for name in (BREADTH_FIRST, ORACLE))
        gains = " | ".join(_cell(each.scorers[name]["gain"]) for name in names)
        lines.append(
            f"| {each.site} | {each.langs} | {each.pages} | {each.pairs} "
            f"| {base:.3f} | {ideal:.3f} | {gains} |"
        )
    together = aggregate(results)
    mean = {name: together["scorers"][name] for name in (*scorers, ORACLE)}
    gains = " | ".join(_cell(mean[name]["gain"]) for name in names)
    lines.append(
        f"| **mean** | | {together['pages']} | {together['pairs']} "
        f"| {mean[BREADTH_FIRST]['auc']:.3f} | {mean[ORACLE]['auc']:.3f} | {gains} |"
    )
    return "\n".join(lines)


def deciles(results: Sequence[Measured]) -> str:
    """Return the pairs after each tenth of every site's pages, all sites together."""
    together = aggregate(results)["scorers"]
    tenths = range(1, curve.DECILES + 1)
    lines = [
        "| scorer | " + " | ".join(f"{10 * tenth}%" for tenth in tenths) + " |",
        "|---|" + "---:|" * curve.DECILES,
    ]
    for name, each in sorted(together.items(), key=lambda item: -item[1]["auc"]):
        lines.append(f"| {name} | " + " | ".join(map(str, each["deciles"])) + " |")
    return "\n".join(lines)


def worst(results: Sequence[Measured], scorers: Sequence[str]) -> str:
    """Return, per scorer, the site where it is furthest below breadth-first, if any."""
    lines = []
    for name in scorers:
        falls = [
            (each.scorers[name]["auc"] - each.scorers[BREADTH_FIRST]["auc"], each)
            for each in results
        ]
        fall, each = min(falls, key=lambda item: item[0])
        if fall < 0:
            lines.append(f"- {name} is {-fall:.3f} AUC below on {each.site} ({each.langs})")
    return "\n".join(lines)


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def largest_only(results: Sequence[Measured]) -> list[Measured]:
    first: dict[str, Measured] = {}
    for each in results:
        first.setdefault(each.site, each)
    return list(first.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED / "sites")
    parser.add_argument("--scorers", default=",".join(SCORERS))
    parser.add_argument("--pairs", type=int, default=PAIRS_PER_SITE, help="language pairs a site")
    parser.add_argument("--sites", default="", help="some of the sites")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--plot", type=Path, help="curves, alternates stripped: OUT.png")
    parser.add_argument("--json", type=Path, help="all figures, a line a replay")
    options = parser.parse_args()
    scorers = list(dict.fromkeys([BREADTH_FIRST, *options.scorers.split(",")]))
    names = [name for name in options.sites.split(",") if name]
    if options.json:
        options.json.write_text("")
    for strip in (True, False):
        jobs = jobs_for(options.folder, scorers, options.pairs, names, strip=strip)
        results, problems = replay_with_bar(jobs, options.processes, 0)
        print(f"\n### Alternates {'stripped' if strip else 'left in'}\n")
        print(markdown(results, scorers))
        print("\nPairs after each tenth of the pages, all sites together:\n")
        print(deciles(results))
        print(f"\n{worst(results, scorers)}", flush=True)
        for problem in problems:
            Console(stderr=True).print(problem, markup=False)
        if options.json:
            with options.json.open("a") as file:
                file.write(json_lines(results))
        if strip and options.plot:
            plot_curves(largest_only(results), options.plot)


if __name__ == "__main__":
    main()
