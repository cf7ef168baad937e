"""A crawl that is told to stop is gone in ten seconds, whatever holds it up, and goes on later."""

import signal
import socket
import sqlite3
import subprocess
import threading
import time
from contextlib import closing, contextmanager

import pytest

from bilingual_crawler.crawl.deadline import ALL, ORDER, OutOfTimeError, StopDeadline
from bilingual_crawler.crawl.extensions.aligner import _communicate
from bilingual_crawler.frontier.entry import State
from demo import content
from tests.crawls import crawl, documents, pairs, report, start
from tests.redis_server import needs_redis, serve_redis
from tests.servers import serve_demo

crawls = pytest.mark.crawl
PROMISED = 10.0
QUICK = {"BILINGUAL_SCORER": "rules", "DOWNLOAD_TIMEOUT": 1, "RETRY_TIMES": 0}


@contextmanager
def silent_server():
    """A server that takes connections and never says a word; how many is told."""
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


def until(condition, crawler, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert crawler.poll() is None, crawler.communicate()[0]
        assert time.monotonic() < end
        time.sleep(0.05)


def seconds_to_end(crawler):
    """How long a process takes to end; it is killed if that takes far too long."""
    begun = time.monotonic()
    try:
        printed, _ = crawler.communicate(timeout=3 * PROMISED)
    except subprocess.TimeoutExpired:
        crawler.kill()
        printed, _ = crawler.communicate()
    return time.monotonic() - begun, printed


@crawls
@pytest.mark.parametrize(
    ("told", "waits_for"), [(signal.SIGTERM, "robots.txt"), (signal.SIGINT, "the page")]
)
def test_a_server_that_never_answers_does_not_hold_up_a_stop(tmp_path, told, waits_for):
    output = tmp_path / "out"
    only_pages = {"ROBOTSTXT_OBEY": 0, "BILINGUAL_HONOUR": "", "BILINGUAL_STOP_SECONDS": 3}
    settings = only_pages if waits_for == "the page" else {}
    with serve_demo() as site, silent_server() as (silent, taken):
        seeds = f"{site.url},{silent}"
        crawler = start(seeds, output, settings=settings)
        until(lambda: taken and len(site.paths()) > 60, crawler)
        crawler.send_signal(told)
        seconds, printed = seconds_to_end(crawler)
        assert crawler.returncode == 0, printed
        assert seconds < PROMISED
        assert "Traceback" not in printed
        assert report(output)["stopped_by"] == "shutdown"
        assert len(documents(output)) == sum(report(output)["documents"].values()) > 0
        assert state_of(output, silent) == (State.QUEUED, None)


def state_of(output, url):
    with closing(sqlite3.connect(output / "crawl.sqlite")) as journal:
        (row,) = journal.execute("SELECT state, outcome FROM urls WHERE url = ?", (url,))
    return row


@crawls
@needs_redis
def test_a_worker_that_is_told_to_stop_gives_back_what_never_came(tmp_path):
    with serve_redis() as redis, silent_server() as (silent, taken):
        settings = QUICK | {"BILINGUAL_FRONTIER": redis.url, "DOWNLOAD_TIMEOUT": 60}
        first = start(silent, tmp_path / "out", settings=settings | {"BILINGUAL_STOP_SECONDS": 2})
        until(lambda: taken, first)
        first.send_signal(signal.SIGTERM)
        seconds, printed = seconds_to_end(first)
        assert (first.returncode, seconds < PROMISED) == (0, True), printed
        asked = len(taken)
        second = start(silent, tmp_path / "out", settings=settings)
        try:
            until(lambda: len(taken) > asked, second)
        finally:
            second.kill()
            second.communicate()


@crawls
def test_the_second_signal_is_immediate_and_loses_nothing_that_was_saved(tmp_path):
    output = tmp_path / "out"
    with serve_demo(pages=20) as site, silent_server() as (silent, taken):
        crawler = start(
            f"{site.url},{silent}", output, settings={"BILINGUAL_CHECKPOINT_SECONDS": 0.1}
        )
        until(lambda: taken and len(site.paths()) > 60, crawler)
        crawler.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        saved = len(documents(output))
        crawler.send_signal(signal.SIGTERM)
        seconds, printed = seconds_to_end(crawler)
        assert seconds < PROMISED / 3, printed
        assert len(documents(output)) >= saved > 0
        crawl(site.url, output, settings=QUICK)
    found = {(pair["url1"], pair["url2"]) for pair in pairs(output)}
    assert content.expected_pairs(site.url, 20) <= found


SLOW_SCORER = """
import time
from bilingual_crawler.scoring.rules import RulesScorer

class Slow(RulesScorer):
    def score(self, document, links):
        time.sleep(60)
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
        until(lambda: len(site.paths()) > 1, crawler)
        time.sleep(1.5)  # a checkpoint
        crawler.send_signal(signal.SIGTERM)
        seconds, printed = seconds_to_end(crawler)
        assert seconds < PROMISED / 2
        assert crawler.returncode == 1
        assert "with what the last checkpoint has" in printed
        assert "Traceback" not in printed
        crawl(site.url, output, settings=QUICK)
    assert len(pairs(output)) >= len(content.expected_pairs(site.url))


def test_an_alignment_that_takes_too_long_is_ended():
    process = subprocess.Popen(
        ["sleep", "60"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    patience = StopDeadline(0.1)
    patience.tell()
    assert _communicate(process, patience) == ("", "")
    assert process.returncode == -signal.SIGTERM


def test_patience_has_no_limit_until_somebody_says_stop():
    now = [0.0]
    patience = StopDeadline(10, clock=lambda: now[0])
    now[0] = 1e9
    patience.check()
    assert not patience.is_over()
    patience.tell()
    now[0] += 10 * ORDER - 0.1
    patience.tell()
    patience.check()
    now[0] += 0.2
    with pytest.raises(OutOfTimeError):
        patience.check()
    assert not patience.is_over(ALL)
