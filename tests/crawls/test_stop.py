"""A crawl that gets a signal to stop ends soon, whatever holds it up, and can be resumed.

How many seconds that takes depends on the machine, so nothing here looks at a clock. What holds a
crawl up would do so for longer than these tests wait; who gets how many of the promised ten
seconds is tested with a clock of our own.
"""

import signal
import socket
import sqlite3
import subprocess
import threading
from contextlib import closing, contextmanager

import pytest

from bilingual_crawler.crawl.deadline import ALL, TIDY, OutOfTimeError, StopDeadline
from bilingual_crawler.crawl.extensions.aligner import _communicate
from bilingual_crawler.frontier.entry import State
from demo import content
from tests.support import processes
from tests.support.crawling import crawl, documents, finish, pairs, report, start
from tests.support.processes import HANG, wait_until
from tests.support.redis_server import needs_redis, serve_redis
from tests.support.servers import serve_demo

crawls = pytest.mark.crawl
AGES = 3 * HANG
"""Seconds that everything may take which a stop should not wait for: `finish` gives up before."""
QUICK = {"BILINGUAL_SCORER": "rules"}


@contextmanager
def silent_server():
    """A server that accepts connections and never answers; yields its URL and the connections."""
    taken = []
    with socket.create_server(("127.0.0.2", 0)) as listening:

        def take():
            while True:
                try:
                    taken.append(listening.accept()[0])
                except OSError:
                    return

        taking = threading.Thread(target=take)
        taking.start()
        try:
            yield f"http://127.0.0.2:{listening.getsockname()[1]}/", taken
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            taking.join()
            for each in taken:
                each.close()


def until(condition, crawler):
    wait_until(condition, crawler)


@crawls
@pytest.mark.parametrize(
    ("told", "waits_for"), [(signal.SIGTERM, "robots.txt"), (signal.SIGINT, "the page")]
)
def test_a_server_that_never_answers_does_not_hold_up_a_stop(tmp_path, told, waits_for):
    output = tmp_path / "out"
    only_pages = {"ROBOTSTXT_OBEY": 0, "BILINGUAL_HONOUR": "", "BILINGUAL_STOP_SECONDS": 3}
    settings = {"DOWNLOAD_TIMEOUT": AGES} | (only_pages if waits_for == "the page" else {})
    with serve_demo() as site, silent_server() as (silent, taken):
        seeds = f"{site.url},{silent}"
        crawler = start(seeds, output, settings=settings)
        until(lambda: taken and len(site.paths()) > 60, crawler)
        crawler.send_signal(told)
        printed = finish(crawler)
        assert "Traceback" not in printed
        assert report(output)["stopped_by"] == "shutdown"
        assert len(documents(output)) == sum(report(output)["documents"].values()) > 0
        assert state_of(output, silent) == (State.QUEUED, None)


def has_checkpoint(output):
    with closing(sqlite3.connect(output / "crawl.sqlite")) as journal:
        return journal.execute("SELECT count(*) FROM urls").fetchone()[0]


def state_of(output, url):
    with closing(sqlite3.connect(output / "crawl.sqlite")) as journal:
        (row,) = journal.execute("SELECT state, outcome FROM urls WHERE url = ?", (url,))
    return row


@crawls
@needs_redis
def test_a_worker_that_is_told_to_stop_gives_back_what_never_came(tmp_path):
    with serve_redis() as redis, silent_server() as (silent, taken):
        settings = QUICK | {"BILINGUAL_FRONTIER": redis.url, "DOWNLOAD_TIMEOUT": AGES}
        first = start(silent, tmp_path / "out", settings=settings | {"BILINGUAL_STOP_SECONDS": 2})
        until(lambda: taken, first)
        first.send_signal(signal.SIGTERM)
        finish(first)
        asked = len(taken)
        second = start(silent, tmp_path / "out", settings=settings)
        until(lambda: len(taken) > asked, second)


@crawls
def test_the_second_signal_is_immediate_and_loses_nothing_that_was_saved(tmp_path):
    output, log = tmp_path / "out", tmp_path / "log"
    settings = {
        "BILINGUAL_CHECKPOINT_SECONDS": 0.1,
        "BILINGUAL_STOP_SECONDS": AGES,
        "DOWNLOAD_TIMEOUT": AGES,
        "LOG_FILE": log,
    }
    with serve_demo(pages=20) as site:
        with silent_server() as (silent, taken):
            crawler = start(f"{site.url},{silent}", output, settings=settings)
            until(lambda: taken and len(site.paths()) > 60, crawler)
            crawler.send_signal(signal.SIGTERM)
            until(lambda: "shutting down gracefully" in log.read_text(), crawler)
            saved = wait_until(lambda: saved_documents(output), crawler)
            crawler.send_signal(signal.SIGTERM)
            crawler.communicate(timeout=HANG)
        assert "forcing unclean shutdown" in log.read_text()
        assert len(documents(output)) >= saved
        crawl(site.url, output, settings=QUICK)
    found = {(pair["url1"], pair["url2"]) for pair in pairs(output)}
    assert content.expected_pairs(site.url, 20) <= found


def saved_documents(output):
    """How many documents a running crawl has saved; None while it is saving."""
    try:
        return len(documents(output))
    except (OSError, EOFError, ValueError):
        return None


SLOW_SCORER = """
import time
from pathlib import Path
from bilingual_crawler.scoring.rules import RulesScorer

class Slow(RulesScorer):
    def score(self, document, links):
        Path(__file__).with_name("thinks").touch()
        time.sleep(900)
        return super().score(document, links)
"""


@crawls
def test_a_model_that_thinks_for_long_does_not_hold_up_a_stop(tmp_path, monkeypatch):
    (tmp_path / "slow.py").write_text(SLOW_SCORER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    output = tmp_path / "out"
    settings = {"BILINGUAL_SCORER": "slow.Slow", "BILINGUAL_STOP_SECONDS": 3}
    with serve_demo() as site:
        crawler = start(site.url, output, settings=settings)
        until(lambda: (tmp_path / "thinks").exists() and has_checkpoint(output), crawler)
        crawler.send_signal(signal.SIGTERM)
        printed = finish(crawler, status=1)
        assert "the last checkpoint is kept" in printed
        assert "Traceback" not in printed
        crawl(site.url, output, settings=QUICK)
    assert len(pairs(output)) >= len(content.expected_pairs(site.url))


def test_an_alignment_that_takes_too_long_is_ended():
    process = processes.start(
        ["sleep", "900"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = StopDeadline(0.1)
    deadline.set()
    assert _communicate(process, deadline) == ("", "")
    assert process.returncode == -signal.SIGTERM


def test_a_stop_deadline_has_no_limit_until_it_is_set():
    now = [0.0]
    deadline = StopDeadline(10, clock=lambda: now[0])
    now[0] = 1e9
    deadline.check()
    assert not deadline.is_over()
    deadline.set()
    now[0] += 10 * TIDY - 0.1
    deadline.set()
    deadline.check()
    now[0] += 0.2
    with pytest.raises(OutOfTimeError):
        deadline.check()
    assert not deadline.is_over(ALL)
