"""Waiting for others that ends when the crawl can wait no longer."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from scrapy.crawler import Crawler
from scrapy.utils.asyncio import is_asyncio_available

from bilingual_crawler.crawl.fetching.refusal import Refused
from bilingual_crawler.crawl.signals import stop_deadline_passed

INTERRUPTED = "interrupted"

Result = TypeVar("Result")


def interruption() -> Refused:
    """What a page fails with that was under way; it has not ended and goes back to the queue."""
    return Refused(INTERRUPTED, "The crawl was stopped before the page was there.")


class Interruptible:
    """Runs coroutines that are broken off by the signal `stop_deadline_passed`.

    From then on nothing is begun any more: each new one fails at once.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._running: set[asyncio.Task[Any]] = set()
        self._over = False
        crawler.signals.connect(self._interrupt, signal=stop_deadline_passed)

    async def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The result of some work, or `Refused` with the reason "interrupted"."""
        if self._over:
            work.close()
            raise interruption()
        if not is_asyncio_available():
            return await work
        task = asyncio.ensure_future(work)
        self._running.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if self._over:
                raise interruption() from None
            raise
        finally:
            self._running.discard(task)

    def _interrupt(self) -> None:
        self._over = True
        for task in list(self._running):
            task.cancel()
