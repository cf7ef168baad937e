"""The extension that keeps the delay which a robots.txt asks for (`Crawl-delay`), in full.

It holds with and without AutoThrottle, and whatever else is set: for every request to the host,
in every slot that the downloader makes for it. A host that asks for more than
BILINGUAL_LONGEST_CRAWL_DELAY is not crawled at all (`robots`).
"""

import logging
import time
from typing import Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.robotstxt import RobotParser
from scrapy.utils.asyncio import create_looping_call

from bilingual_crawler.crawl.context import config_of
from bilingual_crawler.crawl.deadline import ANSWERS
from bilingual_crawler.crawl.fetching.identity import ROBOT_NAME
from bilingual_crawler.crawl.fetching.interruption import interruption
from bilingual_crawler.crawl.signals import stop_deadline_passed
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
