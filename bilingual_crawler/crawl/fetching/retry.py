"""Retries of temporary failures, with growing delays, or when the server says so."""

import time
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.misc import load_object
from scrapy.utils.response import response_status_message
from twisted.internet.task import deferLater

from bilingual_crawler.crawl.context import config_of
from bilingual_crawler.crawl.deadline import Interruptible
from bilingual_crawler.crawl.request_state import RequestState

MAX_DELAY = 600.0
MAX_RETRY_AFTER = 3600.0
MAX_WAIT = 10.0


def delay_of(attempt: int, first_delay: float, retry_after: bytes | None, now: float) -> float:
    """Return the seconds until the next attempt, after `attempt` failed ones.

    The delay doubles each time up to `MAX_DELAY`. A server that asks for more in
    `Retry-After` gets it, up to `MAX_RETRY_AFTER`.
    """
    doubled = min(first_delay * 2.0 ** min(attempt - 1, 30), MAX_DELAY)
    asked = min(_seconds(retry_after, now), MAX_RETRY_AFTER) if retry_after else 0.0
    return max(doubled, asked)


def _seconds(retry_after: bytes, now: float) -> float:
    """Return the seconds that a `Retry-After` header asks for; 0 if it is unreadable."""
    text = retry_after.decode("latin-1").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now
    except (ValueError, OverflowError):  # a number that no date has overflows
        return 0.0


class LaterRetry:
    """Downloader middleware that replaces Scrapy's `RetryMiddleware`, which retries at once.

    The settings are Scrapy's (RETRY_ENABLED, RETRY_TIMES, RETRY_HTTP_CODES,
    RETRY_EXCEPTIONS; `dont_retry` and `max_retry_times` in a request's meta). A retry has
    a time (`RequestState.not_before`), and the scheduler keeps it until then. Requests that a
    component waits for, such as robots.txt, do not pass through the scheduler; they wait here,
    for a short time.

    Order 550, the place of Scrapy's own: after redirects and decompression, and before anything
    is read from a page that is only an error.
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        if not settings.getbool("RETRY_ENABLED"):
            raise NotConfigured("RETRY_ENABLED is off")
        self._crawler = crawler
        self._interruptible = Interruptible(crawler)
        self._first_delay = config_of(crawler).retry_delay
        self._codes = frozenset(int(code) for code in settings.getlist("RETRY_HTTP_CODES"))
        self._passing = tuple(load_object(name) for name in settings.getlist("RETRY_EXCEPTIONS"))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware for a crawl."""
        return cls(crawler)

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        """Retry a page that the server cannot send now."""
        if response.status not in self._codes:
            return response
        reason = response_status_message(response.status)
        later = await self._later(request, reason, response.headers.get("Retry-After"))
        return later or response

    async def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Retry a page after a network failure."""
        if not isinstance(exception, self._passing):
            return None
        return await self._later(request, exception, None)

    async def _later(
        self, request: Request, reason: str | Exception, retry_after: bytes | None
    ) -> Request | None:
        if request.meta.get("dont_retry"):
            return None
        assert self._crawler.spider is not None
        again = get_retry_request(request, spider=self._crawler.spider, reason=reason)
        if again is None:
            return None
        now = time.time()
        delay = delay_of(again.meta["retry_times"], self._first_delay, retry_after, now)
        if request.callback is NO_CALLBACK:
            await self._interruptible.run(_wait(min(delay, MAX_WAIT)))
        else:
            RequestState.update(again, not_before=now + delay)
        return again


async def _wait(seconds: float) -> None:
    from twisted.internet import reactor  # noqa: PLC0415 - importing it installs one

    clock: Any = reactor
    await maybe_deferred_to_future(deferLater(clock, seconds))
