"""Measure a recorded site: graph, gold pairs, oracle, and one crawl per scorer."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from scrapy.settings import Settings

from bilingual_crawler.config.settings import Config, scrapy_defaults
from bilingual_crawler.config.sites import Sites
from bilingual_crawler.crawl.scope import Scope
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.evaluation.document_pairs import Judge
from bilingual_crawler.lab.replay import curve, gold
from bilingual_crawler.lab.replay.curve import Pair
from bilingual_crawler.lab.replay.graph import SiteGraph, draw_graph, oracle_order
from bilingual_crawler.lab.replay.recording import Recording
from bilingual_crawler.lab.replay.run import ReplayCrawl, Run, Running, run_settings
from bilingual_crawler.lab.replay.site import RecordedSite
from bilingual_crawler.languages import (
    LanguagePairError,
    ParallelLanguages,
    UnknownLanguageError,
    parse_parallel,
)

BREADTH_FIRST, ORACLE = "breadth_first", "oracle"
SHARES = (50, 80, 95)
DIGITS = 6


class NothingToMeasureError(ConfigurationError):
    """A site has no gold pair that can be reached; not an error if other sites have some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A site to replay; without `gold`, its own hreflang is taken as true."""

    warc: Path
    gold: Path | None
    scorers: tuple[str, ...]
    langs: str | None = None
    strip: bool = False
    budget: int = 0
    seeds: tuple[str, ...] = ()
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    simulate: bool = False
    """Simulate the crawls, without the engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The results on a site: figures, curve and order of downloads per scorer."""

    site: str
    langs: str
    seeds: tuple[str, ...]
    strip: bool
    pages: int
    pairs: int
    listed: int
    scorers: dict[str, dict[str, Any]]
    curves: dict[str, list[int]]
    orders: dict[str, list[str]]
    gold: list[Pair] = field(default_factory=list)
    """The gold pairs whose pages can both be reached."""
    downloads: int = 0
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as `--json` prints them."""
        return {
            "site": self.site,
            "langs": self.langs,
            "seeds": list(self.seeds),
            "strip_alternates": self.strip,
            "pages": self.pages,
            "pairs": self.pairs,
            "gold": self.listed,
            "scorers": self.scorers,
        }


class Prepared(NamedTuple):
    """Everything about a job that is the same for all crawls."""

    site: str
    langs: str
    seeds: tuple[str, ...]
    graph: SiteGraph
    true: list[Pair]
    """The gold pairs whose pages were recorded."""
    reachable: list[Pair]
    """Those of them to which links lead."""
    copies: dict[str, str]
    """Other addresses of the pages of gold pairs, and theirs in the list."""
    ideal: list[str]
    """The downloads of the oracle."""


def measure(job: Job, at_once: int = 1, done: Callable[[], None] = lambda: None) -> Measured:
    """Replay one site with every scorer, `at_once` crawls at a time."""
    site, crawl, prepared = prepare(job)
    runs = dict(_crawls(site, job.scorers, crawl, at_once, done))
    return measured(job, prepared, runs, site.recording.name_of)


def languages_of(job: Job) -> ParallelLanguages:
    """Return the languages of a job: those that are named, or else those of most gold pairs."""
    return _languages(job, gold.read_gold(job.gold) if job.gold is not None else [])


def prepare(job: Job) -> tuple[RecordedSite, ReplayCrawl, Prepared]:
    """Read a site and its gold pairs, and find what can be reached."""
    recording = Recording(job.warc)
    lines = gold.read_gold(job.gold) if job.gold is not None else []
    pair = _languages(job, lines)
    site = RecordedSite(recording, pair.codes, strip=job.strip)
    crawl = ReplayCrawl(pair, _seeds(job, site), job.budget, job.seed, job.settings)
    graph = draw_graph(site, crawl.seeds, scope_of(crawl), config_of(crawl), crawl.langs)
    true = _gold_pairs(job, recording, lines, pair)
    reachable = [each for each in true if each[0] in graph.links and each[1] in graph.links]
    if not reachable:
        raise NothingToMeasureError(
            f"{job.warc.name}: links from {', '.join(crawl.seeds)} lead to both pages of none of"
            f" the {len(true)} gold pairs for {pair}: start elsewhere with --seeds."
        )
    copies = {} if job.gold is None else _copies(recording, job.gold, reachable)
    ideal = oracle_order(graph, reachable)
    name, langs = recording.name, str(pair)
    prepared = Prepared(name, langs, crawl.seeds, graph, true, reachable, copies, ideal)
    return site, crawl, prepared


def measured(
    job: Job, prepared: Prepared, runs: Mapping[str, Run], name_of: Callable[[str], str]
) -> Measured:
    """Return the figures of some crawls of a site, and of its oracle."""
    graph, reachable = prepared.graph, prepared.reachable
    orders = {name: run.order for name, run in runs.items()}
    orders[ORACLE] = prepared.ideal[: job.budget] if job.budget else prepared.ideal
    copies = prepared.copies
    curves = {
        name: curve.yield_curve((copies.get(page, page) for page in order), reachable)
        for name, order in orders.items()
    }
    findings = _Findings(name_of, prepared.true, reachable)
    figures = {
        name: figures_of(curves[name], len(reachable), graph.pages)
        | {"versions_auc": _versions_auc(order, prepared)}
        | findings.figures(order, runs.get(name))
        for name, order in orders.items()
    }
    _add_gains(figures)
    return Measured(
        site=prepared.site,
        langs=prepared.langs,
        seeds=prepared.seeds,
        strip=job.strip,
        pages=graph.pages,
        pairs=len(reachable),
        listed=len(prepared.true),
        scorers=figures,
        curves=curves,
        orders=orders,
        gold=reachable,
        downloads=sum(len(run.order) for run in runs.values()),
        seconds=sum(run.seconds for run in runs.values()),
    )


def _versions_auc(order: Iterable[str], prepared: Prepared) -> float:
    """Return the area under the curve of the new versions of pages that were fetched."""
    copies, pages = prepared.copies, prepared.graph.pages
    found, total = curve.version_curve(
        (copies.get(page, page) for page in order), prepared.reachable
    )
    return round(curve.area(found, total, pages), DIGITS)


def _copies(recording: Recording, path: Path, pairs: Iterable[Pair]) -> dict[str, str]:
    """Return the copies that a list beside the gold list names, each with the page it copies."""
    listed = {page for pair in pairs for page in pair}
    found = {
        recording.page_of(copy): recording.page_of(original)
        for copy, original in gold.read_copies(path)
    }
    return {
        copy: original
        for copy, original in found.items()
        if copy and original in listed and copy not in listed
    }


def _languages(job: Job, lines: list[gold.GoldLine]) -> ParallelLanguages:
    wanted = job.langs
    if wanted is None:
        wanted = next(iter(gold.largest_pairs(lines)), None)
    if wanted is None:
        raise ConfigurationError(
            f"Which languages of {job.warc.name}? Write them, for example: --langs eus-spa"
        )
    try:
        return parse_parallel(wanted)
    except (LanguagePairError, UnknownLanguageError) as error:
        raise ConfigurationError(f"--langs {wanted}: {error}") from error


def _seeds(job: Job, site: RecordedSite) -> tuple[str, ...]:
    recording = site.recording
    homes = recording.homes()
    if not homes:
        raise ConfigurationError(f"{job.warc} has no page in it that was answered with 200.")
    missing = [seed for seed in job.seeds if recording.page_of(seed) is None]
    if missing:
        raise ConfigurationError(
            f"{missing[0]} is not recorded in {job.warc}: name a page of it with --seeds,"
            f" or leave it out to start at {homes[0]}."
        )
    return job.seeds or (_home(site, homes),)


def _home(site: RecordedSite, homes: Sequence[str]) -> str:
    """Return a home page in a wanted language, or else the first one."""
    if len(homes) == 1:
        return homes[0]
    for url in homes:
        answer = site.answer(url)
        if answer is not None and site.document(url, answer).language in site.hints:
            return url
    return homes[0]


def config_of(crawl: ReplayCrawl) -> Config:
    """Return the settings of ours that a replay has."""
    return Config.from_settings(run_settings(crawl))


def scope_of(crawl: ReplayCrawl) -> Scope:
    """Return which URLs belong to a replay; a crawl needs one of its own."""
    settings = run_settings(crawl)
    config = Config.from_settings(settings)
    return Scope(
        crawl.seeds,
        Sites(),
        follow=config.follow,
        depth_limit=_limit(settings, "DEPTH_LIMIT"),
        max_length=_limit(settings, "URLLENGTH_LIMIT"),
        repeated_segments=config.repeated_segments,
        query_parameters=config.query_parameters,
    )


def _limit(settings: Settings, name: str) -> int:
    """Return a setting as the add-on leaves it: the user's, or else the project's default."""
    if settings.getpriority(name):
        return settings.getint(name)
    return next(int(each.value) for each in scrapy_defaults if each.name == name)


def _gold_pairs(
    job: Job, recording: Recording, lines: list[gold.GoldLine], pair: ParallelLanguages
) -> list[Pair]:
    """Return the gold pairs whose pages were recorded, each once."""
    if job.gold is None:
        listed = gold.claimed_pairs(RecordedSite(recording, pair.codes), pair)
        where = "the hreflang links of the site"
    else:
        listed = gold.of_languages(lines, pair)
        where = str(job.gold)
    pairs: dict[Pair, None] = {}
    for urls in listed:
        first, second = (recording.page_of(url) for url in urls)
        if first is not None and second is not None and first != second:
            pairs[_ordered(first, second)] = None
    if not pairs:
        there = ", ".join(gold.largest_pairs(lines))
        raise NothingToMeasureError(
            f"No pair for {pair} of {where} is recorded in {job.warc}."
            + (f" The list has pairs for {there}." if there else "")
        )
    return list(pairs)


def _ordered(first: str, second: str) -> Pair:
    return (first, second) if first <= second else (second, first)


def _crawls(
    site: RecordedSite,
    scorers: Sequence[str],
    crawl: ReplayCrawl,
    at_once: int,
    done: Callable[[], None],
) -> Iterator[tuple[str, Run]]:
    """Yield the result of each scorer, from a crawl in its own process."""
    waiting = list(reversed(scorers))
    running: list[Running] = []
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                running.append(Running(site, waiting.pop(), crawl))
            result = running[0].result()
            yield running.pop(0).scorer, result
            done()
    finally:
        for each in running:
            each.stop()


def figures_of(values: list[int], pairs: int, pages: int) -> dict[str, Any]:
    """Return the figures that need only the curve."""
    return {
        "auc": round(curve.area(values, pairs, pages), DIGITS),
        **{f"downloads_to_{n}": curve.downloads_to(values, pairs, n / 100) for n in SHARES},
        "pairs_fetched": values[-1] if values else 0,
        "deciles": curve.deciles(values, pages),
        "download_deciles": curve.deciles(values, len(values)),
    }


class _Findings:
    """Compares what a crawl found with the gold list; the oracle finds no pairs of its own."""

    def __init__(
        self, name_of: Callable[[str], str], true: list[Pair], reachable: list[Pair]
    ) -> None:
        self._name_of = name_of
        self._true = set(true)
        self._reachable = set(reachable)
        self._beyond = self._true - self._reachable

    def figures(self, order: list[str], run: Run | None) -> dict[str, Any]:
        fetched = set(order)
        return {
            "pairs_beyond_links": sum(fetched.issuperset(pair) for pair in self._beyond),
            **self._detected(run),
            "downloads": len(order),
            "requests": len(order) if run is None else run.requests,
            "missing": 0 if run is None else run.missing,
        }

    def _detected(self, run: Run | None) -> dict[str, Any]:
        if run is None:
            return dict.fromkeys(("pairs_detected", "detected_precision", "detected_recall"))
        name_of = self._name_of
        found = {_ordered(name_of(first), name_of(second)) for first, second in run.pairs}
        figures = Judge(self._true).figures(found)
        precision, hits = figures.precision, len(found & self._reachable)
        return {
            "pairs_detected": figures.found,
            "detected_precision": None if precision is None else round(precision, DIGITS),
            "detected_recall": round(hits / len(self._reachable), DIGITS),
        }


def _add_gains(figures: dict[str, dict[str, Any]]) -> None:
    least, most = figures[BREADTH_FIRST]["auc"], figures[ORACLE]["auc"]
    for each in figures.values():
        value = curve.gain(each["auc"], least, most)
        each["gain"] = None if value is None else round(value, DIGITS)
