"""Measure a recorded site with simulated crawls: the figures of a replay, much faster."""

from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path

from bilingual_crawler.lab.replay.measure import (
    Job,
    Measured,
    Prepared,
    config_of,
    languages_of,
    measured,
    prepare,
    scope_of,
)
from bilingual_crawler.lab.replay.run import ReplayCrawl, Run
from bilingual_crawler.lab.simulation.crawl import MakeScorer, SimulatedCrawl
from bilingual_crawler.lab.simulation.models import RememberedAnswers
from bilingual_crawler.lab.simulation.web import SimulatedWeb
from bilingual_crawler.scoring.scorer import make_scorer


class Simulation:
    """One job, ready to be crawled any number of times."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.pair = languages_of(job)
        first = ReplayCrawl(self.pair, job.seeds, job.budget, job.seed, job.settings)
        self.config = config_of(first)
        self.web = SimulatedWeb(job.warc, self.pair, self.config, strip=job.strip)
        self.prepared: Prepared = self.web.kept(
            ("prepared", job.seeds, _digest_of(job.gold)), lambda: prepare(job)[2]
        )
        self.answers = RememberedAnswers(self.web)

    def run(self, make: MakeScorer) -> Run:
        """Crawl the site once."""
        job = self.job
        seeds = self.prepared.seeds
        crawl = ReplayCrawl(self.pair, seeds, job.budget, job.seed, job.settings)
        simulated = SimulatedCrawl(self.web, seeds, scope_of(crawl), self.config, job.budget)
        return simulated.run(make, job.seed)

    def run_scorer(self, name: str) -> Run:
        """Crawl the site once with the scorer of a name."""
        with self.answers.used(self.config):
            return self.run(lambda crawl: make_scorer(name, self.pair, crawl, self.config))

    def measured(self, runs: Mapping[str, Run]) -> Measured:
        """Return the figures of some crawls."""
        return measured(self.job, self.prepared, runs, self.web.name_of)


def simulate(job: Job, done: Callable[[], None] = lambda: None) -> Measured:
    """Crawl one site with every scorer of a job, one after the other."""
    simulation = Simulation(job)
    runs: dict[str, Run] = {}
    for name in job.scorers:
        runs[name] = simulation.run_scorer(name)
        done()
    simulation.web.save()
    return simulation.measured(runs)


def _digest_of(path: Path | None) -> bytes:
    """Return what changes with a gold list and its copies."""
    if path is None:
        return b""
    digest = blake2b(digest_size=8)
    for each in sorted(path.parent.glob(f"{_site_of(path)}.*.tsv")):
        digest.update(each.read_bytes())
    return digest.digest()


def _site_of(gold: Path) -> str:
    """Return the name of the site of a gold list."""
    return gold.name.partition(".")[0]
