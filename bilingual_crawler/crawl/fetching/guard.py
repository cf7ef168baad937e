"""The first question to every request: whether it is for the open web at all.

This middleware answers what can be told from the URL alone, before even robots.txt is
asked for. What a name leads to is answered where the connection is made: `handler`.
"""

from typing import Self
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler

from bilingual_crawler.crawl.context import config_of
from bilingual_crawler.crawl.fetching.addresses import is_open_host
from bilingual_crawler.crawl.fetching.refusal import Refused


def check_url(url: str, *, allow_private: bool) -> None:
    """Raise `Refused` for a URL that is not of the open web.

    Only http and https are fetched, and only from hosts that are not plainly private.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise Refused("bad_url", "The address of the page cannot be read.") from None
    if parts.scheme not in {"http", "https"}:
        raise Refused("bad_url", "Only http and https addresses are fetched.")
    if not host:
        raise Refused("bad_url", "The address of the page names no host.")
    if not allow_private and not is_open_host(host):
        raise private_address(host)


def private_address(host: str) -> Refused:
    """The refusal of a host that is not on the open web, with the way to allow it."""
    return Refused(
        "private_address",
        f"{host[:100]} is not on the open web; BILINGUAL_ALLOW_PRIVATE=1 allows such hosts.",
    )


class AddressGuard:
    """Downloader middleware that refuses URLs that lead elsewhere than to the open web.

    Order 30: before every other middleware, so that nothing is asked of a refused host,
    its robots.txt included. Redirects come through here like any other request, and so
    do the requests for robots.txt and tdmrep.json.
    """

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware for a crawl."""
        return cls(allow_private=config_of(crawler).allow_private)

    async def process_request(self, request: Request) -> None:
        """Let a request for the open web pass."""
        check_url(request.url, allow_private=self._allow_private)
