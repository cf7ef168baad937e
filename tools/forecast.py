"""Learn the forecast of a crawl's yield from replays of recorded sites, and measure it.

    BILINGUAL_SHARED=folder python -m tools.forecast collect TRAJECTORIES
    python -m tools.forecast fit TRAJECTORIES
    python -m tools.forecast fit TRAJECTORIES --write

`collect` crawls every recorded site to its end, for its two largest language pairs, with hreflang
and without, and writes what happened to each URL, one file per crawl; it can be stopped and started
again. `fit` looks at each crawl at 24, 30, 38, ... pages, learns the quantile regressions without
the site that is forecast, and prints how often the truth is in the range. `--write` learns from all
sites and writes bilingual_crawler/data/forecast.json.
"""

import argparse
import gzip
import json
import math
import multiprocessing
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from scrapy import Request, signals
from scrapy.crawler import Crawler
from sklearn.linear_model import QuantileRegressor

from benchmarks.recorded_pairs import SHARED
from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.crawl.signals import pair_found, pair_lost, url_ended
from bilingual_crawler.frontier.entry import Pushed, State
from bilingual_crawler.lab.replay import run as replay
from bilingual_crawler.lab.replay.gold import ENDING, largest_pairs, read_gold
from bilingual_crawler.lab.replay.measure import _home as home_of
from bilingual_crawler.lab.replay.recording import Recording, site_name
from bilingual_crawler.lab.replay.site import RecordedSite
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.outcomes import Outcome
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.reporting.forecast import FILE, FIRST, QUANTILES, Forecast, ForecastModel
from bilingual_crawler.reporting.site_yield import FEATURES, SiteYield

SCORER = "adaptive"
PAIRS_PER_SITE = 2
STEP = 1.25
PENALTY = 0.01
DIGITS = 5
SECONDS = 900
DATA = Path(__file__).parents[1] / "bilingual_crawler" / "data" / FILE
BUDGETS = (None, 2, 4)
"""Budgets of pages to measure, as multiples of the pages so far; None is none."""
Event = list[Any]


class Watcher:
    """An extension that notes new URLs (+), how they end (page, none), and pairs (pair, lost).

    With a URL that ends comes the score for which it was fetched.
    """

    events: list[Event] = []  # noqa: RUF012 - one crawl per process

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Watch a crawl from the moment its frontier is open."""
        watcher = cls()
        watcher.handlers = (watcher.ended, watcher.found, watcher.lost, lambda: watch(crawler))
        for handler, signal in zip(
            watcher.handlers, (url_ended, pair_found, pair_lost, signals.spider_opened), strict=True
        ):
            crawler.signals.connect(handler, signal=signal)
        return watcher

    handlers: tuple[Any, ...] = ()  # signals keep weak references

    def ended(self, request: Request, state: State, reason: str) -> None:
        """Note a URL that is a page or none."""
        is_page = state is State.DONE and reason != Outcome.REDIRECTED
        score = RequestState.of(request).score
        self.events.append(["page" if is_page else "none", request.url, score])

    def found(self, pair: DocumentPair) -> None:
        """Note a pair."""
        self.events.append(["pair", pair.first, pair.second])

    def lost(self, pair: DocumentPair) -> None:
        """Note a pair that does not hold any more."""
        self.events.append(["lost", pair.first, pair.second])


def watch(crawler: Crawler) -> None:
    """Note the URLs that are new to the frontier."""
    frontier: Any = Crawl.of(crawler).frontier
    push = frontier.push

    def noting(fingerprint: int, url: str, *given: Any, **named: Any) -> Pushed:
        pushed: Pushed = push(fingerprint, url, *given, **named)
        if pushed is Pushed.NEW:
            Watcher.events.append(["+", url])
        return pushed

    frontier.push = noting


def collect(folder: Path) -> None:
    """Crawl all recorded sites, one process per crawl."""
    folder.mkdir(parents=True, exist_ok=True)
    sites = SHARED / "sites"
    for strip in (False, True):
        for warc in sorted(sites.glob("*.warc.gz"), key=lambda path: path.stat().st_size):
            gold = warc.with_name(site_name(warc) + ENDING)
            for langs in list(largest_pairs(read_gold(gold)))[:PAIRS_PER_SITE]:
                out = folder / f"{site_name(warc)}.{langs}{'.stripped' * strip}.json.gz"
                if out.exists():
                    continue
                job = multiprocessing.get_context("fork").Process(
                    target=crawl, args=(warc, langs, strip, out)
                )
                job.start()
                job.join(SECONDS)
                job.terminate()
                print(out.name, "done" if out.exists() else "failed", flush=True)


def crawl(warc: Path, langs: str, strip: bool, out: Path) -> None:
    """Crawl one site to its end, and write its events."""
    replay.ALONE["EXTENSIONS"] = {**replay.ALONE["EXTENSIONS"], Watcher: 999}
    pair, recording = LanguagePair.parse(langs), Recording(warc)
    site = RecordedSite(recording, pair.codes, strip=strip)
    seeds = (home_of(site, recording.homes()),)
    replay.crawl_recorded(site, SCORER, replay.ReplayCrawl(pair, seeds))
    fields = {"site": recording.name, "langs": pair.codes, "events": Watcher.events}
    fresh = out.with_suffix(".fresh")
    with gzip.open(fresh, "wt", encoding="utf-8") as file:
        json.dump(fields, file)
    fresh.rename(out)


class Moment(NamedTuple):
    """A site at one moment of its crawl, and how the crawl ended."""

    crawl: int
    name: str
    site: SiteYield
    final_pages: int
    final_pairs: int
    pairs_at: Sequence[int]
    """The pairs after each page."""


def moments(path: Path, number: int) -> Iterator[Moment]:
    """Play a crawl again, and yield it at some of its pages."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        fields = json.load(file)
    site, due, taken = SiteYield(frozenset(fields["langs"])), float(FIRST), []
    pairs_at: list[int] = []
    for kind, url, *other in fields["events"]:
        if kind == "+":
            site.found(url)
        elif kind in ("pair", "lost"):
            site.paired((url, *other), 1 if kind == "pair" else -1)
        else:
            site.ended(url, is_page=kind == "page")
            if kind == "page":
                pairs_at.append(site.pairs)
            if kind == "page" and site.pages >= due:
                taken.append(SiteYield.from_dict(site.to_dict(), site.wanted))
                due = max(due + 1, due * STEP)
    for each in taken:
        yield Moment(number, fields["site"], each, site.pages, site.pairs, pairs_at)


class Examples:
    """The moments of all crawls, as matrices; every site weighs the same."""

    def __init__(self, folder: Path) -> None:
        paths = sorted(folder.glob("*.json.gz"))
        self.moments = [each for at, path in enumerate(paths) for each in moments(path, at)]
        self.crawls = len(paths)
        self.names = np.array([each.name for each in self.moments])
        looks = [each.site.outlook for each in self.moments]
        self.features = np.array([each.features for each in looks])
        names, counts = np.unique(self.names, return_counts=True)
        number = dict(zip(names, counts, strict=True))
        self.weights = np.array([1 / number[name] for name in self.names])
        self.missed = {
            "pages": self._missed([each.more_pages for each in looks], "pages"),
            "pairs": self._missed([each.more_pairs for each in looks], "pairs"),
        }

    def _missed(self, estimates: Sequence[float], what: str) -> "np.ndarray[Any, Any]":
        """Return the logarithms of the factors by which the simple estimates are wrong."""
        finals = [getattr(each, f"final_{what}") for each in self.moments]
        found = [getattr(each.site, what) for each in self.moments]
        more = np.maximum(np.array(finals) - np.array(found), 0)
        missed: np.ndarray[Any, Any] = np.log1p(more) - np.log1p(np.array(estimates))
        return missed


def learned(examples: Examples, chosen: "np.ndarray[Any, Any]") -> ForecastModel:
    """Return the model learned from the chosen moments."""
    features, weights = examples.features[chosen], examples.weights[chosen]
    mean, scale = features.mean(0), features.std(0)
    mean[0], scale[0] = 0.0, 1.0
    found: dict[str, tuple[tuple[float, ...], ...]] = {}
    for what, missed in examples.missed.items():
        rows = []
        for quantile in QUANTILES:
            model = QuantileRegressor(quantile=quantile, alpha=PENALTY, fit_intercept=False)
            model.fit((features - mean) / scale, missed[chosen], weights / weights.sum())
            plain = model.coef_ / scale
            plain[0] -= plain @ mean
            rows.append(tuple(round(float(each), DIGITS) for each in plain))
        found[what] = tuple(rows)
    return ForecastModel(**found)


def measure(examples: Examples) -> None:
    """Print how good the forecasts of sites are that were left out."""
    models = {
        name: learned(examples, examples.names != name) for name in sorted(set(examples.names))
    }
    every = range(len(examples.moments))
    print(f"{examples.crawls} crawls of {len(models)} sites, {len(every)} moments\n")
    print(
        "| pages so far | budget | what | in the range | below | above | error | simple | width |"
    )
    print("|---|---|---|---:|---:|---:|---:|---:|---:|")
    for low, high in ((FIRST, math.inf), (FIRST, 48), (48, 120), (120, math.inf)):
        some = [at for at in every if low <= examples.moments[at].site.pages < high]
        for times in BUDGETS if (low, high) == (FIRST, math.inf) else (None,):
            for what in ("pairs", "pages"):
                shown = f"{low} to {high - 1}" if high < math.inf else f"{low} or more"
                budget = "none" if times is None else f"{times} times these"
                print(f"| {shown} | {budget} | {what} | {row(examples, models, some, what, times)}")


def row(
    examples: Examples,
    models: dict[str, ForecastModel],
    chosen: Sequence[int],
    what: str,
    times: int | None,
) -> str:
    """Return coverage, errors (as factors) and width of the forecasts at the chosen moments."""
    inside, below, above, error, simple, width, weights = ([] for _ in range(7))
    for at in chosen:
        each = examples.moments[at]
        left = None if times is None else (times - 1) * each.site.pages
        forecast = models[each.name].of(each.site, left)
        assert isinstance(forecast, Forecast)
        expected = getattr(forecast, what)
        truth, found = getattr(each, f"final_{what}"), getattr(each.site, what)
        if left is not None and each.site.pages + left < each.final_pages:
            end = each.site.pages + left
            truth = end if what == "pages" else each.pairs_at[end - 1]
        guess = found + getattr(each.site.outlook, f"more_{what}")
        inside.append(expected.low <= truth <= expected.high)
        below.append(truth < expected.low)
        above.append(truth > expected.high)
        error.append(abs(math.log((1 + expected.middle) / (1 + truth))))
        simple.append(abs(math.log((1 + guess) / (1 + truth))))
        width.append(math.log((1 + expected.high) / (1 + expected.low)))
        weights.append(examples.weights[at])
    shares = (np.average(each, weights=weights) for each in (inside, below, above))
    factors = (math.exp(np.average(each, weights=weights)) for each in (error, simple, width))
    cells = [*(f"{each:.2f}" for each in shares), *(f"{each:.2f}" for each in factors)]
    return " | ".join(cells) + " |"


def write(examples: Examples) -> None:
    """Write the model learned from all sites."""
    model = learned(examples, np.ones(len(examples.moments), bool))
    sites = sorted(set(examples.names))
    fields = {
        "about": {"sites": sites, "crawls": examples.crawls, "moments": len(examples.moments)},
        "features": FEATURES,
        "quantiles": QUANTILES,
        "pages": model.pages,
        "pairs": model.pairs,
    }
    DATA.write_text(json.dumps(fields, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Collect or fit."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("step", choices=("collect", "fit"))
    parser.add_argument("folder", type=Path, help="the trajectories")
    parser.add_argument("--write", action="store_true", help="write the model into the package")
    options = parser.parse_args()
    if options.step == "collect":
        collect(options.folder)
        return
    examples = Examples(options.folder)
    if options.write:
        write(examples)
    else:
        measure(examples)


if __name__ == "__main__":
    main()
