"""Files about a site rather than pages of it: robots.txt, tdmrep.json, sitemaps.

What is known of sites, within bounds: fetched once for all who need it, then kept for a while.

A crawl may see a hundred thousand hosts, and each may send as much as it is allowed to. So what
is kept has a size, the total has a limit, and what has not been used for longest goes first. It
is fetched again when it is needed again, through the host's slot and its delay like any request.
"""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from http import HTTPStatus
from typing import Any, Generic, NamedTuple, TypeVar

from scrapy import Request
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred

from bilingual_crawler.crawl.request_state import RequestState

SUCCESS = range(200, 300)


def is_site_file(request: Request) -> bool:
    """Whether a request is for a file about the site, of any media type.

    Such a file is read for what it says about pages: its own type and its own opt-outs
    from indexing do not matter. Requests that Scrapy's components make for themselves
    have no callback; a spider marks its own with `RequestState(site_file=True)`.
    """
    return request.callback is NO_CALLBACK or RequestState.of(request).site_file


def is_page(request: Request, response: Response) -> bool:
    """Whether a response is a page of a site: no file about it, no error, no redirect."""
    return response.status in SUCCESS and not is_site_file(request)


def file_request(path: str, request: Request, **meta: Any) -> Request:
    """A request for a file about the site of another one: under its name, through its proxy."""
    parts = urlparse_cached(request)
    url = f"{parts.scheme}://{parts.netloc}{path}"
    file = Request(url, callback=NO_CALLBACK, meta={"dont_obey_robotstxt": True, **meta})
    if "proxy" in request.meta:
        file.meta["proxy"] = request.meta["proxy"]
    for header in ("User-Agent", "Proxy-Authorization"):
        if header in request.headers:
            file.headers[header] = request.headers[header]
    return file


def asked_url(request: Request) -> str:
    """The URL that was asked for first, before any redirect."""
    url: str = (request.meta.get("redirect_urls") or [request.url])[0]
    return url


def cannot_answer(response: Response) -> bool:
    """Whether a server cannot say for now whether it has a file about its site.

    That is no answer (RFC 9309, section 2.3.1.4), unlike one that says there is no file.
    """
    busy = response.status == HTTPStatus.TOO_MANY_REQUESTS
    return busy or response.status >= HTTPStatus.INTERNAL_SERVER_ERROR


FRESH_SECONDS = 24 * 3600.0
"""How long a file about a site holds (RFC 9309, section 2.4)."""
ASK_AGAIN_SECONDS = 5.0
"""How long it holds that a file cannot be had."""
ENTRY_BYTES = 500
"""What an entry takes beside its content."""

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Kept(NamedTuple, Generic[Value]):
    """A value with the bytes that it takes, and how many seconds it holds."""

    value: Value
    size: int
    seconds: float = FRESH_SECONDS


class LeastRecentlyUsed(Generic[Key, Value]):
    """A mapping that forgets what was used longest ago when it takes more than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._entries: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self.size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> Value | None:
        """The value of a key, which is the last to be forgotten now; None if there is none."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: Key, value: Value, size: int) -> None:
        """Keep a value of `size` bytes, and forget others if that is too much."""
        self.forget(key)
        self._entries[key] = value, size + ENTRY_BYTES
        self.size += size + ENTRY_BYTES
        while self.size > self._limit and len(self._entries) > 1:
            self.forget(next(iter(self._entries)))

    def forget(self, key: Key) -> None:
        """Forget a key, if it is known."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.size -= entry[1]


class SiteCache(Generic[Key, Value]):
    """Values that are fetched when they are first needed; all who need one wait for one fetch."""

    def __init__(self, limit: int) -> None:
        self._kept: LeastRecentlyUsed[Key, tuple[Value, float]] = LeastRecentlyUsed(limit)
        self._coming: dict[Key, Deferred[None]] = {}

    async def get(self, key: Key, fetch: Callable[[], Awaitable[Kept[Value]]]) -> Value:
        """The value of a key, kept from before or fetched now.

        A fetch that raises does so for its own caller; the next of those who wait tries again.
        """
        while key in self._coming:
            await maybe_deferred_to_future(self._coming[key])
        known = self._kept.get(key)
        if known is not None and time.monotonic() < known[1]:
            return known[0]
        arrival = self._coming[key] = Deferred()
        try:
            value, size, seconds = await fetch()
            self._kept.put(key, (value, time.monotonic() + seconds), size)
        finally:
            del self._coming[key]
            arrival.callback(None)
        return value
