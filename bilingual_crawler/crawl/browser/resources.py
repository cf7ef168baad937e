"""What a page in the browser may ask for: what its text is made of, and nothing else.

What pages in the browser are made of, fetched as everything else is: by the crawler.

A script or an answer that a page asks for goes through the same middlewares and slots as a page:
robots.txt, the delay of its host, the guard against private addresses (on the address that is
connected to), sizes and times. It is fetched once in a crawl, however many pages ask for it, as
long as it is among the last few that were asked for.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from bilingual_crawler.crawl.fetching.failures import reason_of
from bilingual_crawler.crawl.fetching.identity import robot_of
from bilingual_crawler.crawl.fetching.optouts import CLOSED, opt_out_of, robots_directives
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
"""Sites whose scripts count readers, advertise or ask for consent, and bring no text."""


class Treatment(Enum):
    """What becomes of a wish."""

    FETCH = "fetch"
    EMPTY = "empty"
    REFUSE = "refuse"


def treatment_of(kind: str, method: str, url: str) -> Treatment:
    """What becomes of a request of `kind`, as browsers name it (script, image, font, ...).

    Scripts and the data that they fetch are fetched, with GET alone: a crawler asks and does
    not send. A style sheet is answered with an empty one, because pages wait for theirs and some
    give up without it. Images, fonts, media, frames, beacons and streams are refused.
    """
    if kind == "stylesheet":
        return Treatment.EMPTY
    if kind in FETCHED and method == "GET" and url.startswith(("http://", "https://")):
        return Treatment.REFUSE if site_of(host_of(url)) in TRACKERS else Treatment.FETCH
    return Treatment.REFUSE


LARGEST = 10_000_000
"""Bytes of one resource."""
MOST_KEPT = 32_000_000
"""Bytes of all resources that are kept to be given out again."""

_NOT_HANDED_ON = frozenset(
    (
        *("connection", "content-encoding", "content-length", "keep-alive", "set-cookie"),
        *("transfer-encoding", "strict-transport-security", "alt-svc", "link", "report-to"),
    )
)
_TELL_APART = ("Accept-Language", "Cookie")
"""Headers that may make another answer of the same address."""

Key = tuple[str, ...]


class Resource(NamedTuple):
    """An answer for the browser."""

    status: int
    headers: dict[str, str]
    body: bytes


def resource_of(response: Response) -> Resource:
    """A response as the browser may see it: unpacked, and without orders to keep cookies."""
    headers = {
        name.decode("latin-1"): b", ".join(values).decode("latin-1")
        for name, values in response.headers.items()
        if name.decode("latin-1").lower() not in _NOT_HANDED_ON
    }
    return Resource(response.status, headers, response.body)


class Supply:
    """Fetches resources through the engine of the crawl and keeps the last ones."""

    def __init__(self, crawler: Crawler) -> None:
        assert crawler.stats is not None
        self._crawler = crawler
        self._stats = crawler.stats
        self._kept: OrderedDict[Key, Resource | None] = OrderedDict()
        self._size = 0
        self._coming: dict[Key, asyncio.Task[Resource | None]] = {}

    async def get(self, url: str, headers: Mapping[str, str]) -> Resource | None:
        """The resource at `url`; None if it may not or cannot be had.

        Whoever stops waiting for it does not stop its download: others may want it too.
        """
        key = url, *(headers.get(name, "") for name in _TELL_APART)
        if key in self._kept:
            self._kept.move_to_end(key)
            self._stats.inc_value("bilingual/render/resources/kept")
            return self._kept[key]
        if key not in self._coming:
            self._coming[key] = asyncio.ensure_future(self._fetch(url, headers))
            self._coming[key].add_done_callback(lambda task: self._arrived(key, task))
        return await asyncio.shield(self._coming[key])

    def close(self) -> None:
        """Give up what is still under way."""
        for task in self._coming.values():
            task.cancel()

    async def _fetch(self, url: str, headers: Mapping[str, str]) -> Resource | None:
        request = Request(
            url,
            callback=NO_CALLBACK,
            headers=dict(headers),
            meta={
                "dont_retry": True,
                "download_maxsize": LARGEST,
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
        resource = self._kept[key] = task.result()
        self._size += _size(key, resource)
        while self._size > MOST_KEPT:
            self._size -= _size(*self._kept.popitem(last=False))


def closed_by(response: Response, robot: str) -> str | None:
    """The opt-out in the headers of a resource that keeps it from being used at all."""
    robots = robots_directives(response.headers.getlist("X-Robots-Tag"), robot)
    tdm = b"1" in map(bytes.strip, response.headers.getlist("tdm-reservation"))
    opt_out = opt_out_of(robots, tdm, ("tdm", "noai"))
    return opt_out if opt_out in CLOSED else None


def _size(key: Key, resource: Resource | None) -> int:
    return 1_000 + len(key[0]) + (len(resource.body) if resource is not None else 0)
