"""robots.txt, read by Scrapy's own middleware, for any number of requests at once."""

from scrapy import Request
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.robotstxt import RobotParser
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred


class RobotsTxt(RobotsTxtMiddleware):
    """Scrapy's middleware with one gap closed: requests that wait for the same robots.txt.

    They all wait for one Deferred, whose result goes to the first of them alone; the
    others get nothing, which counts as no robots.txt, and fetch what it forbids. Here
    each looks at what has arrived instead.

    Order 100 with Scrapy's own class switched off, after `AddressGuard`. As in Scrapy, a
    robots.txt that cannot be had (errors of the server, time-outs) forbids nothing.
    """

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """The rules of the request's host, None if it has none."""
        await super().robot_parser(request)
        arrived = self._parsers[urlparse_cached(request).netloc]
        assert not isinstance(arrived, Deferred)
        return arrived
