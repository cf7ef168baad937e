"""The download handler of a crawl that takes its pages from a web archive.

A capture becomes the response that the server gave when it was captured, so the frontier,
scoring and pairing work as ever. Nothing is requested from the sites, robots.txt neither: the
captured ones count. Only BILINGUAL_ARCHIVE_FALLBACK lets pages that are not archived come from
their site, which then also says what may be fetched: a robots.txt of years ago does not.
"""

import contextlib
import logging
from http import HTTPStatus

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from bilingual_crawler.crawl.archive.archive import ArchivedPage, WebArchive
from bilingual_crawler.crawl.context import config_of
from bilingual_crawler.crawl.fetching.failures import Refused
from bilingual_crawler.crawl.fetching.handler import GuardedDownloadHandler
from bilingual_crawler.crawl.fetching.site_files import is_site_file
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.outcomes import Outcome
from bilingual_crawler.store.archive.archived_answer import UnusableCaptureError
from bilingual_crawler.store.archive.capture import iso_moment

logger = logging.getLogger(__name__)


class ArchiveDownloadHandler(GuardedDownloadHandler):
    """Answers from the archive in BILINGUAL_ARCHIVE."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        assert crawler.stats is not None
        self._stats = crawler.stats
        self._archive = WebArchive.of(crawler)
        self._falls_back = config_of(crawler).archive_fallback

    async def _download(self, request: Request) -> Response:
        """Return the captured answer, or the site's own if that is allowed."""
        state = RequestState.of(request)
        if state.captured_at:  # that of the page that led here by a redirect
            RequestState.update(request, captured_at="")
        if self._falls_back and is_site_file(request):
            return await self._site_file(request)
        try:
            page = None if request.method != "GET" or state.variant else await self._page(request)
        except UnusableCaptureError as error:
            self._count("unusable")
            logger.debug("The capture of %s is of no use: %s", request.url, error)
            if not self._falls_back:
                raise Refused(Outcome.UNUSABLE_CAPTURE, f"{error}") from None
            page = None
        if page is not None:
            self._send_times.sent(request)
            self._count("captures")
            return page
        if self._falls_back:
            self._count("fallback")
            return await super()._download(request)
        self._send_times.sent(request)
        self._count("missing")
        if is_site_file(request):  # a site without robots.txt forbids nothing
            return Response(request.url, status=HTTPStatus.NOT_FOUND, request=request)
        raise Refused(Outcome.NOT_ARCHIVED, Outcome.NOT_ARCHIVED.sentence)

    async def _site_file(self, request: Request) -> Response:
        """Return what a site says about itself now, since it may be asked for pages.

        If it cannot be reached, what it said when it was captured counts.
        """
        try:
            return await super()._download(request)
        except Exception:
            with contextlib.suppress(UnusableCaptureError):
                found = await self._page(request)
                if found is not None:
                    return found
            raise

    async def _page(self, request: Request) -> Response | None:
        found = await self._archive.page(request.url)
        if found is None:
            return None
        RequestState.update(request, captured_at=iso_moment(found.capture.moment))
        if found.answer is not None:
            self._stats.inc_value("bilingual/archive/bytes", len(found.answer.body))
        return _response(request, found)

    def _count(self, what: str) -> None:
        self._stats.inc_value(f"bilingual/archive/{what}")

    async def close(self) -> None:
        """Close the connections to the archive too."""
        if self._archive.bad_lines:
            self._stats.set_value("bilingual/archive/bad_lines", self._archive.bad_lines)
        await self._archive.close()
        await super().close()


def _response(request: Request, page: ArchivedPage) -> Response:
    """Return a captured answer as a response; one under a nearly equal URL as a redirect to it."""
    if page.answer is None:
        headers = {"Location": page.capture.url}
        return Response(request.url, status=HTTPStatus.FOUND, headers=headers, request=request)
    headers = Headers()
    for name, value in page.answer.headers:
        headers.appendlist(name, value)
    kind = responsetypes.from_args(headers=headers, url=request.url, body=page.answer.body)
    return kind(
        request.url,
        status=page.answer.status,
        headers=headers,
        body=page.answer.body,
        flags=["archive"],
        request=request,
    )
