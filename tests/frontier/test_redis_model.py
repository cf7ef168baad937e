"""The frontier in Redis against the same model as the embedded one, on the real server."""

from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis.stateful import rule
from redis import Redis

from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.shared.frontier import RedisFrontier
from bilingual_crawler.frontier.shared.link import RedisScripts
from bilingual_crawler.store.journal import Journal
from tests.support.frontier_model import URLS, Model, run
from tests.support.redis_server import needs_redis, serve_redis

pytestmark = needs_redis
NUMBERS = count()


@pytest.fixture(scope="module")
def server():
    with serve_redis("--appendonly", "no") as running:
        yield running


class RedisModel(Model):
    """The same model; a crash is a worker that is restarted under its name."""

    client: Redis

    def __init__(self):
        self.folder = TemporaryDirectory()
        self.journal = Journal(Path(self.folder.name) / "crawl.sqlite")
        self.prefix = f"model-{next(NUMBERS)}"
        super().__init__()

    def make(self):
        link = RedisScripts(self.client, self.prefix, "one", clock=lambda: self.now, virtual=True)
        return RedisFrontier(link, self.journal, self.gate)

    def shelved_hosts(self):
        shelved: Any = self.client.smembers(f"{{{self.prefix}}}:shelved")
        return {host.decode() for host in shelved}

    @rule()
    def checkpoint(self):
        self.journal.checkpoint(wait=True)
        self.frontier.keep_up()

    @rule()
    def crash(self):
        self.journal.checkpoint(wait=True)
        self.journal.close()
        self.journal = Journal(Path(self.folder.name) / "crawl.sqlite")
        for row in self.rows.values():
            if row.state is State.LEASED:
                row.state = State.QUEUED
        self.closed.clear()
        self.frontier = self.make()
        self.frontier.keep_up()
        self.frontier.prefetch((self.key(url), self.host(url)) for url in URLS)

    def teardown(self):
        self.journal.close()
        self.folder.cleanup()
        self.client.flushall()


def test_the_redis_frontier_gives_what_the_model_says_through_crashes(server):
    run(type("RedisModelHere", (RedisModel,), {"client": server.client}), examples=25, steps=40)
