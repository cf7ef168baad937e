"""Chromium through scrapy-playwright: starts it, restarts it after a crash, and opens pages.

Its download handler is called directly, not through the downloader: the page has already been
fetched in the usual way, and so is everything that the browser loads. Every page has its own
context, so no page sees the cookies or the storage of another, and closing the context frees all
its memory.
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

from bilingual_crawler.crawl.browser.chromium import (
    ADVICE,
    CRASH,
    NoBrowserError,
    RenderingFailedError,
    StoppingError,
    launch_options,
)
from bilingual_crawler.crawl.browser.resources import ResourceLoader
from bilingual_crawler.crawl.browser.visit import CLOSING_SECONDS, Findings, Terms, Visit

logger = logging.getLogger(__name__)

MAX_PAGES = 2
"""Pages in the browser at the same time; each uses a processor while its scripts run."""
SLACK_SECONDS = 5.0
MAX_STARTS = 3
"""Attempts to start the browser before a run continues without it."""


class ChromiumProvider(PlaywrightBrowserProvider):
    """Starts the browser, or explains in one sentence why it does not start."""

    async def launch_browser(self) -> Browser:
        """Start the browser."""
        try:
            browser: Browser = await super().launch_browser()
        except PlaywrightError as error:
            said = error.message.partition("\n")[0][:200]
            raise NoBrowserError(f"Chromium does not start ({said}). {ADVICE}") from error
        return browser


class Renderer:
    """Renders pages, a few at a time; failures are `RenderingFailedError`s."""

    def __init__(self, crawler: Crawler, program: str) -> None:
        self._crawler = crawler
        self._program = program
        self._resources = ResourceLoader(crawler)
        self._places = asyncio.Semaphore(MAX_PAGES)
        self._starting = asyncio.Lock()
        self._handler: ScrapyPlaywrightDownloadHandler | None = None
        self._names = count()
        self._failed_starts = 0

    async def render(self, terms: Terms, identity: dict[str, Any]) -> Findings:
        """Visit a page in the browser; `identity` is how its context presents itself.

        A page that was lost in a crash is visited once more: another page may be to blame.
        """
        async with self._places:
            try:
                return await self._attempt(terms, identity)
            except RenderingFailedError as error:
                if error.reason != CRASH:
                    raise
            return await self._attempt(terms, identity)

    async def _attempt(self, terms: Terms, identity: dict[str, Any]) -> Findings:
        if terms.is_stopping():
            raise StoppingError
        if self._failed_starts >= MAX_STARTS:
            raise NoBrowserError("Chromium does not start; this run continues without it.")
        visit = Visit(terms, self._resources)
        try:
            async with asyncio.timeout(terms.seconds + SLACK_SECONDS):
                await self._visit(visit, terms, identity)
        except NoBrowserError:
            self._failed_starts += 1
            raise
        except StoppingError:
            raise
        except TimeoutError:
            _unless_read(visit, "timeout", "The page was not rendered in time.")
        except RenderingFailedError as error:
            _unless_read(visit, error.reason, error.detail)
        except Exception as error:  # noqa: BLE001 - whatever a browser does must not end the crawl
            said = str(error).partition("\n")[0][:200]
            _unless_read(visit, _reason(error), f"{type(error).__name__}: {said}")
        finally:
            await asyncio.shield(visit.end())
        return visit.found

    async def close(self) -> None:
        """Close the browser."""
        self._resources.close()
        if self._handler is not None:
            await _end(self._handler)

    async def _visit(self, visit: Visit, terms: Terms, identity: dict[str, Any]) -> None:
        """Open a page and wait for the visit; what the handler does after it is not needed."""
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
        opening = asyncio.ensure_future(handler.download_request(request))
        looking = asyncio.ensure_future(visit.looked.wait())
        try:
            await asyncio.wait((opening, looking), return_when=asyncio.FIRST_COMPLETED)
            if not looking.done():
                await opening
        finally:
            for task in (opening, looking):
                task.cancel()
            await asyncio.gather(opening, looking, return_exceptions=True)
        if visit.failure is not None:
            raise visit.failure

    async def _started(self) -> ScrapyPlaywrightDownloadHandler:
        """Return the handler with its browser; start both anew if the browser has died."""
        async with self._starting:
            browser = getattr(self._handler, "browser", None)
            if browser is not None and not browser.is_connected():
                await _end(self._handler)
                self._handler = None
            if self._handler is None:
                self._handler = await self._start()
            return self._handler

    async def _start(self) -> ScrapyPlaywrightDownloadHandler:
        logging.getLogger("scrapy-playwright").setLevel(logging.ERROR)  # we log the rest
        handler = ScrapyPlaywrightDownloadHandler(self._crawler)
        config = handler.config
        config.launch_options = launch_options(self._program) | config.launch_options
        config.restart_disconnected_browser = False
        config.target_closed_max_retries = 0
        handler.browser_provider = ChromiumProvider(config)
        await handler.browser_provider.start()
        return handler


async def _end(handler: ScrapyPlaywrightDownloadHandler) -> None:
    """Close a browser, whatever its state."""
    try:
        await asyncio.wait_for(handler.close(), CLOSING_SECONDS)
    except Exception as error:  # noqa: BLE001 - it may be dead already
        logger.debug("Chromium did not close cleanly: %s", error)


def _unless_read(visit: Visit, reason: str, detail: str) -> None:
    """Raise a failure, unless the page was read before it."""
    if visit.found.page is None:
        raise RenderingFailedError(reason, detail)


def _reason(error: Exception) -> str:
    is_gone = "crash" in str(error) or "closed" in str(error)
    return CRASH if isinstance(error, PlaywrightError) and is_gone else "error"
