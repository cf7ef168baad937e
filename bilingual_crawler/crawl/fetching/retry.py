"""Failures that may pass are tried again, later each time, and when the server says so."""

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

LONGEST_DELAY = 600.0
LONGEST_WISH = 3600.0
LONGEST_WAIT = 10.0


def delay_of(attempt: int, first_delay: float, retry_after: bytes | None, now: float) -> float:
    """Seconds until the next attempt, after `attempt` failed ones.

    The delay doubles each time up to `LONGEST_DELAY`. A server that asks for more in
    `Retry-After` is given it, up to `LONGEST_WISH`.
    """
    doubled = min(first_delay * 2.0 ** min(attempt - 1, 30), LONGEST_DELAY)
    wish = min(_seconds(retry_after, now), LONGEST_WISH) if retry_after else 0.0
    return max(doubled, wish)


def _seconds(retry_after: bytes, now: float) -> float:
    """What a `Retry-After` header asks for: a number of seconds or a date; 0 if unreadable."""
    text = retry_after.decode("latin-1").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now
    except (ValueError, OverflowError):  # a number that no date has overflows rather than fails
        return 0.0


class LaterRetry:
    """Downloader middleware in the place of Scrapy's `RetryMiddleware`, which retries at once.

    The settings are Scrapy's (RETRY_ENABLED, RETRY_TIMES, RETRY_HTTP_CODES,
    RETRY_EXCEPTIONS; `dont_retry` and `max_retry_times` in a request's meta). A request
    that is tried again says when (`RequestState.not_before`), and the scheduler keeps it
    until then. Requests that a component waits
    for (robots.txt) do not pass the scheduler; they wait here, for a short time.

    Order 550, the place of Scrapy's own: behind redirects and unpacking, and before
    anything is read out of a page that is only an error.
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
        """Try a page again that the server cannot give now."""
        if response.status not in self._codes:
            return response
        reason = response_status_message(response.status)
        later = await self._later(request, reason, response.headers.get("Retry-After"))
        return later or response

    async def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Try a page again after a failure of the network."""
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
            await self._interruptible.run(_wait(min(delay, LONGEST_WAIT)))
        else:
            RequestState.update(again, not_before=now + delay)
        return again


async def _wait(seconds: float) -> None:
    from twisted.internet import reactor  # noqa: PLC0415 - importing it installs one

    clock: Any = reactor
    await maybe_deferred_to_future(deferLater(clock, seconds))
