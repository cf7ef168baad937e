"""How long a crawl may still take after it was asked to stop, and how waiting is interrupted.

A stop has stages, each with its share of the time: pages under way may still arrive, the files
are tidied, and in the end the process exits, whatever holds it up. What a stage did not finish
is done when the crawl is resumed.
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
TIDY = 0.7
"""The share after which the files should be tidy."""
ALL = 0.95
"""The share after which the process exits."""
INTERRUPTED = "interrupted"
Result = TypeVar("Result")


class OutOfTimeError(Exception):
    """The last steps of a crawl cannot be finished in time."""


class StopDeadline:
    """The time left after a request to stop; without such a request there is no limit.

    Any thread may use it. It has no lock, because a signal handler sets it.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._stopped_at: float | None = None

    @property
    def is_set(self) -> bool:
        """Whether the crawl was asked to stop."""
        return self._stopped_at is not None

    def set(self) -> None:
        """Start the countdown, unless it has started already."""
        if self._stopped_at is None:
            self._stopped_at = self._clock()

    def is_over(self, share: float = 1.0) -> bool:
        """Return True if this share of the time has passed."""
        stopped_at = self._stopped_at
        return stopped_at is not None and self._clock() - stopped_at >= share * self.seconds

    def check(self) -> None:
        """Raise OutOfTimeError if the files should be tidy by now."""
        if self.is_over(TIDY):
            raise OutOfTimeError


def interruption() -> Refused:
    """Return the error of a page that was under way; its URL goes back to the queue."""
    return Refused(INTERRUPTED, "The crawl was stopped before the page arrived.")


class Interruptible:
    """Runs coroutines until the signal `stop_deadline_passed`, which cancels them.

    After the signal each new one fails at once.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._running: set[asyncio.Task[Any]] = set()
        self._over = False
        crawler.signals.connect(self._interrupt, signal=stop_deadline_passed)

    async def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Return the result of some work, or raise `Refused` with the reason "interrupted"."""
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
