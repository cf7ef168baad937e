"""Which answers a crawl archives, and which it must not."""

import gc
import gzip
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from scrapy import Request, Spider, signals
from scrapy.crawler import CrawlerRunner
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.test import get_crawler
from twisted.internet.threads import blockingCallFromThread

from bilingual_crawler.config.plan import CrawlPlan
from bilingual_crawler.config.sites import Sites
from bilingual_crawler.crawl.context import Crawl, config_of
from bilingual_crawler.crawl.extensions.warc import WarcArchive
from bilingual_crawler.crawl.fetching.optouts import OPT_OUTS, opt_out_of
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.crawl.signals import url_ended
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.store.folder import CrawlFolder
from tests.support.fetching import RawServer, running_reactor
from tests.support.warc import (
    HTML,
    URL,
    files_in,
    read,
    urls_in,
)


def opened(crawler, path):
    """Open a crawl for a crawler whose spider is none of ours."""
    plan = CrawlPlan(LanguagePair.parse("spa-eus"), (URL,), "a test", path, Sites())
    return Crawl.open(crawler, config_of(crawler), plan, print, print)


class ArchivedCrawl:
    """The extension in a crawl whose downloads and ends the tests tell of."""

    def __init__(self, path, **changes):
        changes = {"BILINGUAL_WARC": "1", "EXTENSIONS_BASE": {}} | changes
        crawler: Any = get_crawler(Spider, changes)
        self.crawler = crawler
        self.path = path
        self.folder = opened(self.crawler, path).folder
        try:
            self.archive = WarcArchive.from_crawler(self.crawler)
        except NotConfigured:
            self.folder.close()
            raise

    def _send(self, signal, **arguments):
        for _, result in self.crawler.signals.send_catch_log(signal, **arguments):
            assert result is None

    def download(self, url=URL, *, headers=None, status=200, callback=None, meta=None, **more):
        request = Request(url, callback=callback, meta=meta)
        response = HtmlResponse(url, status, headers=headers, body=HTML, request=request, **more)
        self._send(signals.response_downloaded, request=request, response=response)
        return request

    def end(self, request, reason="stored", state=State.DONE):
        self._send(url_ended, request=request, state=state, reason=reason)

    def schedule(self, request):
        self._send(signals.request_scheduled, request=request)

    def close(self):
        """End the crawl; the URLs that are kept."""
        self.folder.close()
        self._send(signals.spider_closed)
        return urls_in(self.path)

    def stats(self):
        prefix = "bilingual/warc/"
        stats = self.crawler.stats.get_stats().items()
        return {name.removeprefix(prefix): v for name, v in stats if name.startswith(prefix)}


def test_without_the_setting_the_extension_is_not_there(tmp_path):
    with pytest.raises(NotConfigured, match="BILINGUAL_WARC is off"):
        ArchivedCrawl(tmp_path, BILINGUAL_WARC="0")


def test_a_page_is_kept_when_its_url_has_ended(tmp_path):
    crawl = ArchivedCrawl(tmp_path)
    request = crawl.download()
    crawl.folder.journal.checkpoint(wait=True)
    assert files_in(tmp_path) == []
    crawl.end(request)
    assert crawl.close() == [URL]
    assert crawl.stats() == {"written": 1, "failed": 0}


def test_an_exchange_is_taken_over_as_scrapy_has_it(tmp_path):
    crawl = ArchivedCrawl(tmp_path)
    headers = {"Set-Cookie": ["a", "b"]}
    request = crawl.download(headers=headers, protocol="HTTP/1.0", ip_address="192.0.2.7")
    crawl.end(request)
    crawl.close()
    _, response, sent = read(files_in(tmp_path)[0].read_bytes())
    assert response.warc["WARC-IP-Address"] == "192.0.2.7"
    assert response.http.protocol == "HTTP/1.0"
    assert response.http.headers == [("Set-Cookie", "a"), ("Set-Cookie", "b")]
    age = datetime.now(UTC) - datetime.fromisoformat(response.warc["WARC-Date"])
    assert timedelta() <= age < timedelta(minutes=1)
    assert sent.http.statusline == "/eu/kaixo?a=1 HTTP/1.1"


def test_the_address_of_a_proxy_is_not_kept(tmp_path):
    crawl = ArchivedCrawl(tmp_path)
    crawl.end(crawl.download(ip_address="10.0.0.1", meta={"proxy": "http://10.0.0.1:8080"}))
    crawl.close()
    assert b"10.0.0.1" not in gzip.decompress(files_in(tmp_path)[0].read_bytes())


@pytest.mark.parametrize(
    ("flag", "truncated"),
    [("download_stopped", "unspecified"), ("dataloss", "disconnect"), ("partial", None)],
)
def test_downloads_that_were_broken_off_say_so(tmp_path, flag, truncated):
    crawl = ArchivedCrawl(tmp_path)
    crawl.end(crawl.download(flags=[flag]), "not_html", State.FAILED)
    crawl.close()
    _, response, _ = read(files_in(tmp_path)[0].read_bytes())
    assert response.warc["WARC-Truncated"] == truncated


@pytest.mark.parametrize("reason", sorted(OPT_OUTS))
def test_a_page_that_opted_out_is_not_kept(tmp_path, reason):
    crawl = ArchivedCrawl(tmp_path)
    crawl.end(crawl.download(), reason)
    assert crawl.close() == []
    assert crawl.stats()[f"left_out/{reason}"] == 1


def test_every_opt_out_that_the_crawler_knows_is_one_here():
    everything = ("tdm", "noai", "noindex", "nofollow")
    robots = [["noai"], ["noindex"], ["none"], ["nofollow"], []]
    known = {opt_out_of(each, tdm, everything) for each in robots for tdm in (True, False)}
    assert known | {"tdm_unreadable"} == OPT_OUTS | {None}


def test_a_mark_to_keep_nothing_holds_however_the_url_ends(tmp_path):
    crawl = ArchivedCrawl(tmp_path)
    request = crawl.download()
    RequestState.update(request, opt_out="noindex")
    crawl.end(request, "off_language")
    assert crawl.close() == []


@pytest.mark.parametrize(
    "headers", [{"X-Robots-Tag": "noai"}, {"TDM-Reservation": "1"}, {"X-Robots-Tag": "none"}]
)
def test_headers_that_opt_out_hold_however_the_url_ends(tmp_path, headers):
    crawl = ArchivedCrawl(tmp_path)
    crawl.end(crawl.download(headers=headers), "not_html", State.FAILED)
    assert crawl.close() == []


def test_opt_outs_that_are_not_honoured_do_not_matter(tmp_path):
    crawl = ArchivedCrawl(tmp_path, BILINGUAL_HONOUR="noai")
    crawl.end(crawl.download(headers={"TDM-Reservation": "1"}))
    assert crawl.close() == [URL]


@pytest.mark.parametrize(
    ("reason", "state"),
    [("error", State.FAILED), ("bad_encoding", State.FAILED), ("redirected", State.DONE)],
)
def test_a_page_that_nobody_read_may_have_opted_out(tmp_path, reason, state):
    crawl = ArchivedCrawl(tmp_path)
    crawl.end(crawl.download(), reason, state)
    assert crawl.close() == []
    assert crawl.stats()["left_out/unread"] == 1


@pytest.mark.parametrize(
    ("status", "reason", "state"),
    [(301, "redirected", State.DONE), (404, "http_404", State.FAILED)],
)
def test_redirects_and_errors_are_kept(tmp_path, status, reason, state):
    crawl = ArchivedCrawl(tmp_path)
    crawl.end(crawl.download(status=status), reason, state)
    assert crawl.close() == [URL]


def test_files_about_a_site_are_kept_at_once_whatever_they_say(tmp_path):
    crawl = ArchivedCrawl(tmp_path)
    robots_txt = "https://example.org/robots.txt"
    crawl.download(robots_txt, headers={"X-Robots-Tag": "noindex"}, callback=NO_CALLBACK)
    assert crawl.close() == [robots_txt]


def test_both_answers_of_a_request_that_is_tried_again_are_kept(tmp_path):
    crawl = ArchivedCrawl(tmp_path)
    first = crawl.download(status=503)
    crawl.schedule(first.replace(dont_filter=True))
    crawl.folder.journal.checkpoint(wait=True)
    assert urls_in(tmp_path) == [URL]
    crawl.end(crawl.download(status=200))
    assert crawl.close() == [URL, URL]


def test_a_link_to_a_page_that_is_being_read_does_not_decide_about_it(tmp_path):
    crawl = ArchivedCrawl(tmp_path)
    request = crawl.download()
    crawl.schedule(Request(URL))
    crawl.schedule(Request("https://example.org/other", dont_filter=True))
    crawl.end(request, "noai")
    assert crawl.close() == []


def test_a_page_that_is_asked_for_again_before_it_was_read_is_not_kept(tmp_path):
    crawl = ArchivedCrawl(tmp_path)
    first = crawl.download(status=200)
    crawl.schedule(first.replace(dont_filter=True))
    assert crawl.close() == []


def test_answers_to_requests_that_never_end_do_not_stay_in_memory(tmp_path):
    crawl = ArchivedCrawl(tmp_path)
    for number in range(100):
        crawl.download(f"https://example.org/{number}")
    gc.collect()
    assert len(crawl.archive._waiting) == 0
    assert crawl.close() == []


def test_the_files_say_who_made_them_and_nothing_of_the_machine(tmp_path):
    crawl = ArchivedCrawl(
        tmp_path,
        BILINGUAL_CONTACT="https://example.org/who\r\nX: y",
        USER_AGENT="us/1",
        ROBOTSTXT_OBEY="1",
    )
    crawl.end(crawl.download())
    crawl.close()
    first = read(files_in(tmp_path)[0].read_bytes())[0]
    said = dict(line.split(": ", 1) for line in first.body.decode().splitlines())
    assert said["software"].startswith("bilingual-crawler/")
    assert said["format"] == "WARC File Format 1.1"
    assert said["operator"] == "https://example.org/who X: y"
    assert said["http-header-user-agent"] == "us/1"
    assert said["robots"] == "classic"
    assert said["language"] == "spa, eus"
    assert str(tmp_path) not in first.body.decode()


class ArchivedSpider(Spider):
    """Fetches one page over the network and says at once how it ended."""

    name = "archived"
    folder: CrawlFolder

    @classmethod
    def from_crawler(cls, crawler, url, path):
        spider: Any = super().from_crawler(crawler, start_urls=[url])
        spider.folder = opened(crawler, path).folder
        return spider

    def parse(self, response):
        assert response.body == HTML
        self.crawler.signals.send_catch_log(
            url_ended, request=response.request, state=State.DONE, reason="stored"
        )
        self.folder.close()


def test_what_came_over_the_network_is_kept_as_it_came(tmp_path):
    packed = gzip.compress(HTML)
    answer = b"HTTP/1.1 200 Fine\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n"
    answer += b"X-Odd: caf\xe9\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer += b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)
    runner = CrawlerRunner(
        {
            "BILINGUAL_WARC": "1",
            "EXTENSIONS": {WarcArchive: 500},
            "LOG_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "REMOTE_CONTROL_ENABLED": False,
        }
    )
    with RawServer(lambda connection: connection.sendall(answer)) as server:
        crawl = partial(runner.crawl, ArchivedSpider, url=f"{server.url}/a?b=1", path=tmp_path)
        blockingCallFromThread(running_reactor(), crawl)
    _, response, request = read(files_in(tmp_path)[0].read_bytes())
    assert response.warc["WARC-IP-Address"] == "127.0.0.1"
    assert (response.http.protocol, response.http.statusline) == ("HTTP/1.1", "200 OK")
    assert sorted(response.http.headers) == [
        ("Content-Encoding", "gzip"),
        ("Content-Type", "text/html"),
        ("X-Odd", "caf\xe9"),
    ]
    assert response.body == packed
    assert (request.http.protocol, request.http.statusline) == ("GET", "/a?b=1 HTTP/1.1")
    assert request.http["Host"] == server.url.removeprefix("http://")
    assert request.http["Accept-Encoding"].startswith("gzip")
