"""The servers of a web archive: one that answers questions about captures, one with the files.

Neither is a site that is crawled. So requests to them pass by the middlewares (robots.txt,
delays, guard), but are spaced by a delay of their own, retried with growing delays, and limited
in bytes.
"""

import json
import logging
import time
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.misc import load_object
from twisted.internet.task import deferLater

from bilingual_crawler.crawl.fetching.failures import ArchiveUnavailableError
from bilingual_crawler.crawl.fetching.retry import delay_of
from bilingual_crawler.store.archive.archived_answer import UnusableCaptureError
from bilingual_crawler.store.archive.capture import LONGEST_NAME, Capture, capture_in
from bilingual_crawler.store.warc_reader import LARGEST_RECORD
from bilingual_crawler.urls.hosts import host_of

logger = logging.getLogger(__name__)

ATTEMPTS = 4
LARGEST_LISTING = 64_000_000
"""Bytes of one page of a listing; Common Crawl sends 15,000 lines at most, 7 MB."""
MOST_PAGES = 20
MOST_LINES = 100_000
"""Lines of a host that are asked for; the pages of larger ones are looked up one by one."""
FIELDS = "timestamp,url,mime,status,digest,length,offset,filename,truncated"
_BUSY = frozenset({429, 500, 502, 503, 504})


class ArchiveServer:
    """A server with a minimum of seconds between two requests."""

    def __init__(self, crawler: Crawler, base: str, delay: float, first_retry: float) -> None:
        self.base = base
        self._crawler = crawler
        self._handler = HTTP11DownloadHandler(crawler)
        self._delay = delay
        self._first_retry = first_retry
        self._next = 0.0
        self._again_on = tuple(
            load_object(each) for each in crawler.settings.getlist("RETRY_EXCEPTIONS")
        )

    async def get(self, url: str, most: int, headers: dict[str, str] | None = None) -> Response:
        """Return the answer to a request, after some attempts if the server is busy."""
        why = ""
        for attempt in range(1, ATTEMPTS + 1):
            await self._turn()
            retry_after = None
            try:
                response = await self._handler.download_request(self._request(url, most, headers))
            except DownloadCancelledError:
                raise UnusableCaptureError("more bytes came than were asked for") from None
            except self._again_on as error:
                why = type(error).__name__
            else:
                if response.status not in _BUSY:
                    return response
                why, retry_after = f"status {response.status}", response.headers.get("Retry-After")
            pause = delay_of(attempt, self._first_retry, retry_after, time.time())
            self._next = max(self._next, time.monotonic() + pause)
        raise ArchiveUnavailableError(f"{urlsplit(url).netloc}: {why}")

    def _request(self, url: str, most: int, headers: dict[str, str] | None) -> Request:
        """Return a request that no middleware sees; a proxy is that of the environment."""
        agent = self._crawler.settings["USER_AGENT"] or ""
        timeout = self._crawler.settings.getfloat("DOWNLOAD_TIMEOUT")
        meta: dict[str, Any] = {"download_maxsize": most, "download_timeout": timeout}
        proxy = getproxies().get(urlsplit(url).scheme)
        if proxy and not proxy_bypass(host_of(url)):
            meta["proxy"] = proxy
        identity = {"User-Agent": agent, "Accept-Encoding": "identity"}
        return Request(url, callback=NO_CALLBACK, headers=identity | (headers or {}), meta=meta)

    async def _turn(self) -> None:
        """Wait until another request may be sent; who comes first goes first."""
        now = time.monotonic()
        at = max(now, self._next)
        self._next = at + self._delay
        if at > now:
            from twisted.internet import reactor  # noqa: PLC0415 - importing it installs one

            clock: Any = reactor
            await maybe_deferred_to_future(deferLater(clock, at - now))

    async def close(self) -> None:
        """Close the connections that are kept open."""
        await self._handler.close()


class CaptureServer(ArchiveServer):
    """A CDX server, as pywb and Common Crawl have it: it says which captures there are."""

    bad_lines = 0

    async def of_page(self, url: str) -> list[Capture]:
        """Return the captures of one page."""
        text = await self._ask(url=url, limit=str(MOST_LINES))
        return list(self._captures(text))

    async def of_host(self, host: str) -> tuple[list[Capture], bool]:
        """Return the captures of a host, and whether these are all.

        A server with a large index answers in pages, another one at once. A listing of too many
        bytes is given up, as one of too many lines is.
        """
        found: list[Capture] = []
        try:
            return found, await self._list(host, found)
        except UnusableCaptureError:
            return found, False

    async def _list(self, host: str, found: list[Capture]) -> bool:
        """Add the captures of a host; return whether these are all."""
        pages = _page_count(await self._ask(url=host, matchType="host", showNumPages="true"))
        if pages is None:
            text = await self._ask(url=host, matchType="host", limit=str(MOST_LINES))
            found += self._captures(text)
            return text.count("\n") < MOST_LINES
        for page in range(min(pages, MOST_PAGES)):
            found += self._captures(await self._ask(url=host, matchType="host", page=str(page)))
            if len(found) >= MOST_LINES:
                return page + 1 == pages
        return pages <= MOST_PAGES

    async def _ask(self, **query: str) -> str:
        mark = "&" if "?" in self.base else "?"
        words = query | {"output": "json", "fl": FIELDS}
        if "showNumPages" in query:
            words |= {"limit": "1"}
        response = await self.get(f"{self.base}{mark}{urlencode(words)}", LARGEST_LISTING)
        if response.status == HTTPStatus.NOT_FOUND:  # "No Captures found"
            return ""
        if response.status != HTTPStatus.OK:
            raise ArchiveUnavailableError(f"{self.base}: status {response.status}")
        return response.body.decode("utf-8", "replace")

    def _captures(self, text: str) -> Iterator[Capture]:
        for line in text.splitlines():
            found = capture_in(line)
            if found is not None:
                yield found
            elif line.strip():
                self.bad_lines += 1


class FileServer(ArchiveServer):
    """A server with WARC files, of which single records are fetched by their place."""

    async def bytes_of(self, capture: Capture) -> bytes:
        """Return the bytes of a capture."""
        if capture.length > LARGEST_RECORD:
            raise UnusableCaptureError("its record is too large")
        first, last = capture.offset, capture.offset + capture.length - 1
        response = await self.get(
            self.url_of(capture.file), capture.length, {"Range": f"bytes={first}-{last}"}
        )
        if response.status == HTTPStatus.PARTIAL_CONTENT:
            return response.body
        if response.status == HTTPStatus.OK and first == 0:
            return response.body
        raise UnusableCaptureError(f"the server of its file answered with {response.status}")

    def url_of(self, file: str) -> str:
        """Return the address of a file, which must be below the base address."""
        odd = "://" in file or file.startswith("/") or ".." in file.split("/")
        if odd or len(file) > LONGEST_NAME:
            raise UnusableCaptureError("its file is not among those of the archive")
        return f"{self.base.rstrip('/')}/{quote(file, safe='/=&,+@:-._~')}"


def _page_count(text: str) -> int | None:
    """Return the number of pages of a listing; None for a server that does not know pages."""
    try:
        said = json.loads(text.partition("\n")[0])
        return int(said["pages"])
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
