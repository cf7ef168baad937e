"""Workers that come, die, lose their leases and return in any order: the invariants."""

from collections import Counter
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
)
from redis import Redis

from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.shared.frontier import RedisFrontier
from bilingual_crawler.frontier.shared.link import RedisScripts
from bilingual_crawler.frontier.shared.sites import Lease, Member
from bilingual_crawler.store.journal import Journal
from tests.support.frontier_model import run
from tests.support.redis_server import needs_redis, serve_redis

pytestmark = needs_redis
NAMES = ["one", "two", "three"]
SITES = ["a.example", "b.example", "c.example"]
URLS = [f"https://{part}{site}/{n}" for site in SITES for part in ("", "www.") for n in range(3)]
LEASE, DELAY = 30.0, 3.0
NUMBERS = count()


class Worker:
    """A worker like a process: its folder survives it."""

    def __init__(self, crawl, name):
        self.crawl = crawl
        self.journal = Journal(crawl.folder / f"{name}.sqlite")
        self.sent: dict[str, float] = {}
        self.flight = set()
        link = RedisScripts(crawl.client, crawl.prefix, name, clock=lambda: crawl.now, virtual=True)
        self.frontier = RedisFrontier(
            link,
            self.journal,
            lambda host, _active, now: max(now, self.sent.get(host, 0.0) + DELAY),
            member=Member(name, "spa-eus"),
            lease=Lease(LEASE),
            delay_of=lambda _host: DELAY,
        )

    def kill(self):
        """Kill the process: its journal stays as it is."""
        self.journal._sources.clear()
        self.journal._appends.clear()
        self.journal.close()


class Workers(RuleBasedStateMachine):
    """Three workers that do anything at any time, and the invariants."""

    client: Redis

    def __init__(self):
        super().__init__()
        self.temporary = TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.prefix = f"workers-{next(NUMBERS)}"
        self.now = 1000.0
        self.workers = {}
        self.pushed = set()
        self.told_ended = set()
        self.sent = {}

    @rule(name=st.sampled_from(NAMES))
    def start_or_kill(self, name):
        worker = self.workers.pop(name, None)
        if worker is None:
            self.workers[name] = Worker(self, name)
        else:
            worker.kill()

    def some(self, data):
        return self.workers[data.draw(st.sampled_from(sorted(self.workers)))]

    @precondition(lambda self: self.workers)
    @rule(data=st.data(), url=st.sampled_from(URLS), priority=st.integers(0, 3))
    def push(self, data, url, priority):
        worker = self.some(data)
        host = url.split("/")[2]
        worker.frontier.push(URLS.index(url), url, host, float(priority))
        worker.frontier.keep_up()
        self.pushed.add(url)

    @precondition(lambda self: self.workers)
    @rule(data=st.data())
    def pop(self, data):
        self.pop_of(self.some(data))

    def pop_of(self, worker):
        entry = worker.frontier.pop(self.now)
        if entry is None:
            return None
        assert entry.url not in self.told_ended, "an ended URL came again"
        assert self.now >= self.sent.get(entry.host, 0.0) + DELAY, "a host was asked too soon"
        self.sent[entry.host] = worker.sent[entry.host] = self.now
        worker.flight.add(entry.url)
        return entry

    @precondition(lambda self: any(worker.flight for worker in self.workers.values()))
    @rule(data=st.data(), how=st.sampled_from(["stored", "retry"]))
    def finish(self, data, how):
        busy = sorted(name for name, worker in self.workers.items() if worker.flight)
        worker = self.workers[data.draw(st.sampled_from(busy))]
        url = data.draw(st.sampled_from(sorted(worker.flight)))
        worker.flight.remove(url)
        if how == "retry":
            worker.frontier.retry(URLS.index(url), self.now + 1.0, None)
        else:
            worker.frontier.end(URLS.index(url), State.DONE, "stored")

    @precondition(lambda self: self.workers)
    @rule(data=st.data())
    def checkpoint(self, data):
        worker = self.some(data)
        worker.journal.checkpoint(wait=True)
        worker.frontier.keep_up()
        for url in self.pushed:
            record = self.client.hget(
                f"{{{self.prefix}}}:urls:{url.split('/')[2]}",
                URLS.index(url).to_bytes(8, "big"),
            )
            if record is not None and record[0] in (State.DONE, State.FAILED):
                self.told_ended.add(url)

    @precondition(lambda self: self.workers)
    @rule(data=st.data())
    def stop(self, data):
        name = data.draw(st.sampled_from(sorted(self.workers)))
        worker = self.workers.pop(name)
        worker.frontier.close()
        worker.journal.close()

    @rule(seconds=st.sampled_from([0.5, 1.0, 3.0, 12.0, LEASE + 1]))
    def wait(self, seconds):
        self.now += seconds

    @invariant()
    def every_url_has_one_place(self):
        """Check the counts of queued, delayed and leased URLs, and that none is there twice."""
        client, prefix = self.client, f"{{{self.prefix}}}:"
        flight: Counter[Any] = Counter()
        for name in NAMES:
            flight.update(client.zrange(f"{prefix}flight:{name}", 0, -1))
        assert not flight or max(flight.values()) == 1
        hosts: Any = client.smembers(f"{prefix}all_hosts")
        sizes: list[Any] = [client.zcard(f"{prefix}queue:{host.decode()}") for host in hosts]
        queued = sum(sizes)
        counts = client.hgetall(f"{prefix}counts")
        assert int(counts.get(b"queued", 0)) == queued + client.zcard(f"{prefix}later")
        assert int(counts.get(b"flight", 0)) == len(flight)
        assert int(counts.get(b"dropped", 0)) == 0
        owners = [owner + end for owner in NAMES for end in ("", "/leaving")] + [""]
        standing: Counter[Any] = Counter()
        for owner in owners:
            standing.update(client.zrange(f"{prefix}wait:{owner}", 0, -1))
            ready = client.zrange(f"{prefix}ready:{owner}", 0, -1)
            standing.update(name[8:] for name in ready)
        waiting = {host for host in hosts if client.zcard(f"{prefix}queue:{host.decode()}")}
        assert set(standing) == waiting

    def teardown(self):
        """Check that in the end one worker gets everything that was ever pushed."""
        for worker in self.workers.values():
            worker.kill()
        self.now += LEASE + 1
        last = Worker(self, "last")
        for _ in range(40 * len(URLS)):
            entry = self.pop_of(last)
            if entry is not None:
                last.frontier.end(entry.fingerprint, State.DONE, "stored")
            elif not last.frontier.pending():
                break
            self.now += 1.0
        last.journal.checkpoint(wait=True)
        last.frontier.keep_up()
        ended = self.client.hgetall(f"{{{self.prefix}}}:outcomes").get(b"stored", 0)
        assert int(ended) == len(self.pushed)
        last.journal.close()
        self.temporary.cleanup()
        self.client.flushall()


@pytest.fixture(scope="module")
def server():
    with serve_redis("--appendonly", "no") as running:
        yield running


def test_nothing_is_lost_nothing_is_given_twice_and_every_host_has_its_rest(server):
    run(type("WorkersHere", (Workers,), {"client": server.client}), examples=25, steps=40)
