"""Would forecasts share downloads between sites better than scores do? No: a simulation.

    python -m tools.forecast_sharing TRAJECTORIES [--sites 6] [--draws 12]

The trajectories are those of `tools.forecast collect`. Random groups of sites are crawled together,
one download at a time; each site has its own order, and the rule says which site is next:

    in turn     the site that had the fewest downloads
    score       the one whose next URL has the highest score, as in a crawl
    forecast    the one with the most forecast pairs per forecast page still to come
    product     score times that
    root        score times its square root
    ahead       the one with the most pairs per download within the next 60, which nobody can know

Printed is the mean area under the curves of pairs over downloads, and the largest loss and gain
against `score`.
"""

import argparse
import gzip
import json
import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from bilingual_crawler.reporting.forecast import shipped_model
from bilingual_crawler.reporting.site_yield import SiteYield

AHEAD = 60
USUAL_RATE = 0.45
"""Pairs per page of a site that is too new for a forecast."""


class Download(NamedTuple):
    """A download of a site: its score, the pairs after it, and the forecast before it."""

    score: float
    pairs: int
    rate: float


Site = Sequence[Download]
Rule = Callable[[Site, int], float]


def downloads(path: Path) -> Site:
    """Return the downloads of a site in their order."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        fields = json.load(file)
    model, site = shipped_model(), SiteYield(frozenset(fields["langs"]))
    found: list[Download] = []
    rate = USUAL_RATE
    for kind, url, *other in fields["events"]:
        if kind == "+":
            site.found(url)
        elif kind in ("pair", "lost"):
            site.paired((url, *other), 1 if kind == "pair" else -1)
        else:
            site.ended(url, is_page=kind == "page")
            score = other[0] if other and other[0] is not None else 1.0
            found.append(Download(score, site.pairs, rate))
            forecast = model.of(site)
            if forecast is not None:
                more = forecast.pairs.middle - site.pairs + 0.5
                rate = more / (forecast.pages.middle - site.pages + 1)
    return found


def ahead(site: Site, at: int) -> float:
    """Return the most pairs per download that the next downloads bring."""
    before = site[at - 1].pairs if at else 0
    return max(
        (each.pairs - before) / number for number, each in enumerate(site[at : at + AHEAD], 1)
    )


RULES: dict[str, Rule] = {
    "in turn": lambda _site, at: -at,
    "score": lambda site, at: site[at].score,
    "forecast": lambda site, at: site[at].rate,
    "product": lambda site, at: site[at].score * site[at].rate,
    "root": lambda site, at: site[at].score * math.sqrt(site[at].rate),
    "ahead": ahead,
}


def area(group: Sequence[Site], rule: Rule) -> float:
    """Return the area under the curve of a crawl of these sites."""
    places = [0] * len(group)
    curve: list[int] = []
    while left := [at for at, site in enumerate(group) if places[at] < len(site)]:
        best = max(left, key=lambda at: rule(group[at], places[at]))
        places[best] += 1
        done = (site[place - 1].pairs for site, place in zip(group, places, strict=True) if place)
        curve.append(sum(done))
    return fmean(curve) / max(curve[-1], 1)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path, help="the trajectories")
    parser.add_argument("--sites", type=int, default=6, help="sites crawled together")
    parser.add_argument("--draws", type=int, default=12, help="random groups of sites")
    options = parser.parse_args()
    sites = [downloads(path) for path in sorted(options.folder.glob("*.json.gz"))]
    chance = random.Random(1)  # noqa: S311 - a simulation
    groups = [chance.sample(sites, options.sites) for _ in range(options.draws)]
    areas = {name: [area(group, rule) for group in groups] for name, rule in RULES.items()}
    print(f"{len(sites)} sites, {options.draws} groups of {options.sites}\n")
    print("| rule | mean area | largest loss | largest gain |")
    print("|---|---:|---:|---:|")
    for name, each in areas.items():
        apart = [one - other for one, other in zip(each, areas["score"], strict=True)]
        print(f"| {name} | {fmean(each):.3f} | {min(apart):.3f} | {max(apart):+.3f} |")


if __name__ == "__main__":
    main()
