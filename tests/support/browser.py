"""Visits of pages in a real Chromium, many of them in one browser."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import scrapy
from scrapy.crawler import Crawler, CrawlerRunner
from twisted.internet.threads import blockingCallFromThread

from bilingual_crawler.documents.builder import build_document
from tests.support.fetching import WIRING, running_reactor

CODES = ("spa", "eus")
IDENTITY = {
    "user_agent": "test-crawler/1 (+https://example.org/)",
    "locale": "es",
    "service_workers": "block",
    "accept_downloads": False,
    "permissions": [],
}


class _Spider(scrapy.Spider):
    name = "visits"
    job: Callable[[Crawler], Awaitable[object]]

    async def start(self):
        self.result = await self.job(self.crawler)
        if False:
            yield None


def in_a_crawl(job, **settings):
    """Run a coroutine function of a crawler while its engine is open; what it returns."""
    wanted = {**WIRING, "ROBOTSTXT_OBEY": True, **settings}
    runner: Any = CrawlerRunner(wanted)
    crawler = runner.create_crawler(_Spider)
    blockingCallFromThread(running_reactor(), runner.crawl, crawler, job=job)
    return crawler.spider.result, crawler.stats.get_stats()


def read(url):
    return lambda markup: build_document(
        url, markup, content_type="text/html; charset=utf-8", hints=CODES
    )


def visit_all(pages, seconds=60.0, **settings):
    """Look at pages, given as {url: markup}; {url: findings or the failure}, and the stats."""
    from bilingual_crawler.crawl.browser.chromium import RenderingFailedError  # noqa: PLC0415
    from bilingual_crawler.crawl.browser.renderer import Renderer  # noqa: PLC0415
    from bilingual_crawler.crawl.browser.resources import Resource  # noqa: PLC0415
    from bilingual_crawler.crawl.browser.visit import Terms  # noqa: PLC0415

    async def job(crawler):
        renderer = Renderer(crawler, settings.get("BILINGUAL_CHROMIUM", ""))

        async def look(url, markup):
            plain = Resource(200, {"content-type": "text/html; charset=utf-8"}, markup.encode())
            terms = Terms(
                url=url, plain=plain, read=read(url), languages=CODES,
                seconds=seconds, largest=1_000_000,
            )  # fmt: skip
            try:
                return await renderer.render(terms, IDENTITY)
            except RenderingFailedError as error:
                return error

        try:
            visits = [look(url, markup) for url, markup in pages.items()]
            return dict(zip(pages, await asyncio.gather(*visits), strict=True))
        finally:
            await renderer.close()

    return in_a_crawl(job, **settings)
