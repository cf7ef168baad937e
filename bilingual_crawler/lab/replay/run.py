"""One crawl of a recorded site: the real engine, one page at a time, in its own process.

Only the scores decide the order: there is one request at a time, and the next one is chosen when
the links of the last page are in the frontier. There are no delays and no network. Each crawl needs
its own process because a reactor runs only once; it is forked, so that it shares what was already
read of the site.
"""

import multiprocessing
import random
import tempfile
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, ClassVar

from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import CrawlerProcess
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes
from scrapy.settings import Settings
from scrapy.utils.defer import deferred_from_coro
from twisted.python.failure import Failure

from bilingual_crawler import settings as project
from bilingual_crawler.crawl.fetching.site_files import is_site_file
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.replay.curve import Pair
from bilingual_crawler.lab.replay.site import RecordedSite
from bilingual_crawler.languages import Languages
from bilingual_crawler.spiders import bilingual
from bilingual_crawler.store.folder import PAIRS_TSV
from bilingual_crawler.store.warc_reader import OK, REDIRECTS

NOT_FOUND = 404
BUDGET_SPENT = "replay_budget"


class Downloads:
    """The downloads of a crawl: its pages in order, and the number of missing URLs."""

    def __init__(self, budget: int = 0) -> None:
        self.budget = budget
        self.order: list[str] = []
        self.requests = 0
        self.missing = 0

    @property
    def is_spent(self) -> bool:
        """True if the crawl has used up its budget."""
        return bool(self.budget) and len(self.order) >= self.budget


class RecordedHandler(BaseDownloadHandler):
    """Answers http and https requests from a recording; anything else is a 404.

    `bound` makes a class for one crawl, because Scrapy builds handlers from classes.
    """

    site: ClassVar[RecordedSite]
    downloads: ClassVar[Downloads]

    @classmethod
    def bound(cls, site: RecordedSite, downloads: Downloads) -> type["RecordedHandler"]:
        """Return the handler class for one crawl of `site`."""
        return type(cls.__name__, (cls,), {"site": site, "downloads": downloads})

    async def download_request(self, request: Request) -> Response:
        """Return the recorded response."""
        answer = self.site.answer(request.url)
        status = NOT_FOUND if answer is None else answer.status
        if not is_site_file(request):
            self._note(request.url, status)
        if answer is None:
            return Response(request.url, status=NOT_FOUND)
        refresh = self.site.refresh_of(request.url, answer)
        if refresh is not None and refresh not in self.site.recording:
            request.meta["dont_redirect"] = True  # the target was not recorded
        headers = Headers()
        for name, value in answer.headers:
            headers.appendlist(name, value)
        kind = responsetypes.from_args(headers=headers, url=request.url, body=answer.body)
        return kind(request.url, status=status, headers=headers, body=answer.body)

    def _note(self, url: str, status: int) -> None:
        downloads = self.downloads
        downloads.requests += 1
        if status == OK:
            downloads.order.append(self.site.recording.name_of(url))
            if downloads.is_spent:
                engine = self.crawler.engine
                assert engine is not None
                deferred_from_coro(engine.close_spider_async(reason=BUDGET_SPENT))
        elif status not in REDIRECTS:
            downloads.missing += 1


LOG_NAME = "replay.log"
LONGEST_ERROR = 4_000

ONE_AT_A_TIME: dict[str, Any] = {
    "CONCURRENT_REQUESTS": 1,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "CONCURRENT_ITEMS": 1,
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 0,  # no request while a page is being read
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_SLOTS": {},
    "AUTOTHROTTLE_ENABLED": False,
    "RETRY_ENABLED": False,
}
USUAL: dict[str, Any] = {
    "BILINGUAL_HONOUR": "",  # no page is kept, and the recording already obeyed opt-outs
}
ALONE: dict[str, Any] = {
    "BILINGUAL_ALLOW_PRIVATE": True,
    "BILINGUAL_CHECKPOINT_SECONDS": 600,
    "BILINGUAL_PROGRESS": "off",
    "BILINGUAL_SITE_PAGES": 0,
    "BILINGUAL_WARC": False,
    "HTTPCACHE_ENABLED": False,
    "JOBDIR": None,
    "EXTENSIONS": {"bilingual_crawler.crawl.extensions.picture.YieldPicture": None},
    "FEEDS": {},
    "LOG_ENABLED": True,
    "LOG_LEVEL": "ERROR",
    "LOG_STDOUT": False,
    "MEMUSAGE_ENABLED": False,
}


@dataclass(frozen=True, slots=True)
class Run:
    """The result of a crawl: its downloads in order, and the pairs that it found itself."""

    order: list[str]
    pairs: list[Pair]
    requests: int
    missing: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ReplayCrawl:
    """The parameters of a crawl of a recorded site."""

    langs: Languages
    seeds: tuple[str, ...]
    budget: int = 0
    seed: int = 0
    settings: Mapping[str, Any] | None = None
    topic: Path | None = None


def run_settings(crawl: ReplayCrawl) -> Settings:
    """Return the project's and the user's settings, without anything that needs time or network."""
    settings = Settings()
    settings.setmodule(project, priority="project")
    for name, value in {**USUAL, **(crawl.settings or {}), **ONE_AT_A_TIME, **ALONE}.items():
        settings.set(name, value, priority="cmdline")
    return settings


class Running:
    """A running crawl, in its own process."""

    def __init__(self, site: RecordedSite, scorer: str, crawl: ReplayCrawl) -> None:
        self.scorer = scorer
        self._what = f"{site.recording.name} with {scorer}"
        context = multiprocessing.get_context("fork")
        self._end, other = context.Pipe(duplex=False)
        self._process = context.Process(target=_report, args=(other, site, scorer, crawl))
        self._process.start()
        other.close()

    def result(self) -> Run:
        """Wait for the end and return the result; raise the error of a crawl that failed."""
        try:
            result = self._end.recv()
        except EOFError:
            result = "its process ended without a word"
        self._process.join()
        if isinstance(result, Run):
            return result
        raise ConfigurationError(f"The replay of {self._what} failed: {result}")

    def stop(self) -> None:
        """Stop the crawl, whose result is no longer needed."""
        self._process.terminate()
        self._process.join()


def _report(end: Connection, site: RecordedSite, scorer: str, crawl: ReplayCrawl) -> None:
    try:
        end.send(crawl_recorded(site, scorer, crawl))
    except ConfigurationError as error:
        end.send(str(error))
    except Exception:  # noqa: BLE001 - reported by the process that waits for it
        end.send(traceback.format_exc())
    finally:
        end.close()


def crawl_recorded(site: RecordedSite, scorer: str, crawl: ReplayCrawl) -> Run:
    """Crawl the site until it ends or the budget is spent; only once per process."""
    random.seed(crawl.seed)
    setattr(bilingual, "build_document", site.build)  # noqa: B010 - pages are parsed once for all crawls
    downloads = Downloads(crawl.budget)
    handler = RecordedHandler.bound(site, downloads)
    settings = run_settings(crawl)
    settings.set("DOWNLOAD_HANDLERS", {"http": handler, "https": handler}, priority="cmdline")
    with tempfile.TemporaryDirectory(prefix="replay-") as name:
        folder = Path(name)
        settings.set("LOG_FILE", str(folder / LOG_NAME), priority="cmdline")
        begun = time.monotonic()
        process = CrawlerProcess(settings)
        failures: list[Failure] = []
        crawling = process.crawl(
            bilingual.BilingualSpider,
            langs=str(crawl.langs),
            seeds=crawl.seeds,
            output=folder / "crawl",
            topic=crawl.topic,
            scorer=scorer,
        )
        crawling.addErrback(failures.append)
        process.start()
        seconds = time.monotonic() - begun
        for failure in failures:
            failure.raiseException()
        errors = (folder / LOG_NAME).read_text(errors="replace").strip()
        if errors:
            raise ConfigurationError(errors[:LONGEST_ERROR])
        lines = (folder / "crawl" / PAIRS_TSV).read_text().splitlines()
    pairs = [(first, second) for first, _, second in (line.partition("\t") for line in lines)]
    return Run(downloads.order, pairs, downloads.requests, downloads.missing, seconds)
