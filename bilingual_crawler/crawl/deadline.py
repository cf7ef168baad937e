"""How long a crawl may still take that was told to stop.

A stop has stages, each with its share of the time: pages under way may arrive, the files are
put in order, and in the end the process is gone, whatever still holds it up. What a stage did
not get done is done when the crawl goes on.

Waiting for others that ends when the crawl can wait no longer.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from scrapy.crawler import Crawler
from scrapy.utils.asyncio import is_asyncio_available

from bilingual_crawler.crawl.fetching.failures import Refused
from bilingual_crawler.crawl.signals import stop_deadline_passed

ANSWERS = 0.4
"""The share of the time in which servers may still answer."""
ORDER = 0.7
"""The share by which the files should be in order."""
ALL = 0.95
"""The share after which the process ends."""


class OutOfTimeError(Exception):
    """Something that is worth doing at the end of a crawl cannot be done in time."""


class StopDeadline:
    """Without limit, until somebody says stop; may be asked and told from any thread.

    It is told in a signal handler, so there is no lock in it.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._told_at: float | None = None

    @property
    def told(self) -> bool:
        """Whether somebody has said stop."""
        return self._told_at is not None

    def tell(self) -> None:
        """Say stop; once is enough."""
        if self._told_at is None:
            self._told_at = self._clock()

    def is_over(self, share: float = 1.0) -> bool:
        """Whether this share of the time has passed."""
        told_at = self._told_at
        return told_at is not None and self._clock() - told_at >= share * self.seconds

    def check(self) -> None:
        """Raise OutOfTimeError when the files should be in order by now."""
        if self.is_over(ORDER):
            raise OutOfTimeError


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
