"""The extension behind BILINGUAL_SITEMAPS: translations that sitemaps declare.

When the first page of a host has arrived, the sitemaps in its robots.txt are fetched, or
/sitemap.xml if there are none: once, a few files at most, and through the downloader, so that
delays, robots.txt and all limits apply. They say which pages are translations of each other;
this alone does not add the pages to the crawl.
"""

import logging
from collections import deque
from http import HTTPStatus
from itertools import islice
from typing import Self
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider, IgnoreRequest
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from scrapy.utils.sitemap import sitemap_urls_from_robots
from twisted.internet.threads import deferToThread
from twisted.python.failure import Failure

from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.crawl.fetching.failures import reason_of, status_key
from bilingual_crawler.crawl.fetching.site_files import asked_url, is_page, is_site_file
from bilingual_crawler.crawl.signals import stop_deadline_passed
from bilingual_crawler.documents.sitemap import Sitemap, read_sitemap
from bilingual_crawler.store.folder import SITEMAPS_OF
from bilingual_crawler.urls.hosts import host_of
from bilingual_crawler.urls.resolver import UrlResolver

logger = logging.getLogger(__name__)

MAX_FILES = 5
"""Sitemaps to fetch per host."""
MAX_URL = 2_000
"""Characters of the address of a sitemap; longer ones are ignored."""
BATCH = 500
"""Pages whose translations are added in one go, before the crawl gets its turn again."""


class SiteMaps:
    """Fetches the sitemaps of each host once, and adds their declarations to the corpus."""

    def __init__(self, crawler: Crawler) -> None:
        assert crawler.stats is not None
        self._crawler = crawler
        self._crawl = Crawl.of(crawler)
        self._stats = crawler.stats
        self._named: dict[str, list[str]] = {}
        self._asked: set[str] = set()
        self._under_way = 0
        self._closed = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension for a crawl."""
        extension = cls(crawler)
        for listener, signal in (
            (extension.response_received, signals.response_received),
            (extension.spider_idle, signals.spider_idle),
            (extension.spider_closed, signals.spider_closed),
            (extension.spider_closed, stop_deadline_passed),
        ):
            crawler.signals.connect(listener, signal=signal)
        return extension

    def response_received(self, response: Response, request: Request) -> None:
        """Note the sitemaps in a robots.txt; fetch those of a host after its first page."""
        if is_site_file(request):
            asked = asked_url(request)
            if urlsplit(asked).path == "/robots.txt" and response.status == HTTPStatus.OK:
                named = sitemap_urls_from_robots(response.body, response.url)
                found = (url for url in named if len(url) <= MAX_URL)
                self._named[urlsplit(asked).netloc] = list(islice(found, MAX_FILES))
            return
        parts = urlsplit(response.url)
        if not is_page(request, response) or parts.netloc in self._asked:
            return
        self._asked.add(parts.netloc)
        if self._crawl.folder.facts.get(SITEMAPS_OF + parts.netloc) != "yes":
            self._under_way += 1
            root = f"{parts.scheme}://{parts.netloc}/"
            deferred_from_coro(self._read(root, parts.netloc)).addBoth(self._ended)

    def spider_idle(self) -> None:
        """Keep the crawl open while sitemaps are being fetched."""
        if self._under_way:
            raise DontCloseSpider

    def spider_closed(self) -> None:
        """Stop reading sitemaps."""
        self._closed = True

    def _ended(self, result: object) -> None:
        self._under_way -= 1
        if isinstance(result, Failure):
            logger.error("Reading sitemaps failed: %s", result.getErrorMessage())

    async def _read(self, root: str, netloc: str) -> None:
        """Fetch the sitemaps of a host and those that they name, up to the limit."""
        resolve = UrlResolver(root)
        named = map(resolve, self._named.pop(netloc, []) or [f"{root}sitemap.xml"])
        waiting = deque(dict.fromkeys(named))
        known = set(waiting)
        fetched = 0
        while waiting and fetched < MAX_FILES and not self._closed:
            url = waiting.popleft()
            if url is None or host_of(url) != host_of(root):
                continue
            fetched += 1
            sitemap = await self._fetch(url)
            further = [each for each in dict.fromkeys(sitemap.indexes) if each not in known]
            known.update(further)
            waiting.extend(further)
            await self._declare(sitemap)
        if not self._closed:
            self._crawl.folder.facts[SITEMAPS_OF + netloc] = "yes"

    async def _declare(self, sitemap: Sitemap) -> None:
        claims = sitemap.claims()
        while (some := list(islice(claims, BATCH))) and not self._closed:
            self._crawl.corpus.declare(some)
            self._stats.inc_value("bilingual/sitemaps/pages", len(some))
            await maybe_deferred_to_future(deferToThread(int))  # let the event loop run

    async def _fetch(self, url: str) -> Sitemap:
        """Fetch a sitemap; return an empty one if that fails."""
        request = Request(url, callback=NO_CALLBACK, meta={"dont_retry": True})
        assert self._crawler.engine is not None
        try:
            response = await self._crawler.engine.download_async(request)
        except IgnoreRequest:
            return Sitemap()
        except Exception as error:  # noqa: BLE001 - whatever a server does must not end the crawl
            reason, _ = reason_of(error)
            self._stats.inc_value(f"bilingual/sitemaps/failed/{reason}")
            return Sitemap()
        self._stats.inc_value(f"bilingual/sitemaps/status/{status_key(response.status)}")
        if response.status != HTTPStatus.OK:
            return Sitemap()
        reading = deferToThread(read_sitemap, response.body, response.url)
        return await maybe_deferred_to_future(reading)
