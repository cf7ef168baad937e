"""Backlink providers during the crawl, queried no more often than they allow."""

import logging
import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Protocol

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.asyncio import sleep
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import DeferredLock
from twisted.python.failure import Failure

from bilingual_crawler.config.discovery import SourceSpec
from bilingual_crawler.crawl.background import BackgroundThread
from bilingual_crawler.crawl.fetching.failures import reason_of, status_key
from bilingual_crawler.discovery.backlinks import (
    BACKLINK_PLUGINS,
    BacklinkProvider,
    LinkFile,
    WebGraph,
    question,
    read_answer,
    valid_addresses,
)

logger = logging.getLogger(__name__)

SETTING = "BILINGUAL_BACKLINKS"


class Provider(Protocol):
    """A source of backlinks; if it fails, it returns nothing and logs that."""

    async def ask(self, url: str, site: str, most: int) -> list[str]:
        """Return URLs of pages that link to a page or its site."""

    def close(self) -> None:
        """Release all resources."""


class _Failures:
    """Counts the failed queries of a source, and logs the first of them."""

    def __init__(self, crawler: Crawler, source: str) -> None:
        self._crawler = crawler
        self._source = source
        self._warned = False

    def add(self, reason: str, detail: str) -> None:
        """Count a failure."""
        assert self._crawler.stats is not None
        self._crawler.stats.inc_value(f"bilingual/discovery/backlinks/failed/{reason}")
        if not self._warned:
            self._warned = True
            logger.warning("No backlinks from %s (%s) %s", self._source, reason, detail)


class ThreadProvider:
    """Queries a provider that may block, on its own thread."""

    def __init__(self, crawler: Crawler, backlinks: BacklinkProvider) -> None:
        self._backlinks = backlinks
        self._thread = BackgroundThread()
        self._failures = _Failures(crawler, type(backlinks).__name__)

    async def ask(self, url: str, site: str, most: int) -> list[str]:  # noqa: ARG002 - by site
        """Look up a site; invalid addresses are left out."""
        async with self._thread:
            try:
                return await self._thread.run(self._read, site, most)
            except Exception as error:  # noqa: BLE001 - a user's class must not end the crawl
                self._failures.add("raised", f"{type(error).__name__}: {error}")
                return []

    def _read(self, site: str, most: int) -> list[str]:
        return valid_addresses(self._backlinks.sources_of(site, most), most)

    def close(self) -> None:
        """Stop the thread and close the provider."""
        self._thread.stop()
        self._backlinks.close()


class HttpProvider:
    """Queries an HTTP API through the crawler's own downloader.

    So the address guard, robots.txt of the API's host, timeouts and size limits apply. The
    delay between two queries is the longer one of the host's and ours.
    """

    def __init__(self, crawler: Crawler, template: str, delay: float) -> None:
        self._crawler = crawler
        self._template = template
        self._delay = delay
        self._turn = DeferredLock()
        self._next = 0.0
        self._failures = _Failures(crawler, template.split("/")[2])

    async def ask(self, url: str, site: str, most: int) -> list[str]:
        """Query the API when the turn comes."""
        await maybe_deferred_to_future(self._turn.acquire())
        try:
            await sleep(max(self._next - time.monotonic(), 0.0))
            self._next = time.monotonic() + self._delay
            return await self._ask(question(self._template, url, site), most)
        finally:
            self._turn.release()

    async def _ask(self, address: str, most: int) -> list[str]:
        request = Request(address, callback=NO_CALLBACK, meta={"dont_retry": True})
        assert self._crawler.engine is not None
        try:
            response = await self._crawler.engine.download_async(request)
            if response.status != HTTPStatus.OK:
                return self._failed(f"http_{status_key(response.status)}", "")
            return read_answer(self._template, response.body, most)
        except ValueError as error:
            return self._failed("bad_answer", str(error))
        except Exception as error:  # noqa: BLE001 - whatever a server does must not end the crawl
            return self._failed(*reason_of(error))

    def _failed(self, reason: str, detail: str) -> list[str]:
        self._failures.add(reason, detail)
        return []

    def close(self) -> None:
        """Do nothing: there are no resources to release."""


def make_provider(spec: SourceSpec, crawler: Crawler, delay: float) -> Provider:
    """Return the provider of a source; a file is indexed now, if necessary."""
    if spec.kind == "http":
        return HttpProvider(crawler, spec.place, delay)
    return ThreadProvider(crawler, _blocking_provider(spec))


def _blocking_provider(spec: SourceSpec) -> BacklinkProvider:
    path = Path(spec.place).expanduser()
    if spec.kind == "links":
        return LinkFile(path)
    if spec.kind == "webgraph":
        return WebGraph(path)
    made: BacklinkProvider = BACKLINK_PLUGINS.make(spec.place, SETTING)
    return made


class BacklinkQueries:
    """Queries all providers for the backlinks of sites while the crawl goes on."""

    def __init__(self, providers: Sequence[Provider], most: int) -> None:
        self._providers = providers
        self._most = most
        self.open = 0
        """The number of sites for which not every provider has answered."""

    def ask(
        self,
        url: str,
        site: str,
        answered: Callable[[list[str]], None],
        done: Callable[[], None],
    ) -> None:
        """Call `answered` with each provider's result, and `done` after the last one."""
        self.open += 1
        asking = deferred_from_coro(self._ask(url, site, answered, done))
        asking.addBoth(self._ended)

    async def _ask(
        self,
        url: str,
        site: str,
        answered: Callable[[list[str]], None],
        done: Callable[[], None],
    ) -> None:
        for provider in self._providers:
            answered(await provider.ask(url, site, self._most))
        done()

    def _ended(self, result: object) -> None:
        self.open -= 1
        if isinstance(result, Failure):
            logger.error("A query for backlinks failed: %s", result.getTraceback())

    def close(self) -> None:
        """Close all providers."""
        for provider in self._providers:
            provider.close()
