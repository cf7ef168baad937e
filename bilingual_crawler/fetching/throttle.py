"""AutoThrottle that knows sites: their own least delay, and what their robots.txt asks for."""

from typing import TYPE_CHECKING, Self, cast

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.extensions.throttle import AutoThrottle
from scrapy.http import Response
from scrapy.robotstxt import RobotParser

from bilingual_crawler.fetching.identity import ROBOT_NAME
from bilingual_crawler.hosts import host_of

if TYPE_CHECKING:
    from bilingual_crawler.spiders.bilingual import BilingualSpider

LONGEST_DELAY = 60.0
"""A robots.txt may ask for an hour; a minute is as slow as we go."""


class SiteThrottle(AutoThrottle):
    """Adapts the delay to the server, never below what the site was promised.

    Scrapy's class has one least delay for all hosts and would undo a site's own.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._asked: dict[str, float] = {}
        crawler.signals.connect(self._robots_parsed, signal=signals.robots_parsed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension; NotConfigured where AutoThrottle is off."""
        return cls(crawler)

    def _robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        """Keep the Crawl-delay of a host, and slow down at once."""
        delay = robotparser.crawl_delay(ROBOT_NAME)
        host = host_of(request.url)
        if delay and host not in self._asked:
            self._asked[host] = min(delay, LONGEST_DELAY)
            slot = self.crawler.engine.downloader.slots.get(host)
            if slot is not None:
                slot.delay = max(slot.delay, self._asked[host])

    def _response_downloaded(self, response: Response, request: Request, spider: Spider) -> None:
        host = host_of(request.url)
        rules = cast("BilingualSpider", spider).plan.sites.rules_for(host)
        if rules.autothrottle is False:
            return
        least = self._min_delay() if rules.delay is None else rules.delay
        self.mindelay = max(least, self._asked.get(host, 0.0))
        super()._response_downloaded(response, request, spider)
