"""The resources of pages in the browser: which ones are loaded, fetched by the crawler itself.

A page may load what its text is made of: scripts and their data. Such a resource goes through
the same middlewares and slots as a page, so robots.txt, the delay of its host, the guard against
private addresses and all limits apply. It is fetched once, however many pages need it, as long as
it is among the most recently used.
"""

import asyncio
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from bilingual_crawler.crawl.fetching.failures import reason_of
from bilingual_crawler.crawl.fetching.identity import robot_of
from bilingual_crawler.crawl.fetching.optouts import CLOSED, header_opt_outs, opt_out_of
from bilingual_crawler.crawl.fetching.site_files import LeastRecentlyUsed
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.urls.hosts import host_of, site_of

FETCHED = frozenset(("script", "xhr", "fetch"))
TRACKERS = frozenset(
    (
        *("google-analytics.com", "googletagmanager.com", "doubleclick.net", "hotjar.com"),
        *("googlesyndication.com", "googleadservices.com", "facebook.net", "facebook.com"),
        *("clarity.ms", "newrelic.com", "nr-data.net", "sentry.io", "segment.com", "mixpanel.com"),
        *("cookiebot.com", "onetrust.com", "cookielaw.org", "addthis.com", "sharethis.com"),
        *("linkedin.com", "twitter.com", "tiktok.com", "criteo.com", "cloudflareinsights.com"),
    )
)
"""Sites whose scripts count readers, advertise or ask for consent, and add no text."""
MAX_BYTES = 10_000_000
"""Size of one resource."""
MAX_KEPT = 32_000_000
"""Bytes of all cached resources."""
_DROPPED_HEADERS = frozenset(
    (
        *("connection", "content-encoding", "content-length", "keep-alive", "set-cookie"),
        *("transfer-encoding", "strict-transport-security", "alt-svc", "link", "report-to"),
    )
)
_KEY_HEADERS = ("Accept-Language", "Cookie")
"""Request headers that may change the response of an address."""
Key = tuple[str, ...]


class Treatment(Enum):
    """What the browser gets when it requests a resource."""

    FETCH = "fetch"
    EMPTY = "empty"
    REFUSE = "refuse"


def treatment_of(kind: str, method: str, url: str) -> Treatment:
    """Return how to treat a request of `kind`, as browsers call it (script, image, font, ...).

    Scripts and their data are fetched, with GET only: a crawler does not send data. A style
    sheet is replaced by an empty one, because pages wait for theirs and some give up without it.
    Images, fonts, media, frames, beacons and streams are refused.
    """
    if kind == "stylesheet":
        return Treatment.EMPTY
    if kind in FETCHED and method == "GET" and url.startswith(("http://", "https://")):
        return Treatment.REFUSE if site_of(host_of(url)) in TRACKERS else Treatment.FETCH
    return Treatment.REFUSE


class Resource(NamedTuple):
    """A response for the browser."""

    status: int
    headers: dict[str, str]
    body: bytes


def resource_of(response: Response) -> Resource:
    """Return a response as the browser may see it: decompressed, and without cookies."""
    headers = {
        name.decode("latin-1"): b", ".join(values).decode("latin-1")
        for name, values in response.headers.items()
        if name.decode("latin-1").lower() not in _DROPPED_HEADERS
    }
    return Resource(response.status, headers, response.body)


class ResourceLoader:
    """Fetches resources through the engine of the crawl, and caches recent ones."""

    def __init__(self, crawler: Crawler) -> None:
        assert crawler.stats is not None
        self._crawler = crawler
        self._stats = crawler.stats
        self._kept: LeastRecentlyUsed[Key, tuple[Resource | None]] = LeastRecentlyUsed(MAX_KEPT)
        self._coming: dict[Key, asyncio.Task[Resource | None]] = {}

    async def get(self, url: str, headers: Mapping[str, str]) -> Resource | None:
        """Return the resource at `url`; None if it may not or cannot be fetched.

        Cancelling this call does not cancel the download: others may need it too.
        """
        key = url, *(headers.get(name, "") for name in _KEY_HEADERS)
        if (kept := self._kept.get(key)) is not None:
            self._stats.inc_value("bilingual/render/resources/kept")
            return kept[0]
        if key not in self._coming:
            self._coming[key] = asyncio.ensure_future(self._fetch(url, headers))
            self._coming[key].add_done_callback(lambda task: self._arrived(key, task))
        return await asyncio.shield(self._coming[key])

    def close(self) -> None:
        """Cancel all downloads under way."""
        for task in self._coming.values():
            task.cancel()

    async def _fetch(self, url: str, headers: Mapping[str, str]) -> Resource | None:
        request = Request(
            url,
            callback=NO_CALLBACK,
            headers=dict(headers),
            meta={
                "dont_retry": True,
                "download_maxsize": MAX_BYTES,
                **RequestState(part_of_page=True).as_meta(),
            },
        )
        assert self._crawler.engine is not None
        try:
            response = await self._crawler.engine.download_async(request)
        except Exception as error:  # noqa: BLE001 - whatever a server does must not end the crawl
            reason, _ = reason_of(error)
            self._stats.inc_value(f"bilingual/render/resources/refused/{reason}")
            return None
        opt_out = closed_by(response, robot_of(request, self._crawler.settings))
        if opt_out is not None:
            self._stats.inc_value(f"bilingual/render/resources/refused/{opt_out}")
            return None
        self._stats.inc_value("bilingual/render/resources/fetched")
        return resource_of(response)

    def _arrived(self, key: Key, task: "asyncio.Task[Resource | None]") -> None:
        del self._coming[key]
        if task.cancelled() or task.exception() is not None:
            return
        resource = task.result()
        size = len(key[0]) + (len(resource.body) if resource is not None else 0)
        self._kept.put(key, (resource,), size)


def closed_by(response: Response, robot: str) -> str | None:
    """Return the opt-out in the headers of a resource that forbids using it; None if none does."""
    opt_out = opt_out_of(*header_opt_outs(response, robot), ("tdm", "noai"))
    return opt_out if opt_out in CLOSED else None
