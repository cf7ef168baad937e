"""A frontier on two Redis servers, one of which is killed and comes back."""

import time
from collections import Counter, defaultdict
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from bilingual_crawler.crawl.workers import connect_all, keep_servers
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.shared.frontier import RedisFrontier
from bilingual_crawler.frontier.shared.link import RedisScripts
from bilingual_crawler.frontier.shared.several_servers import ServerChoice, SeveralServers
from bilingual_crawler.frontier.shared.sites import Lease
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.urls.fingerprint import url_fingerprint
from tests.support.processes import HANG
from tests.support.redis_server import needs_redis, serve_redis

HOSTS = [f"site{number}.example" for number in range(24)]
PAGES = 6
DELAY = 0.02
CHOICE = ServerChoice(["redis://a", "redis://b"])


class Politeness:
    """The delays of hosts, as one worker keeps them, and when its requests were sent."""

    def __init__(self):
        self.sent = defaultdict(list)

    def gate(self, host, active, now):
        if active:
            return float("inf")
        return self.sent[host][-1] + DELAY if self.sent[host] else now


class Worker:
    """A worker that ends each page at once; every page of the first half links to another site."""

    def __init__(self, name, servers, folder):
        self.clients = connect_all(",".join(server.url for server in servers))
        self.journal = Journal(folder / f"{name}.sqlite")
        self.politeness = Politeness()
        parts = [
            RedisFrontier(
                RedisScripts(client, "two", name),
                self.journal,
                self.politeness.gate,
                lease=Lease(30.0, len(HOSTS)),
                delay_of=lambda _host: DELAY,
                server=number,
            )
            for number, client in enumerate(self.clients)
        ]
        self.frontier = SeveralServers(parts, CHOICE)

    def push(self, url):
        host = url.split("/")[2]
        self.frontier.push(url_fingerprint(url), url, host, 1.0)

    def fetch(self):
        """Fetch one page if there is one now; return its URL."""
        self.frontier.keep_up()
        entry = self.frontier.pop(time.monotonic())
        if entry is None:
            return None
        self.politeness.sent[entry.host].append(time.monotonic())
        if "/found" not in entry.url:
            number = HOSTS.index(entry.host)
            self.push(f"https://{HOSTS[number - 1]}/found-by-{number}-{entry.url[-1]}")
        self.frontier.end(entry.fingerprint, State.DONE, "stored")
        self.journal.checkpoint(wait=True)
        return entry.url

    def close(self):
        self.frontier.close()
        self.journal.close()
        for client in self.clients:
            client.close()


def drain(workers, until):
    """Let workers fetch in turn until a condition holds; count what they fetched."""
    fetched: Counter[str] = Counter()
    end = time.monotonic() + HANG
    while not until(fetched):
        assert time.monotonic() < end
        for worker in workers:
            if url := worker.fetch():
                fetched[url] += 1
        time.sleep(0.001)
    return fetched


def server_of(url):
    return CHOICE.of_site(url.split("/")[2])


@needs_redis
def test_a_server_that_is_killed_costs_no_page_and_no_delay(tmp_path):
    with serve_redis() as first, serve_redis() as second:
        workers = [Worker(name, (first, second), tmp_path) for name in ("one", "two")]
        seeds = [f"https://{host}/{page}" for host in HOSTS for page in range(PAGES)]
        assert {server_of(url) for url in seeds} == {0, 1}
        for url in seeds:
            workers[0].push(url)
        fetched = drain(workers, lambda found: found.total() >= 30)
        second.stop()
        alive = [url for url in seeds if server_of(url) == 0]
        fetched += drain(workers, lambda found: all((found + fetched)[url] for url in alive))
        assert any(worker.frontier.pending() for worker in workers)
        second.start()
        everything = 2 * len(seeds)
        fetched += drain(workers, lambda found: (found + fetched).total() >= everything)
        drain(workers, lambda _: not any(worker.frontier.pending() for worker in workers))
        for worker in workers:
            worker.close()
    assert len(fetched) == everything
    assert set(fetched.values()) == {1}
    for host in HOSTS:
        sent = sorted(at for worker in workers for at in worker.politeness.sent[host])
        assert all(later - sooner >= DELAY for sooner, later in pairwise(sent))
    assert sum((worker.frontier.outcomes for worker in workers), Counter()) == {
        "stored": everything
    }


@needs_redis
def test_ends_that_a_worker_could_not_report_are_reported_when_it_is_restarted(tmp_path):
    with serve_redis() as first, serve_redis() as second:
        worker = Worker("one", (first, second), tmp_path)
        for number, host in enumerate(HOSTS):
            worker.push(f"https://{host}/found-{number}")
        fetched = drain([worker], lambda found: found.total() >= len(HOSTS) // 2)
        second.stop()
        worker.journal.close()  # a kill: nothing is sent any more
        second.start()
        again = Worker("one", (first, second), tmp_path)
        fetched += drain([again], lambda _: not again.frontier.pending())
        again.close()
    assert set(fetched.values()) == {1}
    assert len(fetched) == len(HOSTS)


@needs_redis
def test_a_new_worker_with_more_servers_than_the_crawl_has_is_refused():
    def join(*servers):
        addresses = [server.url for server in servers]
        folder = SimpleNamespace(facts={}, resumed=False)
        crawl: Any = SimpleNamespace(folder=folder, redis=connect_all(",".join(addresses)))
        keep_servers(crawl, addresses, "crawl:servers")

    with serve_redis() as first, serve_redis() as second:
        join(first)
        join(first)
        with pytest.raises(ConfigurationError, match="one server"):
            join(first, second)


def test_few_sites_move_if_a_server_is_added_and_all_servers_get_some():
    names = [f"redis://{number}" for number in range(5)]
    sites = [f"site{number}.example" for number in range(5_000)]
    four, five = ServerChoice(names[:4]), ServerChoice(names)
    shares = Counter(map(five.of_site, sites))
    assert all(850 < share < 1_150 for share in shares.values())
    moved = [site for site in sites if four.of_site(site) != five.of_site(site)]
    assert {five.of_site(site) for site in moved} == {4}
    with pytest.raises(ConfigurationError, match="twice"):
        ServerChoice(["redis://a", "redis://a"])
