"""The extension that ends a crawl within BILINGUAL_STOP_SECONDS of SIGTERM or Ctrl-C.

Scrapy stops gracefully: it waits for every page under way. A server that never answers, a
look-up that hangs or a slow model could hold it up for minutes, and systemd, Docker or scrapyd
would kill it meanwhile. So pages that do not arrive in time go back to the queue, and a thread
exits the process if all else fails. Then, as after a second signal, the last checkpoint is
valid: at most one second of work is repeated.
"""

import logging
import os
import signal
import sys
import threading
import time
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.crawler import Crawler, CrawlerProcessBase
from scrapy.utils.asyncio import call_later
from scrapy.utils.log import get_scrapy_root_handler

from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.crawl.deadline import ALL, ANSWERS
from bilingual_crawler.crawl.signals import crawl_failed, stop_deadline_passed
from bilingual_crawler.errors import is_command

if TYPE_CHECKING:
    from collections.abc import Callable


logger = logging.getLogger(__name__)

SIGNALS = (signal.SIGTERM, signal.SIGINT)
LOOK_SECONDS = 0.1
SECOND_SIGNAL_SECONDS = 1.0
LAST_WORDS_SECONDS = 0.3


class GracefulStop:
    """Starts the countdown at the first signal, besides Scrapy's own handling of it.

    Does nothing in a program that runs crawls and has its own signal handlers.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._deadline = Crawl.of(crawler).deadline
        self._process: CrawlerProcessBase | None = None
        self._hurry_at: float | None = None
        self._over = False
        self._failure = ""
        crawler.signals.connect(self._opened, signal=signals.spider_opened)
        crawler.signals.connect(self._note_failure, signal=crawl_failed)
        crawler.signals.connect(self._stopped, signal=signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension of a crawl."""
        return cls(crawler)

    def _opened(self) -> None:
        """Wait until the event loop runs, because Scrapy's signal handlers are in place then."""
        call_later(0, self._watch)

    def _note_failure(self, sentence: str) -> None:
        self._failure = self._failure or sentence

    def _stopped(self) -> None:
        """Make the process exit with status 1 if the crawl could not be written.

        A log file may be on the same full disk, so the reason is also printed here.
        """
        self._over = True
        if self._failure and self._process is not None:
            self._process.bootstrap_failed = True
            if isinstance(get_scrapy_root_handler(), logging.FileHandler):
                sys.stderr.write(f"{self._failure}\n")

    def _watch(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        self._process = _scrapys_process(signal.getsignal(SIGNALS[0]))
        if self._process is not None:
            if self._crawler.crawling:
                self._put_before(self._first_signal)
            else:  # a signal came while the crawl was being opened, which may take long
                self._begin()
            threading.Thread(target=self._guard, name="stopping", daemon=True).start()

    def _put_before(self, ours: "Callable[[Any, int, FrameType | None], None]") -> None:
        """Install a handler for both signals; it calls the one that was there before."""
        for each in SIGNALS:
            theirs = signal.getsignal(each)
            if _scrapys_process(theirs) is not None:
                signal.signal(each, partial(ours, theirs))

    def _first_signal(self, theirs: Any, number: int, frame: FrameType | None) -> None:
        """Start to stop. Nothing is logged here, since the signal may interrupt a log line."""
        theirs(number, frame)
        self._begin()

    def _begin(self) -> None:
        from twisted.internet import reactor  # noqa: PLC0415 - importing it installs one

        self._deadline.set()
        self._put_before(self._second_signal)
        loop: Any = reactor
        loop.callFromThread(call_later, ANSWERS * self._deadline.seconds, self._give_up)

    def _second_signal(self, theirs: Any, number: int, frame: FrameType | None) -> None:
        """Exit soon, even if Scrapy does not manage to."""
        self._hurry_at = time.monotonic() + SECOND_SIGNAL_SECONDS
        theirs(number, frame)

    def _give_up(self) -> None:
        """Stop waiting for servers."""
        if not self._over:
            self._crawler.signals.send_catch_log(stop_deadline_passed)

    def _guard(self) -> None:
        """Exit the process when the time is up; on a thread, because the event loop may hang."""
        while not self._is_time():
            time.sleep(LOOK_SECONDS)
        if self._over:
            if not is_command():
                return
        else:
            threading.Thread(target=_log_last_words, daemon=True).start()
            time.sleep(LAST_WORDS_SECONDS)
        os._exit(1 if self._failure or not self._over else 0)

    def _is_time(self) -> bool:
        hurry_at = self._hurry_at
        return self._deadline.is_over(ALL) or (
            hurry_at is not None and time.monotonic() >= hurry_at
        )


def _log_last_words() -> None:
    """Log why the process exits; on its own thread, because writing the log may hang too."""
    logger.warning(
        "The crawl could not end in time: the process exits now; the last checkpoint is kept."
    )


def _scrapys_process(handler: Any) -> CrawlerProcessBase | None:
    """Return Scrapy's process object if the signal handler is one of its methods."""
    owner = getattr(handler, "__self__", None)
    return owner if isinstance(owner, CrawlerProcessBase) else None
