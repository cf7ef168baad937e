"""The frontier when the server stalls, is restarted, forgets, or is not there at all."""

import logging
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from scrapy.settings import BaseSettings

from bilingual_crawler.config.settings import Config
from bilingual_crawler.crawl.workers import connect
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.shared import link as link_module
from bilingual_crawler.frontier.shared.frontier import RedisFrontier
from bilingual_crawler.frontier.shared.link import RedisScripts
from bilingual_crawler.frontier.shared.sites import Lease
from bilingual_crawler.reporting.report import changed_settings
from bilingual_crawler.reporting.summary import resume_command
from bilingual_crawler.store.journal import Journal
from tests.support.processes import HANG
from tests.support.redis_server import needs_redis, serve_redis

pytestmark = needs_redis
HOST = "a.example"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(link_module, "TIMEOUT", 1.0)


@pytest.fixture
def server():
    with serve_redis() as running:
        yield running


@pytest.fixture
def worker(server, tmp_path):
    journal = Journal(tmp_path / "crawl.sqlite")
    client = connect(server.url)
    frontier = RedisFrontier(RedisScripts(client, "faults", "one"), journal, lease=Lease(30.0))
    yield SimpleNamespace(frontier=frontier, journal=journal)
    journal.close()
    client.close()


def push(frontier, numbers):
    for number in numbers:
        frontier.push(number, f"https://{HOST}/{number}", HOST, -float(number))


def pop(frontier):
    entry = frontier.pop(time.monotonic())
    return entry and entry.fingerprint


def pop_soon(frontier, seconds=HANG):
    """Pop until there is a URL, as the engine does."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        popped = pop(frontier)
        if popped is not None:
            return popped
        time.sleep(0.02)
    return None


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_restart_of_the_server_loses_nothing(server, worker, how):
    frontier = worker.frontier
    push(frontier, range(5))
    assert pop(frontier) == 0
    frontier.end(0, State.DONE, "stored")
    push(frontier, range(5, 8))
    server.stop(how)
    assert pop(frontier) is None
    assert frontier.pending()
    push(frontier, range(8, 10))
    server.start()
    assert [pop_soon(frontier) for _ in range(9)] == [*range(1, 10)]
    worker.journal.checkpoint(wait=True)
    frontier.keep_up()
    assert server.client.hget("{faults}:outcomes", "stored") == b"1"


def test_a_stall_of_the_server_stops_the_crawl_and_no_longer(server, worker, caplog):
    frontier = worker.frontier
    caplog.set_level(logging.INFO)
    push(frontier, range(3))
    assert pop(frontier) == 0
    with server.held_up():
        for _ in range(3):
            frontier.recheck(HOST)
            assert pop(frontier) is None
            frontier.keep_up()
        assert frontier.pending()
    assert [pop_soon(frontier), pop_soon(frontier)] == [1, 2]
    said = [record.message for record in caplog.records]
    assert len([each for each in said if each.startswith("Redis does not answer")]) == 1
    assert len([each for each in said if each.startswith("Redis is back")]) == 1


def test_a_stall_longer_than_the_lease_lets_the_worker_begin_anew(server, worker, tmp_path):
    frontier = worker.frontier
    push(frontier, range(3))
    assert pop(frontier) == 0
    journal = Journal(tmp_path / "other.sqlite")
    other = RedisFrontier(RedisScripts(server.client, "faults", "two"), journal, lease=Lease(30.0))
    server.client.zadd("{faults}:workers", {"one": 1.0})  # its lease ended long ago
    assert pop(other) == 0
    assert pop_soon(frontier, 0.5) is None
    other.close()
    journal.close()
    assert pop_soon(frontier) == 1, "0 is being fetched here, whoever else had it meanwhile"


def test_a_server_that_has_lost_everything_is_told_of(server, worker, caplog):
    push(worker.frontier, range(3))
    assert pop(worker.frontier) == 0
    server.client.flushall()
    worker.frontier.recheck(HOST)
    pop(worker.frontier)
    assert "Redis has lost the whole frontier" in caplog.text


def test_a_full_server_is_waited_for(server, worker, caplog):
    frontier = worker.frontier
    server.client.config_set("maxmemory", 1)
    push(frontier, range(2))
    assert pop(frontier) is None
    assert "Redis does not answer (command not allowed when used memory" in caplog.text
    server.client.config_set("maxmemory", 0)
    assert pop_soon(frontier) == 0


def test_a_worker_closes_without_the_server_too(server, worker, monkeypatch, caplog):
    monkeypatch.setattr("bilingual_crawler.frontier.shared.frontier.CLOSING_SECONDS", 0.3)
    push(worker.frontier, range(2))
    assert pop(worker.frontier) == 0
    worker.frontier.end(0, State.DONE, "stored")
    server.stop()
    worker.frontier.close()
    assert "other workers take over in 30 seconds" in caplog.text


def test_a_server_that_is_not_there_is_told_of_at_the_start(tmp_path):
    with pytest.raises(ConfigurationError, match=r"There is no Redis at .*redis-server --append"):
        connect(f"unix://{tmp_path}/nothing.sock")


def test_a_wrong_password_is_told_of_and_not_shown(server):
    server.client.config_set("requirepass", "right")
    address = server.url.replace("unix://", "unix://:wrong@")
    with pytest.raises(ConfigurationError, match="does not let us in") as told:
        connect(address)
    assert "wrong@" not in str(told.value)
    server.client.auth("right")


def test_a_server_that_may_forget_is_warned_of(server, caplog):
    server.client.config_set("maxmemory-policy", "allkeys-lru")
    server.client.config_set("appendonly", "no")
    connect(server.url).close()
    assert "write maxmemory-policy noeviction" in caplog.text
    assert "write appendonly yes" in caplog.text


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("BILINGUAL_FRONTIER", "localhost", "must be an address such as redis://HOST:6379/0"),
        ("BILINGUAL_FRONTIER_PREFIX", "{a}", "must be made of letters"),
        ("BILINGUAL_WORKER", "../a", "must be made of letters"),
        ("BILINGUAL_LEASE_SECONDS", "0", "must be a number, 1 or more"),
    ],
)
def test_wrong_settings_are_told_with_what_to_write(name, value, advice):
    with pytest.raises(ConfigurationError, match=f"{name} {advice}"):
        Config.from_settings(BaseSettings({name: value}))


def test_the_password_of_the_server_is_in_no_report():
    address = "redis://crawler:hidden@redis.example:6379/0"
    config = Config(frontier=address)
    shown = changed_settings(config, BaseSettings())["BILINGUAL_FRONTIER"]
    assert shown == "redis://...@redis.example:6379/0"
    typed = ["scrapy", "crawl", "bilingual", "-s", f"BILINGUAL_FRONTIER={address}"]
    assert "hidden" not in resume_command(typed, Path("out"))
