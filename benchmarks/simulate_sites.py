"""Simulate crawls of every recorded site, and say how far each scorer goes to the oracle.

The language pairs are those whose gold lists were read (READ.tsv) and, of all other sites, the
largest one. This prints the tables of docs/experiments/replay.md. What is parsed is kept
(in the user's cache folder), so a second run takes a fraction of the
time.

    python -m benchmarks.simulate_sites [FOLDER] [--scorers a,b] [--sites a,b] [--only read|other]
        [--half A|B] [--langs a-b,c-d] [--alternates stripped|left|both] [--processes N]
        [--json OUT.jsonl]

Changes of the scorers are developed on half A of the sites and checked on half B.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

from rich.console import Console

from benchmarks.recorded_pairs import SHARED
from bilingual_crawler.lab.replay import comparison
from bilingual_crawler.lab.replay.gold import ENDING, largest_pairs, read_gold
from bilingual_crawler.lab.replay.measure import BREADTH_FIRST, Job, Measured
from bilingual_crawler.lab.replay.recording import site_name
from bilingual_crawler.lab.replay.report import json_lines, replay_with_bar

READ = "READ.tsv"
SCORERS = "rules,smart,adaptive"
FAMILIES = {"peppol-agid": "developers-italia"}
"""Sites made by the same people in the same way, which belong into the same half."""


def half_of(site: str) -> str:
    """Return the half of the sites to which one belongs: by its name, whatever is in it."""
    return "BA"[crc32(FAMILIES.get(site, site).encode()) % 2]


def read_pairs(folder: Path) -> dict[str, list[str]]:
    """Return the language pairs of each site whose gold lists were read."""
    pairs: dict[str, list[str]] = {}
    for line in (folder / READ).read_text().splitlines():
        name, langs = line.split("\t")
        pairs.setdefault(name, []).append(langs)
    return pairs


def jobs_for(
    folder: Path,
    *,
    only: str = "",
    names: Sequence[str] = (),
    langs: Sequence[str] = (),
    half: str = "",
) -> list[tuple[Path, Path, str]]:
    """Return recording, gold list and languages of everything to measure.

    With `langs` these language pairs of every site are taken, and no others.
    """
    read = read_pairs(folder)
    found = []
    for warc in sorted(folder.glob("*.warc.gz")):
        name = site_name(warc)
        gold = warc.with_name(name + ENDING)
        if (names and name not in names) or not gold.exists():
            continue
        if half and half_of(name) != half:
            continue
        if langs:
            there = largest_pairs(read_gold(gold))
            found += [(warc, gold, each) for each in there if each in langs]
        elif name in read and only != "other":
            found += [(warc, gold, langs) for langs in read[name]]
        elif name not in read and only != "read":
            found += [(warc, gold, langs) for langs in largest_pairs(read_gold(gold))[:1]]
    return found


def show(title: str, results: Sequence[Measured], scorers: Sequence[str]) -> None:
    print(f"\n### {title}\n")
    print(comparison.table(results, scorers))
    print()
    print(comparison.summary(results, scorers))
    for name in scorers:
        for case in comparison.behind(results, name):
            print(f"- {name} is {case.by:.3f} behind on {case.site} ({case.langs})")
    print(flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED / "sites")
    parser.add_argument("--scorers", default=SCORERS)
    parser.add_argument("--sites", default="", help="some of the sites")
    parser.add_argument("--langs", default="", help="these language pairs of all sites")
    parser.add_argument("--only", choices=("read", "other"), default="")
    parser.add_argument("--half", choices=("A", "B"), default="")
    parser.add_argument("--alternates", choices=("stripped", "left", "both"), default="both")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--json", type=Path, help="all figures, one line per crawl")
    options = parser.parse_args()
    scorers = list(dict.fromkeys([BREADTH_FIRST, *options.scorers.split(",")]))
    names = [name for name in options.sites.split(",") if name]
    langs = ["-".join(sorted(each.split("-"))) for each in options.langs.split(",") if each]
    found = jobs_for(options.folder, only=options.only, names=names, langs=langs, half=options.half)
    read = read_pairs(options.folder)
    if options.json:
        options.json.write_text("")
    for strip in (True, False):
        if options.alternates == ("left" if strip else "stripped"):
            continue
        jobs = [
            Job(
                warc=warc,
                gold=gold,
                scorers=tuple(scorers),
                langs=langs,
                strip=strip,
                simulate=True,
            )
            for warc, gold, langs in found
        ]
        results, problems = replay_with_bar(jobs, options.processes, 0)
        how = "alternates stripped" if strip else "alternates left in"
        parts = (
            (f"Read gold, {how}", [each for each in results if each.site in read]),
            (f"Declared gold, {how}", [each for each in results if each.site not in read]),
        )
        for title, some in parts:
            if some:
                show(title, some, scorers)
        if all(some for _, some in parts):
            print(comparison.summary(results, scorers))
        for problem in problems:
            Console(stderr=True).print(problem, markup=False)
        if options.json:
            with options.json.open("a") as file:
                file.write(json_lines(results))


if __name__ == "__main__":
    main()
