"""The delay between two requests to a host, and the moment from which it counts.

A host's delay is the largest of three: the minimum from the settings or its site's rules, what
AutoThrottle makes of its response times (`SiteThrottle`), and what its robots.txt asks for
(`CrawlDelays`). The latter is kept in full, with or without AutoThrottle, for every request to
the host and in every downloader slot. A host that asks for more than
BILINGUAL_LONGEST_CRAWL_DELAY is not crawled at all (`robots`).

Scrapy counts the delay from when a request leaves the downloader's queue. After that come a
look-up, a connection and, in a busy process, a wait: if one request is held up and the next is
not, the host gets both in quick succession. So the delay counts from when a request is written
to its connection (`SendTimes`).
"""

import logging
import time
from contextvars import ContextVar
from typing import Any, Self

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.extensions.throttle import AutoThrottle
from scrapy.http import Response
from scrapy.robotstxt import RobotParser
from scrapy.utils.asyncio import call_later, create_looping_call
from twisted.internet.defer import Deferred

from bilingual_crawler.crawl.context import Crawl, config_of
from bilingual_crawler.crawl.deadline import ANSWERS, interruption
from bilingual_crawler.crawl.fetching.identity import ROBOT_NAME
from bilingual_crawler.crawl.signals import request_sent, stop_deadline_passed
from bilingual_crawler.urls.hosts import host_of

logger = logging.getLogger(__name__)

LONG_DELAY = 60.0
"""Seconds from which a delay is worth reporting: it allows 1,440 pages per day."""
MAX_HOSTS = 1000
"""Hosts that are named in the log and in crawl.json."""
HOSTS_STAT = "bilingual/crawl_delays"
LOOK_SECONDS = 1.0
DAY = 24 * 3600


class CrawlDelays:
    """Extension that slows the downloader down to the `Crawl-delay` of each host."""

    def __init__(self, crawler: Crawler) -> None:
        assert crawler.stats is not None
        self._crawler = crawler
        self._stats = crawler.stats
        config = config_of(crawler)
        self._longest = config.longest_crawl_delay
        self._grace = ANSWERS * config.stop_seconds
        self._asked: dict[str, float] = {}
        self._closing_since: float | None = None
        self._watching = create_looping_call(self._watch_end)
        for handler, signal in (
            (self._robots_parsed, signals.robots_parsed),
            (self._request_queued, signals.request_reached_downloader),
            (self._closed, signals.spider_closed),
        ):
            crawler.signals.connect(handler, signal=signal)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension for a crawl."""
        return cls(crawler)

    def of(self, host: str) -> float:
        """Return the seconds between two requests that a host asks for; 0 if it does not."""
        return self._asked.get(host, 0.0)

    def _robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        """Record what a host asks for; if several ports of it do, the longest delay counts."""
        delay = robotparser.crawl_delay(ROBOT_NAME)
        host = host_of(request.url)
        if not delay or delay <= self.of(host):
            return
        if delay <= self._longest:
            self._asked[host] = delay
        if delay > LONG_DELAY:
            self._report(host, delay)

    def _report(self, host: str, delay: float) -> None:
        hosts: dict[str, float] = self._stats.get_value(HOSTS_STAT) or {}
        self._stats.set_value(HOSTS_STAT, hosts)
        if host in hosts or len(hosts) >= MAX_HOSTS:
            return
        hosts[host] = delay
        if delay > self._longest:
            logger.warning(
                "robots.txt of %s asks for %g seconds between two requests. That is more than"
                " BILINGUAL_LONGEST_CRAWL_DELAY=%g, so nothing else is fetched from this host.",
                host[:100],
                delay,
                self._longest,
            )
            return
        logger.warning(
            "robots.txt of %s asks for %g seconds between two requests. The crawl complies:"
            " this host gives at most %d pages per day.",
            host[:100],
            delay,
            DAY / delay,
        )
        if not self._watching.running:
            self._watching.start(LOOK_SECONDS, now=False)

    def _request_queued(self, request: Request) -> None:
        """Slow down the slot of a request before the request is sent."""
        asked = self.of(host_of(request.url))
        if not asked:
            return
        assert self._crawler.engine is not None
        slot = self._crawler.engine.downloader.slots.get(request.meta.get("download_slot", ""))
        if slot is not None:
            slot.delay = max(slot.delay, asked)
            slot.jitter = 0.0  # jitter would make half of the delays too short

    def _watch_end(self) -> None:
        """Do not let an ending crawl wait for a host whose turn comes in ten minutes.

        Other pages under way get as much time as after a request to stop.
        """
        assert self._crawler.engine is not None
        crawl = self._crawler.engine._slot  # noqa: SLF001 - nothing public says that it is closing
        if crawl is None or crawl.closing is None:
            return
        now = time.monotonic()
        self._closing_since = self._closing_since or now
        slots = list(self._crawler.engine.downloader.slots.values())
        late = [slot for slot in slots if slot.queue and slot.delay > LONG_DELAY]
        others = any(slot.transferring or slot.queue for slot in slots if slot not in late)
        if late and (not others or now - self._closing_since >= self._grace):
            self._watching.stop()
            self._crawler.signals.send_catch_log(stop_deadline_passed)
            for slot in late:
                while slot.queue:
                    slot.queue.popleft()[1].errback(interruption())

    def _closed(self) -> None:
        if self._watching.running:
            self._watching.stop()


class SiteThrottle(AutoThrottle):
    """Extension that adapts the delay to the server, down to the minimum of its site.

    Scrapy's class has one minimum for all hosts and would override a site's own.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._crawl_delays: CrawlDelays | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension for a crawl; raise NotConfigured if AutoThrottle is off."""
        return cls(crawler)

    def _spider_opened(self, spider: Spider) -> None:
        super()._spider_opened(spider)
        self._crawl_delays = self.crawler.get_extension(CrawlDelays)

    def _response_downloaded(self, response: Response, request: Request, spider: Spider) -> None:
        host = host_of(request.url)
        least = self._min_delay()
        crawl = Crawl.find(self.crawler)
        if crawl is not None:
            rules = crawl.plan.sites.rules_for(host)
            if rules.autothrottle is False:
                return
            least = least if rules.delay is None else rules.delay
        asked = self._crawl_delays.of(host) if self._crawl_delays is not None else 0.0
        self.mindelay = max(least, asked)
        self.maxdelay = max(self._max_delay(), self.mindelay)
        super()._response_downloaded(response, request, spider)


class SendTimes:
    """Records in the downloader's slots, and signals, when requests are really sent."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._under_way: ContextVar[Request | None] = ContextVar("request", default=None)

    def begin(self, request: Request) -> None:
        """Note that the next connection opened in this task is for this request."""
        self._under_way.set(request)

    def watch(self, connecting: Deferred[Any]) -> Deferred[Any]:
        """Record when the request is written to the connection that is being opened."""
        request = self._under_way.get()
        if request is None:
            return connecting

        def noting(protocol: Any) -> Any:
            send = protocol.request

            def send_noted(parsed: Any) -> Any:
                protocol.request = send
                answering = send(parsed)
                self.sent(request)
                return answering

            protocol.request = send_noted
            return protocol

        return connecting.addCallback(noting)

    def sent(self, request: Request) -> None:
        """Record that a request was written; the network has it at the loop's next turn."""
        self._touch(request)
        call_later(0, self._touch, request)
        self._crawler.signals.send_catch_log(request_sent, request=request)

    def _touch(self, request: Request) -> None:
        assert self._crawler.engine is not None
        slot = self._crawler.engine.downloader.slots.get(request.meta.get("download_slot", ""))
        if slot is not None:
            slot.lastseen = time.monotonic()
