"""The extension that keeps the delay which a robots.txt asks for (`Crawl-delay`), in full.

It holds with and without AutoThrottle, and whatever else is set: for every request to the host,
in every slot that the downloader makes for it. A host that asks for more than
BILINGUAL_LONGEST_CRAWL_DELAY is not crawled at all (`robots`).

AutoThrottle that knows sites: their own least delay, and what their robots.txt asks for.

When a request really leaves: the moment from which the delay of its host counts.

Scrapy counts it from the moment at which a request leaves the downloader's queue. After that
come a look-up, a connection and, if the process is busy with other pages, a wait for its turn:
a request that is held up comes late at the host, and the next one in time, so that the host
sees two of them close together.
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
"""Seconds from which a delay is worth telling: a day has 1,440 pages then."""
MOST_HOSTS = 1000
"""Hosts that are told of, in the log and in crawl.json."""
HOSTS_STAT = "bilingual/crawl_delays"
LOOK_SECONDS = 1.0
DAY = 24 * 3600


class CrawlDelays:
    """Knows what hosts ask for, and slows the downloader down to it."""

    def __init__(self, crawler: Crawler) -> None:
        assert crawler.stats is not None
        self._crawler = crawler
        self._stats = crawler.stats
        config = config_of(crawler)
        self._longest = config.longest_crawl_delay
        self._patience = ANSWERS * config.stop_seconds
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
        """The seconds between two requests that a host asks for; 0 if it asks for none."""
        return self._asked.get(host, 0.0)

    def _robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        """Note what a host asks for; where several ports of it ask, the longest counts."""
        delay = robotparser.crawl_delay(ROBOT_NAME)
        host = host_of(request.url)
        if not delay or delay <= self.of(host):
            return
        if delay <= self._longest:
            self._asked[host] = delay
        if delay > LONG_DELAY:
            self._tell(host, delay)

    def _tell(self, host: str, delay: float) -> None:
        hosts: dict[str, float] = self._stats.get_value(HOSTS_STAT) or {}
        self._stats.set_value(HOSTS_STAT, hosts)
        if host in hosts or len(hosts) >= MOST_HOSTS:
            return
        hosts[host] = delay
        if delay > self._longest:
            logger.warning(
                "robots.txt of %s asks for %g seconds between two requests. That is more than"
                " BILINGUAL_LONGEST_CRAWL_DELAY=%g: nothing else is fetched from there.",
                host[:100],
                delay,
                self._longest,
            )
            return
        logger.warning(
            "robots.txt of %s asks for %g seconds between two requests. They are kept: at most"
            " %d pages a day come from there.",
            host[:100],
            delay,
            DAY / delay,
        )
        if not self._watching.running:
            self._watching.start(LOOK_SECONDS, now=False)

    def _request_queued(self, request: Request) -> None:
        """Slow down the slot of a request before anything is sent from it."""
        asked = self.of(host_of(request.url))
        if not asked:
            return
        assert self._crawler.engine is not None
        slot = self._crawler.engine.downloader.slots.get(request.meta.get("download_slot", ""))
        if slot is not None:
            slot.delay = max(slot.delay, asked)
            slot.jitter = 0.0  # half the time would be less than was asked for

    def _watch_end(self) -> None:
        """Do not let a crawl that ends wait for a host whose turn comes in ten minutes.

        Other pages that are under way have as much time as when the crawl is told to stop.
        """
        assert self._crawler.engine is not None
        crawl = self._crawler.engine._slot  # noqa: SLF001 - nothing public tells that it closes
        if crawl is None or crawl.closing is None:
            return
        now = time.monotonic()
        self._closing_since = self._closing_since or now
        slots = list(self._crawler.engine.downloader.slots.values())
        late = [slot for slot in slots if slot.queue and slot.delay > LONG_DELAY]
        others = any(slot.transferring or slot.queue for slot in slots if slot not in late)
        if late and (not others or now - self._closing_since >= self._patience):
            self._watching.stop()
            self._crawler.signals.send_catch_log(stop_deadline_passed)
            for slot in late:
                while slot.queue:
                    slot.queue.popleft()[1].errback(interruption())

    def _closed(self) -> None:
        if self._watching.running:
            self._watching.stop()


class SiteThrottle(AutoThrottle):
    """Adapts the delay to the server, never below what the site was promised.

    Scrapy's class has one least delay for all hosts and would undo a site's own.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._crawl_delays: CrawlDelays | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension; NotConfigured where AutoThrottle is off."""
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
    """Notes in the downloader's slots, and tells all who listen, when requests leave."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._under_way: ContextVar[Request | None] = ContextVar("request", default=None)

    def begin(self, request: Request) -> None:
        """The connection that is asked for next, in this task, is for this request."""
        self._under_way.set(request)

    def watch(self, connecting: Deferred[Any]) -> Deferred[Any]:
        """Note when the request is written to the connection, now that there will be one."""
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
        """A request is written: it is with the network when the event loop has its next turn."""
        self._touch(request)
        call_later(0, self._touch, request)
        self._crawler.signals.send_catch_log(request_sent, request=request)

    def _touch(self, request: Request) -> None:
        assert self._crawler.engine is not None
        slot = self._crawler.engine.downloader.slots.get(request.meta.get("download_slot", ""))
        if slot is not None:
            slot.lastseen = time.monotonic()
