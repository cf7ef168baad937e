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
from bilingual_crawler.urls.credentials import without_credentials

if TYPE_CHECKING:
    from redis import Redis

    from bilingual_crawler.crawl.context import Crawl

SERVERS, ONE_SERVER = "servers", "one server"
"""The fact, and the key in Redis, that names several servers."""
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


def connect_all(addresses: str) -> "list[Redis]":
    """Return a client of each Redis server in the settings."""
    return [connect(each) for each in addresses.split(",")]


def connect(address: str) -> "Redis":
    """Return a client of a Redis server."""
    try:
        from bilingual_crawler.frontier.shared import link  # noqa: PLC0415 - an extra
    except ImportError:
        raise ConfigurationError(
            "BILINGUAL_FRONTIER needs the Python package redis:"
            " pip install 'bilingual-crawler[redis]'."
        ) from None
    return link.connect(address)


def keep_servers(crawl: "Crawl", servers: list[str], key: str) -> None:
    """Refuse other servers than those that the crawl has begun with: each has some of its sites.

    A worker's own folder knows them in their order, and the servers know them for all workers.
    """
    names = [without_credentials(each) for each in servers]
    folder, own = crawl.folder, " ".join(names) if len(names) > 1 else ONE_SERVER
    known = {folder.facts.get(SERVERS, ONE_SERVER)} if folder.resumed else set()
    shared = " ".join(sorted(names)) if len(names) > 1 else ONE_SERVER
    for client in crawl.redis or ():
        client.set(key, shared, nx=True)
        said = client.get(key)
        if isinstance(said, bytes) and said != shared.encode():
            known.add(said.decode("utf-8", "replace")[:500])
    if known - {own}:
        raise ConfigurationError(
            f"This crawl has begun with other Redis servers ({min(known - {own})}),"
            " each of which has some of its sites: write the same BILINGUAL_FRONTIER, or begin a"
            " new crawl with another output and BILINGUAL_FRONTIER_PREFIX."
        )
    folder.facts[SERVERS] = own


def open_frontier(crawl: "Crawl", gate: SlotGate) -> CrawlFrontier:
    """Open the frontier of a crawl, embedded or in Redis, with its earlier contents."""
    if crawl.redis is None:
        frontier = JournaledFrontier(crawl.folder.journal, gate)
        gate.restore(frontier.pages_of_host)
        return frontier
    from redis.exceptions import RedisError  # noqa: PLC0415 - an extra

    from bilingual_crawler.frontier.shared.frontier import (  # noqa: PLC0415 - an extra
        RedisFrontier,
    )
    from bilingual_crawler.frontier.shared.link import (  # noqa: PLC0415 - an extra
        AwayError,
        RedisScripts,
        key_prefix,
    )
    from bilingual_crawler.frontier.shared.several_servers import (  # noqa: PLC0415 - an extra
        ServerChoice,
        SeveralServers,
    )
    from bilingual_crawler.frontier.shared.sites import Lease, Member  # noqa: PLC0415 - an extra

    def begin_site(site: str, _hosts: list[str], pages: int) -> None:
        gate.set_pages(site, pages)
        if crawl.forecasts is not None:
            crawl.forecasts.begin_site(site, pages)

    config, facts = crawl.config, crawl.folder.facts
    if not facts.get(IDENTITY):
        facts[IDENTITY] = uuid4().hex
        crawl.folder.journal.checkpoint(wait=True)  # the identity must survive a kill
    servers = config.frontier.split(",")
    prefix = config.frontier_prefix or f"bilingual:{crawl.plan.langs.file_name}"
    try:
        keep_servers(crawl, servers, key_prefix(prefix) + SERVERS)
        parts = [
            RedisFrontier(
                RedisScripts(client, prefix, crawl.folder.path.name),
                crawl.folder.journal,
                gate,
                member=Member(facts[IDENTITY], str(crawl.plan.langs)),
                lease=Lease(config.lease_seconds, -(-config.worker_sites // len(servers))),
                delay_of=gate.delay_of,
                on_site=begin_site,
                server=number,
            )
            for number, client in enumerate(crawl.redis)
        ]
    except (AwayError, RedisError):
        raise ConfigurationError(
            "Redis has stopped answering: check the server, and restart the worker."
        ) from None
    names = [without_credentials(each) for each in servers]
    shared: RedisFrontier | SeveralServers = parts[0]
    if len(parts) > 1:
        shared = SeveralServers(parts, ServerChoice(names))
    gate.end(shared.stopped_sites)
    return shared
