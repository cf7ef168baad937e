"""The archive of a crawl: where it is, and the captures that it has of pages.

What the index says is kept in a table beside the crawl, so that a resumed crawl does not ask
again. A host is listed as a whole when its first page is needed: that takes a few questions
instead of one per page. Only hosts with too many captures are asked for page by page.
"""

import logging
import re
from pathlib import Path
from typing import NamedTuple

from scrapy.crawler import Crawler

from bilingual_crawler.config.settings import Config
from bilingual_crawler.crawl.archive.servers import CaptureServer, FileServer
from bilingual_crawler.crawl.context import Crawl, config_of
from bilingual_crawler.crawl.fetching.site_files import Kept, SiteCache
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.archive.archive_folder import (
    INDEX_ENDINGS,
    bytes_of,
    files_below,
    read_folder,
)
from bilingual_crawler.store.archive.archived_answer import UnusableCaptureError, read_answer
from bilingual_crawler.store.archive.capture import Capture, exact_key
from bilingual_crawler.store.archive.capture_index import CaptureIndex
from bilingual_crawler.store.warc_reader import RecordedResponse
from bilingual_crawler.urls.hosts import host_of

logger = logging.getLogger(__name__)

COMMON_CRAWL = "cc:"
_CRAWL = re.compile(r"cc:CC-[A-Z]+-\d{4}(-\d{2,4})?")
TABLE = "archive.sqlite"
_ARCHIVE = "bilingual_archive"
"""The attribute of the crawler."""
_MOST_HOSTS = 4_000_000
"""Bytes of memory for the names of hosts that are known to be listed."""
COMPLETE, CUT_OFF = "complete", "cut off"


class ArchivedPage(NamedTuple):
    """An answer from the archive, and the capture that it is from."""

    capture: Capture
    answer: RecordedResponse | None
    """None if the page is captured under a nearly equal URL only, to which it redirects."""


def check_archive(config: Config) -> None:
    """Raise a ConfigurationError unless the archive of the settings can be used."""
    source = config.archive
    if config.negotiate and not config.archive_fallback:
        raise ConfigurationError(
            "BILINGUAL_NEGOTIATE asks servers for other languages, and an archive cannot answer:"
            " leave it out, or set BILINGUAL_ARCHIVE_FALLBACK=1."
        )
    if source.startswith(COMMON_CRAWL) and not _CRAWL.fullmatch(source):
        raise ConfigurationError(
            f"BILINGUAL_ARCHIVE={source} does not name a crawl of Common Crawl: write"
            " cc:CC-MAIN-2026-40, with the year and the week."
        )
    if source.startswith(("http://", "https://", COMMON_CRAWL)):
        return
    folder = Path(source)
    if not folder.is_dir():
        raise ConfigurationError(
            f"BILINGUAL_ARCHIVE={source} is not an archive: write cc:CC-MAIN-2026-40, the address"
            " of a CDX server, or a folder of WARC files with their CDXJ index."
        )
    if not files_below(folder, INDEX_ENDINGS):
        raise ConfigurationError(
            f"{folder} has no index (.cdxj, .cdxj.gz). To write it: scrapy corpus index {folder}"
        )


class WebArchive:
    """Finds the captures of pages, in a folder or with the servers of an archive."""

    def __init__(self, crawler: Crawler) -> None:
        config = config_of(crawler)
        place = Crawl.of(crawler).folder.path / TABLE
        self._index = CaptureIndex(place)
        if self._index.stamp_of("archive") != config.archive:
            self._index.clear()
            self._index.take_source("archive", config.archive, ())
        self._listed: SiteCache[str, bool] = SiteCache(_MOST_HOSTS)
        self._folder: Path | None = None
        self._captures: CaptureServer | None = None
        self._files: FileServer | None = None
        self._is_closed = False
        if config.archive.startswith(("http://", "https://", COMMON_CRAWL)):
            self._captures = CaptureServer(
                crawler, index_address(config), config.archive_delay, config.retry_delay
            )
            self._files = FileServer(crawler, config.archive_files, 0.0, config.retry_delay)
            return
        self._folder = Path(config.archive)
        bad = read_folder(self._folder, self._index)
        logger.info("The archive %s has %d captures", self._folder, len(self._index))
        if bad:
            logger.warning("%d lines of its index are not captures and are ignored", bad)

    @classmethod
    def of(cls, crawler: Crawler) -> "WebArchive":
        """Return the archive of a crawl, which its handlers share."""
        found: WebArchive | None = getattr(crawler, _ARCHIVE, None)
        if found is None:
            found = cls(crawler)
            setattr(crawler, _ARCHIVE, found)
        return found

    @property
    def bad_lines(self) -> int:
        """The lines of index servers that were not captures."""
        return self._captures.bad_lines if self._captures is not None else 0

    async def page(self, url: str) -> ArchivedPage | None:
        """Return what the archive has of a page; None if it has nothing."""
        capture = await self._find(url)
        if capture is None:
            return None
        if exact_key(capture.url) != exact_key(url):
            return ArchivedPage(capture, None)
        found = read_answer(await self._bytes(capture), capture)
        if found.answer is not None:
            return ArchivedPage(capture, found.answer)
        original = await self._original(capture, found.refers_to)
        if original is None:
            raise UnusableCaptureError("the archive lacks the capture that a revisit refers to")
        found = read_answer(await self._bytes(original), original)
        if found.answer is None:
            raise UnusableCaptureError("it is a revisit of a revisit")
        return ArchivedPage(original, found.answer)

    async def _find(self, url: str) -> Capture | None:
        if self._captures is not None:
            await self._look_up(url)
        return self._index.find(url)

    async def _original(self, capture: Capture, url: str) -> Capture | None:
        if self._captures is not None:
            await self._look_up(url)
        return self._index.original_of(capture, url)

    async def _look_up(self, url: str) -> None:
        """Have the captures of a page in the table."""
        if await self._listed.get(host_of(url), lambda: self._list(host_of(url))):
            return
        name = f"page {url}"
        if self._captures is not None and self._index.stamp_of(name) is None:
            found = await self._captures.of_page(url)
            self._index.take_source(name, COMPLETE, found)

    async def _list(self, host: str) -> Kept[bool]:
        """Have the captures of a host in the table; return whether these are all."""
        name = f"host {host}"
        stamp = self._index.stamp_of(name)
        if stamp is None and self._captures is not None:
            found, is_complete = await self._captures.of_host(host)
            stamp = COMPLETE if is_complete else CUT_OFF
            self._index.take_source(name, stamp, found)
        return Kept(stamp == COMPLETE, len(host))

    async def _bytes(self, capture: Capture) -> bytes:
        if self._folder is not None:
            return bytes_of(self._folder, capture)
        assert self._files is not None
        return await self._files.bytes_of(capture)

    async def close(self) -> None:
        """Close the connections and the table; both handlers of a crawl ask for that."""
        if self._is_closed:
            return
        self._is_closed = True
        for server in (self._captures, self._files):
            if server is not None:
                await server.close()
        self._index.close()


def index_address(config: Config) -> str:
    """Return the address of the CDX server in the settings."""
    if config.archive.startswith(COMMON_CRAWL):
        name = config.archive.removeprefix(COMMON_CRAWL)
        return f"{config.archive_index.rstrip('/')}/{name}-index"
    return config.archive
