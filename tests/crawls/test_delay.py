"""The delay that a robots.txt asks for is kept, whatever else is set, and holds up no stop."""

import signal
import sqlite3
import time
from contextlib import closing

import pytest

from bilingual_crawler.crawl.fetching.delays import HOSTS_STAT
from bilingual_crawler.crawl.scheduler import FrontierScheduler
from bilingual_crawler.frontier.entry import State
from tests.support import crawling as crawls
from tests.support.fetching import PAGE, Site, crawl
from tests.support.processes import wait_until

DELAYS = {
    "bilingual_crawler.crawl.fetching.delays.CrawlDelays": 0,
    "scrapy.extensions.closespider.CloseSpider": 0,
}
OBEYS = {"ROBOTSTXT_OBEY": True, "BILINGUAL_HONOUR": "", "EXTENSIONS": DELAYS}
LATE = 0.2
"""Seconds by which a busy server may note a request too late: the next seems closer to it."""
QUICK = {"BILINGUAL_SCORER": "rules", "BILINGUAL_HONOUR": ""}


def robots(delay):
    text = f"User-agent: *\nCrawl-delay: {delay}\n"
    return (200, {"Content-Type": "text/plain"}, text.encode())


class SlowSite(Site):
    """A site that asks for a delay, and notes when it was asked for what."""

    def __init__(self, delay, host="127.0.0.1"):
        super().__init__({"/robots.txt": robots(delay)}, host=host)
        self.moments = []

    def answer_to(self, path):
        self.moments.append(time.monotonic())
        return super().answer_to(path)

    @property
    def shortest(self):
        return min(b - a for a, b in zip(self.moments, self.moments[1:], strict=False))


@pytest.mark.alone
def test_the_delay_is_kept_without_autothrottle():
    with SlowSite(1) as site:
        result = crawl(f"{site.url}/1", f"{site.url}/2", **OBEYS, DOWNLOAD_DELAY_JITTER=0.5)
    assert len(result.pages) == 2
    assert len(site.moments) == 3
    assert site.shortest > 1 - LATE
    assert HOSTS_STAT not in result.stats, "that is nothing unusual"


def test_other_hosts_are_asked_as_before():
    with SlowSite(300) as slow, Site(host="127.0.0.2") as site:
        urls = [f"{site.url}/{number}" for number in range(3)]
        result = crawl(slow.url, *urls, **OBEYS, CLOSESPIDER_PAGECOUNT=3)
    assert sorted(result.pages) == urls
    assert result.failures == {slow.url: "interrupted"}
    assert slow.asked == ["/robots.txt"]


@pytest.mark.crawl
@pytest.mark.alone
def test_autothrottle_does_not_cut_the_delay(tmp_path):
    links = PAGE[2] + b'<a href="/2">2</a> <a href="/3">3</a>'
    with SlowSite(1) as site:
        site.answers["/"] = (*PAGE[:2], links)
        settings = {**QUICK, "AUTOTHROTTLE_ENABLED": 1, "AUTOTHROTTLE_MAX_DELAY": 0.3}
        crawls.crawl(f"{site.url}/", tmp_path / "out", settings=settings)
    assert sorted(site.asked) == ["/", "/2", "/3", "/robots.txt"]
    assert site.shortest > 1 - LATE


class CountingScheduler(FrontierScheduler):
    """The scheduler, which counts how often it is asked."""

    asked = 0

    def next_request(self):
        self.asked += 1
        return super().next_request()

    def close(self, reason):
        (self._crawl.folder.path / "asked").write_text(str(self.asked))
        super().close(reason)


def state_of(output, url):
    with closing(sqlite3.connect(output / "crawl.sqlite")) as journal:
        (row,) = journal.execute("SELECT state, outcome FROM urls WHERE url = ?", (url,))
    return row


@pytest.mark.crawl
@pytest.mark.parametrize("way", ["signal", "CLOSESPIDER_TIMEOUT"])
def test_a_long_delay_is_told_and_holds_up_neither_the_crawl_nor_its_end(tmp_path, way):
    output = tmp_path / "out"
    log = tmp_path / "log"
    settings = {**QUICK, "SCHEDULER": f"{__name__}.CountingScheduler", "LOG_FILE": log}
    if way != "signal":
        settings |= {way: 6}
    with SlowSite(300) as site:
        crawler = crawls.start(f"{site.url}/", output, settings=settings)
        if way == "signal":
            wait_until(lambda: log.exists() and "asks for 300 seconds" in log.read_text(), crawler)
            time.sleep(1)  # for a scheduler that is asked far too often
            crawler.send_signal(signal.SIGTERM)
        printed = crawls.finish(crawler) + log.read_text()
    assert "asks for 300 seconds between two requests" in printed
    assert "288 pages per day" in printed
    assert "Traceback" not in printed
    assert crawls.report(output)["crawl_delays"] == {"127.0.0.1": 300.0}
    assert site.asked == ["/robots.txt"]
    assert state_of(output, f"{site.url}/") == (State.QUEUED, None)
    assert int((output / "asked").read_text()) < 200


@pytest.mark.crawl
def test_a_host_that_asks_for_more_than_is_waited_for_is_left_out_and_told(tmp_path):
    output = tmp_path / "out"
    with SlowSite(5000) as site:
        printed = crawls.crawl(f"{site.url}/", output, settings=QUICK)
    report = crawls.report(output)
    assert site.asked == ["/robots.txt"]
    assert report["state"] == "finished"
    assert report["urls_ended"]["crawl_delay"]["count"] == 1
    assert "BILINGUAL_LONGEST_CRAWL_DELAY" in report["urls_ended"]["crawl_delay"]["meaning"]
    assert report["opt_outs"] == {"crawl_delay": 1}
    assert report["crawl_delays"] == {"127.0.0.1": 5000.0}
    assert "BILINGUAL_LONGEST_CRAWL_DELAY=600, so nothing else is fetched" in printed
    assert "robots.txt asks for a longer delay than BILINGUAL_LONGEST_CRAWL_DELAY" in printed
