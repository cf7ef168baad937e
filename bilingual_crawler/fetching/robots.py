"""robots.txt, read by Scrapy's own middleware, for any number of requests at once."""

import logging
import time
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.robotstxt import RobotParser
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred

from bilingual_crawler.fetching.refusal import RobotsUnavailableError

SERVER_ERROR = 500
ASK_AGAIN_SECONDS = 5.0


class Unavailable(RobotParser):
    """The rules of a host whose robots.txt cannot be had: nothing may be fetched for now."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.until = time.monotonic() + ASK_AGAIN_SECONDS

    @classmethod
    def from_crawler(cls, crawler: Crawler, robotstxt_body: bytes) -> Self:  # noqa: ARG003
        """Only for the sake of the base class."""
        return cls(RobotsUnavailableError(robotstxt_body.decode("latin-1")))

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:  # noqa: ARG002
        """Fail as robots.txt failed, so that the page is retried like any other failure."""
        raise self.error


def _without_traceback(record: logging.LogRecord) -> bool:
    """A host that cannot be reached is worth a line, not the twenty of a traceback."""
    if record.exc_info:
        record.exc_info = None
        record.levelno, record.levelname = logging.WARNING, "WARNING"
    return True


class RobotsTxt(RobotsTxtMiddleware):
    """Scrapy's middleware with two gaps closed.

    Requests that wait for the same robots.txt all wait for one Deferred, whose result
    goes to the first of them alone; the others get nothing, which counts as no robots.txt,
    and fetch what it forbids. Here each looks at what has arrived instead.

    A robots.txt that cannot be had because of the server or the network (RFC 9309 calls
    it unreachable) forbids everything; Scrapy takes it for none. The pages are retried
    later, and robots.txt is asked for again then. A robots.txt that does not exist
    forbids nothing.

    Order 100 with Scrapy's own class switched off, after `AddressGuard`.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        logging.getLogger(RobotsTxtMiddleware.__module__).addFilter(_without_traceback)

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """The rules of the request's host, None if it has none."""
        netloc = urlparse_cached(request).netloc
        known = self._parsers.get(netloc)
        if isinstance(known, Unavailable) and time.monotonic() > known.until:
            del self._parsers[netloc]
        await super().robot_parser(request)
        arrived = self._parsers[netloc]
        assert not isinstance(arrived, Deferred)
        return arrived

    async def _parse_robots(self, response: Response, netloc: str, request: Request) -> None:
        if response.status >= SERVER_ERROR:
            self._robots_error(RobotsUnavailableError(f"status {response.status}"), netloc)
        else:
            await super()._parse_robots(response, netloc, request)

    def _robots_error(self, exc: Exception, netloc: str) -> None:
        super()._robots_error(exc, netloc)
        if not isinstance(exc, IgnoreRequest):
            self._parsers[netloc] = Unavailable(exc)
