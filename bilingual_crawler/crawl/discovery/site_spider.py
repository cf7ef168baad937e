"""The spiders that fetch what the detectors and surveys of sites request.

They are behind `scrapy detect-site` and `scrapy bootstrap --visit`. Sites are examined side by
side, each one page at a time.
"""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any

from scrapy.http.request import NO_CALLBACK

from bilingual_crawler.crawl.fetching.failures import reason_of
from bilingual_crawler.crawl.polite_spider import PoliteSpider
from bilingual_crawler.discovery.site_detector import SiteDetector
from bilingual_crawler.discovery.site_survey import SiteSurvey
from bilingual_crawler.documents.sitemap import read_sitemap
from bilingual_crawler.languages import ParallelLanguages, parse_languages

OnPage = Callable[[str, str], None]
"""Called after each request with its URL and a description of the result."""


class SiteSpider(PoliteSpider):
    """Fetches pages of sites until their detectors have a verdict."""

    name = "detect-site"

    def __init__(
        self,
        urls: Iterable[str],
        languages: ParallelLanguages,
        detectors: Sequence[SiteDetector],
        on_page: OnPage,
        **kwargs: Any,
    ) -> None:
        super().__init__(languages, urls, **kwargs)
        self._detectors, self._on_page = detectors, on_page

    def tasks(self) -> Iterable[Coroutine[Any, Any, None]]:
        """Return one task per site."""
        return [self._examine(detector) for detector in self._detectors]

    async def _examine(self, detector: SiteDetector) -> None:
        while wanted := detector.wanted():
            url = wanted[0]
            try:
                result = await self._read(detector, url)
            except Exception as error:  # noqa: BLE001 - whatever a server does must not end the search
                reason, result = reason_of(error)
                detector.missed(url, reason)
            self._on_page(url, result)

    async def _read(self, detector: SiteDetector, url: str) -> str:
        """Fetch a page or a sitemap for a detector; return a description of it."""
        if detector.is_sitemap(url):
            response = await self.download(url, NO_CALLBACK)
            sitemap = read_sitemap(response.body, response.url)
            detector.take_sitemap(url, sitemap)
            return f"a sitemap of {len(sitemap.pages):,} pages"
        document = self.document(await self.download(url), url)
        detector.take(document)
        return f"{document.language or 'no language'}, {len(document.text):,} characters"


class SurveySpider(PoliteSpider):
    """Fetches pages of one site until its survey is complete."""

    name = "survey"

    def __init__(self, url: str, survey: SiteSurvey, on_page: OnPage, **kwargs: Any) -> None:
        super().__init__(parse_languages("all"), [url], **kwargs)
        self._survey, self._on_page = survey, on_page

    def tasks(self) -> Iterable[Coroutine[Any, Any, None]]:
        """Return the one task."""
        return [self._look_around()]

    async def _look_around(self) -> None:
        while (url := self._survey.wanted()) is not None:
            try:
                result = await self._read(url)
            except Exception as error:  # noqa: BLE001 - whatever a server does must not end the survey
                reason, result = reason_of(error)
                self._survey.missed(url, reason)
            self._on_page(url, result)

    async def _read(self, url: str) -> str:
        if self._survey.is_sitemap(url):
            response = await self.download(url, NO_CALLBACK)
            sitemap = read_sitemap(response.body, response.url)
            self._survey.take_sitemap(url, sitemap)
            return f"a sitemap of {len(sitemap.pages):,} pages"
        document = self.document(await self.download(url), url)
        self._survey.take(url, document)
        return f"{document.language or 'no language'}, {len(document.text):,} characters"
