"""Pages fetched for a command rather than for a crawl: no frontier, no folder, the same manners.

The spiders here use the project's own downloader, so robots.txt, delays, opt-outs, the guard and
all limits apply. Several tasks run at a time, and each fetches one page after the other; a page is
fetched once, and what a server cannot answer now is not there.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.asyncio import is_asyncio_available

from bilingual_crawler.config.plan import CrawlPlan
from bilingual_crawler.config.settings import Config
from bilingual_crawler.config.sites import Sites
from bilingual_crawler.crawl.context import config_of, read_page
from bilingual_crawler.crawl.fetching.failures import Refused, reason_of
from bilingual_crawler.crawl.fetching.identity import accept_language, warn_without_contact
from bilingual_crawler.crawl.fetching.optouts import forbids_links, opt_out_of
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.crawl.wiring import wire_fetching
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.identifiers.choice import load_identifier
from bilingual_crawler.documents.language import LanguageIdentifier
from bilingual_crawler.languages import Languages, ParallelLanguages
from bilingual_crawler.urls.hosts import host_of

MOST_AT_ONCE = 16
"""Hosts that are asked at the same time."""
Arrived = Callable[[str, Response, Document], Iterable[str]]
"""Called with the URL that was asked for, the response and its document; returns pages to fetch
next in the same task."""
Missed = Callable[[str, str], None]
"""Called with a URL that gave no page, and the code of the reason."""


class PoliteSpider(Spider):
    """Runs tasks that fetch pages, until all have ended."""

    name = "polite"
    plan: CrawlPlan
    config: Config
    identifier: LanguageIdentifier

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Configure fetching, in a project with or without the add-on.

        Archives are for crawls: what a command fetches comes from the sites, with their delays.
        """
        super().update_settings(settings)
        settings.set("BILINGUAL_ARCHIVE", "", priority="cmdline")
        wire_fetching(settings, Config.from_settings(settings))

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build the spider for a command."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.config = config_of(crawler)
        spider.identifier = load_identifier(
            spider.config.identifier, spider.plan.langs.codes, spider.config.taught
        )
        return spider

    def __init__(self, langs: Languages, seeds: Iterable[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.plan = CrawlPlan(langs, tuple(seeds), self.name, Path(), Sites())

    def tasks(self) -> Iterable[Coroutine[Any, Any, None]]:
        """Return what is to be done; each task is a coroutine that fetches pages."""
        raise NotImplementedError

    async def start(self) -> AsyncIterator[Request]:
        """Run the tasks, without using the scheduler."""
        name = self.crawler.settings["USER_AGENT"] or ""
        warn_without_contact(self.config.contact, self.plan.seeds, name)
        if is_asyncio_available():
            turns = asyncio.Semaphore(MOST_AT_ONCE)
            await asyncio.gather(*(_in_turn(task, turns) for task in self.tasks()))
        else:
            for task in self.tasks():
                await task
        nothing: tuple[Request, ...] = ()
        for request in nothing:
            yield request

    async def download(self, url: str, callback: Any = None) -> Response:
        """Fetch a page, or with `NO_CALLBACK` a file about a site."""
        request = Request(
            url,
            callback=callback or self._no_callback,
            headers={"Accept-Language": accept_language(self.plan.langs)},
            meta={"dont_retry": True},
        )
        assert self.crawler.engine is not None
        response = await self.crawler.engine.download_async(request)
        if response.status != HTTPStatus.OK:
            raise HttpError(response)
        return response

    def document(self, response: Response, url: str) -> Document:
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


class PagesSpider(PoliteSpider):
    """Fetches a list of pages, several hosts at a time, and of each one page after the other."""

    name = "pages"

    def __init__(
        self,
        languages: ParallelLanguages,
        urls: Iterable[str],
        arrived: Arrived,
        missed: Missed,
        **kwargs: Any,
    ) -> None:
        super().__init__(languages, urls, **kwargs)
        self._arrived, self._missed = arrived, missed
        self._asked: set[str] = set()

    def tasks(self) -> Iterable[Coroutine[Any, Any, None]]:
        """Return one task per host."""
        hosts: defaultdict[str, list[str]] = defaultdict(list)
        for url in dict.fromkeys(self.plan.seeds):
            hosts[host_of(url)].append(url)
        return [self._fetch(urls) for urls in hosts.values()]

    async def _fetch(self, urls: Iterable[str]) -> None:
        waiting = deque(urls)
        while waiting:
            url = waiting.popleft()
            if url in self._asked:
                continue
            self._asked.add(url)
            try:
                response = await self.download(url)
                document = self.document(response, url)
            except Exception as error:  # noqa: BLE001 - whatever a server does must not end the rest
                self._missed(url, reason_of(error)[0])
            else:
                waiting.extendleft(self._arrived(url, response, document))


async def _in_turn(task: Coroutine[Any, Any, None], turns: asyncio.Semaphore) -> None:
    async with turns:
        await task
