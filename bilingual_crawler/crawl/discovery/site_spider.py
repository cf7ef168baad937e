"""The spider behind `scrapy detect-site`: fetches what the detector of one site requests.

It uses the project's own downloader, so robots.txt, delays, opt-outs, the guard and all limits
apply. It fetches one page at a time, and each only once: if a server cannot answer now, the
verdict stays open.
"""

from collections.abc import AsyncIterator, Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.settings import BaseSettings
from scrapy.spidermiddlewares.httperror import HttpError

from bilingual_crawler.config.plan import CrawlPlan
from bilingual_crawler.config.settings import Config
from bilingual_crawler.config.sites import Sites
from bilingual_crawler.crawl.context import config_of, read_page
from bilingual_crawler.crawl.fetching.failures import Refused, reason_of
from bilingual_crawler.crawl.fetching.identity import accept_language, warn_without_contact
from bilingual_crawler.crawl.fetching.optouts import forbids_links, opt_out_of
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.crawl.wiring import wire_fetching
from bilingual_crawler.discovery.site_detector import SiteDetector
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.identifiers.choice import load_identifier
from bilingual_crawler.documents.language import LanguageIdentifier
from bilingual_crawler.documents.sitemap import read_sitemap
from bilingual_crawler.languages import LanguagePair

OnPage = Callable[[str, str], None]
"""Called after each request with its URL and a description of the result."""


class SiteSpider(Spider):
    """Fetches pages of one site until its detector has a verdict."""

    name = "detect-site"
    detector: SiteDetector
    plan: CrawlPlan
    config: Config
    identifier: LanguageIdentifier

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Configure fetching, in a project with or without the add-on."""
        super().update_settings(settings)
        wire_fetching(settings, Config.from_settings(settings))

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build the spider for a detector."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.config = config_of(crawler)
        spider.identifier = load_identifier(spider.config.identifier, spider.plan.langs.codes)
        return spider

    def __init__(
        self, url: str, pair: LanguagePair, detector: SiteDetector, on_page: OnPage, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.detector, self._on_page = detector, on_page
        self.plan = CrawlPlan(pair, (url,), self.name, Path(), Sites())

    async def start(self) -> AsyncIterator[Request]:
        """Fetch pages until there is a verdict, without using the scheduler."""
        name = self.crawler.settings["USER_AGENT"] or ""
        warn_without_contact(self.config.contact, self.plan.seeds, name)
        while wanted := self.detector.wanted():
            await self._fetch(wanted[0])
        nothing: tuple[Request, ...] = ()
        for request in nothing:
            yield request

    async def _fetch(self, url: str) -> None:
        try:
            result = await self._read(url)
        except Exception as error:  # noqa: BLE001 - whatever a server does must not end the search
            reason, result = reason_of(error)
            self.detector.missed(url, reason)
        self._on_page(url, result)

    async def _read(self, url: str) -> str:
        """Fetch a page or a sitemap for the detector; return a description of it."""
        if self.detector.is_sitemap(url):
            response = await self._download(url, NO_CALLBACK)
            sitemap = read_sitemap(response.body, response.url)
            self.detector.take_sitemap(url, sitemap)
            return f"a sitemap of {len(sitemap.pages):,} pages"
        document = self._document(await self._download(url, self._no_callback), url)
        self.detector.take(document)
        return f"{document.language or 'no language'}, {len(document.text):,} characters"

    async def _download(self, url: str, callback: Any) -> Response:
        request = Request(
            url,
            callback=callback,
            headers={"Accept-Language": accept_language(self.plan.langs)},
            meta={"dont_retry": True},
        )
        assert self.crawler.engine is not None
        response = await self.crawler.engine.download_async(request)
        if response.status != HTTPStatus.OK:
            raise HttpError(response)
        return response

    def _document(self, response: Response, url: str) -> Document:
        """Return the document of a page; raise `Refused` if the page opts out."""
        document = read_page(response, self.plan.langs, self.identifier)
        document.requested_url = url
        said_in_headers = RequestState.of(response).opt_out
        robots = document.robots | ({said_in_headers} if said_in_headers else set())
        reason = opt_out_of(robots, document.tdm_reservation, self.config.honour)
        if reason is not None:
            raise Refused(reason, "The page asks not to be used.")
        if forbids_links(robots, self.config.honour):
            document.links = []
        return document

    def _no_callback(self, response: Response) -> None:
        """Mark a request as one for a page: files about a site have no callback at all."""
