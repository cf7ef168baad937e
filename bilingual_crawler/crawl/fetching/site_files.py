"""Files about a site rather than pages of it: robots.txt, tdmrep.json, sitemaps.

What they say is fetched once for all pages of a site and cached for a while. A crawl may see a
hundred thousand hosts, each of which may send large files, so the cache is limited in bytes, and
the least recently used entry goes first. It is fetched again when it is needed, through the
host's slot and with its delay, like any request.
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
FRESH_SECONDS = 24 * 3600.0
"""How long a file about a site stays valid (RFC 9309, section 2.4)."""
ASK_AGAIN_SECONDS = 5.0
"""How long a failure to fetch a file is remembered."""
ENTRY_BYTES = 500
"""The size of an entry besides its content."""
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


def is_site_file(request: Request) -> bool:
    """Return True if a request is for a file about the site, of any media type.

    Such a file is read for what it says about pages: its own type and its own opt-outs do not
    matter. Requests that Scrapy's components make for themselves have no callback; a spider
    marks its own with `RequestState(site_file=True)`.
    """
    return request.callback is NO_CALLBACK or RequestState.of(request).site_file


def is_page(request: Request, response: Response) -> bool:
    """Return True if a response is a page: no site file, no error, no redirect."""
    return response.status in SUCCESS and not is_site_file(request)


def file_request(path: str, request: Request, **meta: Any) -> Request:
    """Return a request for a file about another request's site, with its name and proxy."""
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
    """Return the URL that was requested first, before any redirect."""
    url: str = (request.meta.get("redirect_urls") or [request.url])[0]
    return url


def cannot_answer(response: Response) -> bool:
    """Return True if a server cannot say for now whether it has a file about its site.

    This is not the same as saying that there is no file (RFC 9309, section 2.3.1.4).
    """
    busy = response.status == HTTPStatus.TOO_MANY_REQUESTS
    return busy or response.status >= HTTPStatus.INTERNAL_SERVER_ERROR


class Kept(NamedTuple, Generic[Value]):
    """A value with its size in bytes, and for how many seconds it is valid."""

    value: Value
    size: int
    seconds: float = FRESH_SECONDS


class LeastRecentlyUsed(Generic[Key, Value]):
    """A mapping of at most `limit` bytes, which forgets the least recently used entries."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._entries: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self.size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> Value | None:
        """Return the value of a key and mark it as used; None if there is none."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: Key, value: Value, size: int) -> None:
        """Keep a value of `size` bytes, and forget others if there is no room."""
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
    """A cache that fetches values on demand, once for all callers that wait for one."""

    def __init__(self, limit: int) -> None:
        self._kept: LeastRecentlyUsed[Key, tuple[Value, float]] = LeastRecentlyUsed(limit)
        self._coming: dict[Key, Deferred[None]] = {}

    async def get(self, key: Key, fetch: Callable[[], Awaitable[Kept[Value]]]) -> Value:
        """Return the value of a key, cached or fetched now.

        If a fetch raises, only its own caller sees that; the next waiting caller tries again.
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
