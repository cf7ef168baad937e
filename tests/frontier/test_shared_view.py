"""The command `scrapy frontier` on a frontier in Redis."""

import pytest

from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.shared.frontier import RedisFrontier
from bilingual_crawler.frontier.shared.link import RedisScripts
from bilingual_crawler.frontier.shared.sites import Lease, Member
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.urls.hosts import host_of
from tests.support.redis_server import needs_redis, serve_redis
from tests.support.typed_commands import TypedFrontier

pytestmark = needs_redis


@pytest.fixture(scope="module")
def server():
    with serve_redis() as running:
        yield running


@pytest.fixture
def redis(server):
    yield server
    server.client.flushall()


@pytest.fixture
def scrapy(capsys):
    return TypedFrontier(capsys)


class Worker:
    """A worker without a network: it pushes, pops and ends URLs on demand."""

    def __init__(self, redis, folder, name="one", prefix="bilingual:spa-eus"):
        self.journal = Journal(folder / f"{name}.sqlite")
        link = RedisScripts(redis.client, prefix, name)
        self.frontier = RedisFrontier(
            link, self.journal, member=Member(name, "spa-eus"), lease=Lease(seconds=30)
        )
        self.number = 0

    def push(self, *urls):
        for url in urls:
            self.number += 1
            self.frontier.push(self.number, url, host_of(url), 1 - self.number / 100)
        self.frontier.keep_up()

    def fetch(self, *endings):
        """Fetch URLs with these outcomes; None stays in flight."""
        popped = []
        for ending in endings:
            entry = self.frontier.pop(self.frontier._link.clock())
            popped.append(entry.url)
            if ending is not None:
                state = State.DONE if ending == "stored" else State.FAILED
                self.frontier.end(entry.fingerprint, state, ending)
                self.journal.checkpoint(wait=True)
                self.frontier.keep_up()
        return popped

    def close(self):
        self.frontier.close()
        self.journal.close()


@pytest.fixture
def worker(redis, tmp_path):
    """A worker that has stored a page, failed twice, and has one in flight; two more wait."""
    worker = Worker(redis, tmp_path)
    worker.push(*(f"https://a.example/{number}" for number in range(4)))
    worker.push("https://b.example/x", "https://b.example/y")
    worker.fetch("stored", "timeout", "http_404", None)
    yield worker
    worker.close()


def test_status_tells_of_urls_workers_and_memory(scrapy, redis, worker):
    (status,) = scrapy.answers("status", redis.url)
    names = ("waiting", "in_flight", "done", "failed", "hosts", "sites_held", "is_running")
    assert [status[name] for name in names] == [2, 1, 1, 2, 2, 1, True]
    assert status["outcomes"] == {"stored": 1, "timeout": 1, "http_404": 1}
    (only,) = status["workers"]
    assert (only["name"], only["sites"], only["in_flight"]) == ("one", 1, 1)
    assert 0 < only["seconds_left"] <= 30
    assert only["oldest"] >= 0
    assert status["memory_bytes"] > 100_000
    printed = scrapy("status", redis.url)[1]
    assert "a crawl is running" in printed
    assert "lease ends in" in printed


def test_top_and_hosts_tell_scores_and_holders(scrapy, redis, worker):
    best = scrapy.answers("top", redis.url)
    assert [(each["url"], each["score"]) for each in best] == [
        ("https://b.example/x", 0.95),
        ("https://b.example/y", 0.94),
    ]
    hosts = {each["host"]: each for each in scrapy.answers("hosts", redis.url)}
    told = ("waiting", "in_flight", "done", "failed", "holder")
    assert [hosts["a.example"][name] for name in told] == [0, 1, 1, 2, "one"]
    assert [hosts["b.example"][name] for name in told] == [2, 0, 0, 0, ""]
    assert hosts["b.example"]["next_allowed"] == 0


def test_export_has_every_url_and_of_those_done_the_fingerprint(scrapy, redis, worker):
    rows = {each["fingerprint"]: each for each in scrapy.answers("export", redis.url)}
    assert len(rows) == 6
    told = [(each["state"], each["url"], each["outcome"]) for _, each in sorted(rows.items())]
    assert told == [
        ("done", None, "stored"),
        ("failed", "https://a.example/1", "timeout"),
        ("failed", "https://a.example/2", "http_404"),
        ("in_flight", "https://a.example/3", None),
        ("waiting", "https://b.example/x", None),
        ("waiting", "https://b.example/y", None),
    ]


def test_failed_urls_wait_again_at_their_old_priority_and_are_fetched(scrapy, redis, worker):
    assert scrapy.answers("requeue", redis.url, "--outcome", "timeout") == [{"requeued": 1}]
    (status,) = scrapy.answers("status", redis.url)
    assert (status["waiting"], status["failed"]) == (3, 1)
    assert status["outcomes"] == {"stored": 1, "http_404": 1}
    assert worker.fetch("stored") == ["https://a.example/1"]
    assert scrapy.answers("requeue", redis.url, "--host", "c.example") == [{"requeued": 0}]


def test_what_a_dead_worker_has_can_be_given_to_others_at_once(scrapy, redis, worker, tmp_path):
    other = Worker(redis, tmp_path, "two")
    assert other.fetch(None) == ["https://b.example/x"]
    assert scrapy.answers("requeue", redis.url, "--worker", "one") == [{"requeued": 1}]
    assert sorted(other.fetch(None, None)) == ["https://a.example/3", "https://b.example/y"]
    message, _ = scrapy("requeue", redis.url, "--worker", "three")
    assert "There is no worker three" in message
    assert "there are two" in message
    other.close()


def test_of_several_crawls_one_must_be_named(scrapy, redis, worker, tmp_path):
    other = Worker(redis, tmp_path, "two", prefix="another")
    other.push("https://c.example/")
    message, _ = scrapy("status", redis.url)
    assert "choose one with --prefix: another, bilingual:spa-eus" in message
    (status,) = scrapy.answers("status", redis.url, "--prefix", "another")
    assert status["waiting"] == 1
    other.close()


def test_a_server_that_is_not_there_or_empty_is_told_in_a_sentence(scrapy, redis):
    message, _ = scrapy("status", "redis://127.0.0.1:1/0")
    assert "There is no Redis at redis://127.0.0.1:1/0" in message
    assert "There is no crawl in" in scrapy("status", redis.url)[0]
    assert "with the prefix x" in scrapy("status", redis.url, "--prefix", "x")[0]
