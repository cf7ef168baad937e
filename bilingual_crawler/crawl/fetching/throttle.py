"""AutoThrottle that knows sites: their own least delay, and what their robots.txt asks for."""

from typing import Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.extensions.throttle import AutoThrottle
from scrapy.http import Response

from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.crawl.fetching.crawl_delay import CrawlDelays
from bilingual_crawler.urls.hosts import host_of


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
