"""The download handler that answers from a recording, and writes down what was asked of it."""

from typing import ClassVar

from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes
from scrapy.utils.defer import deferred_from_coro

from bilingual_crawler.crawl.fetching.site_files import is_site_file
from bilingual_crawler.lab.replay.site import RecordedSite
from bilingual_crawler.store.warc_reader import OK, REDIRECTS

NOT_FOUND = 404
BUDGET_SPENT = "replay_budget"


class Downloads:
    """What a crawl has asked for: its pages in order, and how many URLs that do not exist."""

    def __init__(self, budget: int = 0) -> None:
        self.budget = budget
        self.order: list[str] = []
        self.requests = 0
        self.missing = 0

    @property
    def is_spent(self) -> bool:
        """Whether the crawl has fetched all that it may."""
        return bool(self.budget) and len(self.order) >= self.budget


class RecordedHandler(BaseDownloadHandler):
    """Answers http and https requests; what was not recorded does not exist.

    `bound` makes a class for one crawl, because Scrapy builds handlers from classes.
    """

    site: ClassVar[RecordedSite]
    downloads: ClassVar[Downloads]

    @classmethod
    def bound(cls, site: RecordedSite, downloads: Downloads) -> type["RecordedHandler"]:
        """The handler of a crawl of `site`."""
        return type(cls.__name__, (cls,), {"site": site, "downloads": downloads})

    async def download_request(self, request: Request) -> Response:
        """Give the recorded answer, at once."""
        answer = self.site.answer(request.url)
        status = NOT_FOUND if answer is None else answer.status
        if not is_site_file(request):
            self._note(request.url, status)
        if answer is None:
            return Response(request.url, status=NOT_FOUND)
        refresh = self.site.refresh_of(request.url, answer)
        if refresh is not None and refresh not in self.site.recording:
            request.meta["dont_redirect"] = True  # it would leave the recorded world
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
