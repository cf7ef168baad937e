"""The folder and the frontier of a crawl: its own, or those of one worker among several."""

import re
import socket
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from bilingual_crawler.config.plan import CrawlPlan, holds_workers
from bilingual_crawler.config.settings import Config
from bilingual_crawler.crawl.slots import SlotGate
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import CrawlFrontier
from bilingual_crawler.frontier.journaled import JournaledFrontier
from bilingual_crawler.store.folder import JOURNAL, CrawlFolder
from bilingual_crawler.store.journal import FolderHeldError

if TYPE_CHECKING:
    from redis import Redis

    from bilingual_crawler.crawl.context import Crawl

IDENTITY = "worker"
"""The fact that distinguishes a restarted worker from another one with its name."""


def open_folder(
    plan: CrawlPlan, config: Config, topic: str = "", *, harvests: bool = True
) -> CrawlFolder:
    """Open the folder in the arguments; with a shared frontier, a worker's folder in it."""
    output, langs = plan.output, str(plan.langs)
    if config.frontier:
        if (output / JOURNAL).exists():
            raise ConfigurationError(
                f"{output} holds a crawl without BILINGUAL_FRONTIER: choose another folder for"
                " the workers with -a output=DIR."
            )
        return _worker_folder(output, langs, config.worker, topic)
    if holds_workers(output):
        raise ConfigurationError(
            f"{output} holds the folders of workers: write -s BILINGUAL_FRONTIER=redis://... to"
            " resume them, or choose another folder with -a output=DIR."
        )
    return CrawlFolder(output, langs, topic, harvests=harvests)


def _worker_folder(crawl: Path, langs: str, name: str, topic: str) -> CrawlFolder:
    """Open the folder of the worker `name`, or the first one of this machine that is free.

    So a worker that is restarted without a name takes over the folder, the name and the sites
    of one that has ended.
    """
    if name:
        return CrawlFolder(crawl / name, langs, topic)
    machine = re.sub(r"[^A-Za-z0-9_-]", "-", socket.gethostname()) or "worker"
    for number in count(1):
        try:
            return CrawlFolder(crawl / f"{machine}-{number}", langs, topic)
        except FolderHeldError:
            continue
    raise AssertionError


def connect(address: str) -> "Redis":
    """Return a client of the Redis server in the settings."""
    try:
        from bilingual_crawler.frontier.shared import link  # noqa: PLC0415 - an extra
    except ImportError:
        raise ConfigurationError(
            "BILINGUAL_FRONTIER needs the Python package redis:"
            " pip install 'bilingual-crawler[redis]'."
        ) from None
    return link.connect(address)


def open_frontier(crawl: "Crawl", gate: SlotGate) -> CrawlFrontier:
    """Open the frontier of a crawl, embedded or in Redis, with its earlier contents."""
    if crawl.redis is None:
        frontier = JournaledFrontier(crawl.folder.journal, gate)
        gate.restore(frontier.pages_of_host)
        return frontier
    from bilingual_crawler.frontier.shared.frontier import (  # noqa: PLC0415 - an extra
        RedisFrontier,
    )
    from bilingual_crawler.frontier.shared.link import AwayError, RedisScripts  # noqa: PLC0415 - an extra
    from bilingual_crawler.frontier.shared.sites import Lease, Member  # noqa: PLC0415 - an extra

    def begin_site(site: str, _hosts: list[str], pages: int) -> None:
        gate.set_pages(site, pages)
        if crawl.forecasts is not None:
            crawl.forecasts.begin_site(site, pages)

    config, facts = crawl.config, crawl.folder.facts
    if not facts.get(IDENTITY):
        facts[IDENTITY] = uuid4().hex
        crawl.folder.journal.checkpoint(wait=True)  # the identity must survive a kill
    prefix = config.frontier_prefix or f"bilingual:{crawl.plan.langs.file_name}"
    try:
        shared = RedisFrontier(
            RedisScripts(crawl.redis, prefix, crawl.folder.path.name),
            crawl.folder.journal,
            gate,
            member=Member(facts[IDENTITY], str(crawl.plan.langs)),
            lease=Lease(config.lease_seconds, config.worker_sites),
            delay_of=gate.delay_of,
            on_site=begin_site,
        )
    except AwayError:
        raise ConfigurationError(
            "Redis has stopped answering: check the server, and restart the worker."
        ) from None
    gate.end(shared.stopped_sites)
    return shared
