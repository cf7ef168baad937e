"""Chromium through scrapy-playwright: it starts it, again after a crash, and opens pages.

Its download handler is asked directly, not through the downloader: the page has been fetched by
then, by the usual way, and what the browser asks for goes that way too. Every page has a context
of its own, so no page sees the cookies or the storage of another, and nothing piles up in the
browser: closing the context frees all that the page took.
"""

import asyncio
import logging
from itertools import count
from typing import Any

from playwright.async_api import Browser
from playwright.async_api import Error as PlaywrightError
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler
from scrapy_playwright.page import PageMethod
from scrapy_playwright.provider import PlaywrightBrowserProvider

from bilingual_crawler.fetching.browser.chromium import ADVICE, launch_options
from bilingual_crawler.fetching.browser.failure import NoBrowserError, RenderingFailedError
from bilingual_crawler.fetching.browser.supply import Supply
from bilingual_crawler.fetching.browser.visit import Findings, Terms, Visit

logger = logging.getLogger(__name__)

AT_ONCE = 2
"""Pages in the browser at the same time; each takes a processor while its scripts run."""
SLACK_SECONDS = 5.0
MOST_STARTS = 3
"""Attempts to start the browser before a run goes on without it."""


class ChromiumProvider(PlaywrightBrowserProvider):  # type: ignore[misc] # it has no types
    """Starts the browser, or says in a sentence why it does not start."""

    async def launch_browser(self) -> Browser:
        """Start the browser."""
        try:
            browser: Browser = await super().launch_browser()
        except PlaywrightError as error:
            said = error.message.partition("\n")[0][:200]
            raise NoBrowserError(f"Chromium does not start ({said}). {ADVICE}") from error
        return browser


class Renderer:
    """Renders pages, a few at a time; what goes wrong is a `RenderingFailedError`."""

    def __init__(self, crawler: Crawler, program: str) -> None:
        self._crawler = crawler
        self._program = program
        self._supply = Supply(crawler)
        self._places = asyncio.Semaphore(AT_ONCE)
        self._starting = asyncio.Lock()
        self._handler: ScrapyPlaywrightDownloadHandler | None = None
        self._names = count()
        self._failed_starts = 0

    async def render(self, terms: Terms, identity: dict[str, Any]) -> Findings:
        """Look at a page in the browser; `identity` is how its context presents itself."""
        async with self._places:
            if self._failed_starts >= MOST_STARTS:
                raise NoBrowserError("Chromium does not start; this run goes on without it.")
            visit = Visit(terms, self._supply)
            try:
                async with asyncio.timeout(terms.seconds + SLACK_SECONDS):
                    await self._visit(visit, terms, identity)
            except NoBrowserError:
                self._failed_starts += 1
                raise
            except TimeoutError:
                self._unless_read(visit, "timeout", "The page was not rendered in time.")
            except PlaywrightError as error:
                self._unless_read(visit, _reason(error), error.message.partition("\n")[0][:200])
            finally:
                await asyncio.shield(visit.end())
            return visit.found

    async def close(self) -> None:
        """End the browser."""
        self._supply.close()
        if self._handler is not None:
            await self._handler.close()

    async def _visit(self, visit: Visit, terms: Terms, identity: dict[str, Any]) -> None:
        handler = await self._started()
        milliseconds = terms.seconds * 1000
        request = Request(
            terms.url,
            meta={
                "playwright": True,
                "playwright_context": f"page {next(self._names)}",
                "playwright_context_kwargs": identity,
                "playwright_page_init_callback": visit.begin,
                "playwright_page_goto_kwargs": {"wait_until": "commit", "timeout": milliseconds},
                "playwright_page_methods": [PageMethod(visit.look)],
            },
        )
        await handler.download_request(request)

    async def _started(self) -> ScrapyPlaywrightDownloadHandler:
        async with self._starting:
            if self._handler is None:
                handler = ScrapyPlaywrightDownloadHandler(self._crawler)
                options = launch_options(self._program)
                handler.config.launch_options = options | handler.config.launch_options
                handler.browser_provider = ChromiumProvider(handler.config)
                await handler.browser_provider.start()
                self._handler = handler
            return self._handler

    @staticmethod
    def _unless_read(visit: Visit, reason: str, detail: str) -> None:
        """A failure is one only if the page had not been read before."""
        if visit.found.document is None:
            raise RenderingFailedError(reason, detail)


def _reason(error: PlaywrightError) -> str:
    return "crash" if "crash" in error.message or "closed" in error.message else "error"
