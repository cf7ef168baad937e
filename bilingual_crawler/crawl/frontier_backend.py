"""Which frontier a crawl has: the embedded one, or that in Redis which all workers share."""

from typing import TYPE_CHECKING
from uuid import uuid4

from bilingual_crawler.crawl.slots import SlotGate
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import CrawlFrontier
from bilingual_crawler.frontier.journaled import JournaledFrontier

if TYPE_CHECKING:
    from redis import Redis

    from bilingual_crawler.crawl.context import Crawl

IDENTITY = "worker"
"""The fact by which a worker that is started again is told from another of its name."""


def connect(address: str) -> "Redis":
    """A client of the Redis server that the settings name."""
    try:
        from bilingual_crawler.frontier.shared import link  # noqa: PLC0415 - an extra
    except ImportError:
        raise ConfigurationError(
            "BILINGUAL_FRONTIER needs the Python package redis:"
            " pip install 'bilingual-crawler[redis]'."
        ) from None
    return link.connect(address)


def open_frontier(crawl: "Crawl", gate: SlotGate) -> CrawlFrontier:
    """The frontier that the settings name, with what it had before."""
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

    config, facts = crawl.config, crawl.folder.facts
    if not facts.get(IDENTITY):
        facts[IDENTITY] = uuid4().hex
        crawl.folder.journal.checkpoint(wait=True)  # a kill must not make a stranger of us
    prefix = config.frontier_prefix or f"bilingual:{crawl.plan.langs}"
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
            "Redis has stopped answering: see to the server, and start the worker again."
        ) from None
    gate.end(shared.stopped_sites)
    return shared
