"""The spider that harvests the pages of bilingual sites: `scrapy crawl bilingual`."""

import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, ClassVar, Self, cast

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.threads import deferToThread
from twisted.python.failure import Failure

from bilingual_crawler.config.plan import CRAWLS, CrawlPlan
from bilingual_crawler.config.settings import Config
from bilingual_crawler.crawl.browser.chromium import check_rendering
from bilingual_crawler.crawl.browser.rendering import Rendering
from bilingual_crawler.crawl.context import Crawl, config_of, is_file_response, read_page
from bilingual_crawler.crawl.discovery.adapter import DISCOVERS, Discovery, check_discovery
from bilingual_crawler.crawl.fetching.failures import reason_of
from bilingual_crawler.crawl.fetching.identity import warn_without_contact
from bilingual_crawler.crawl.request_state import RequestState, end_url
from bilingual_crawler.crawl.revisits import check_revisits
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.mixed import split_mixed
from bilingual_crawler.errors import exit_on_configuration_error
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.languages import OneLanguage
from bilingual_crawler.outcomes import Outcome
from bilingual_crawler.scoring.scorer import SEED_PRIORITY, NothingYet, default_scorer, make_scorer
from bilingual_crawler.urls.credentials import without_credentials

logger = logging.getLogger(__name__)

NOT_THERE = frozenset({"http_404", "http_410"})


class BilingualSpider(Spider):
    """Follows the links of bilingual sites and makes a document from every page.

    -a langs=spa-eus       the two languages: ISO 639 codes or English names; three or more
                           (langs=spa-eus-eng), English and whatever a site has (langs=eng-*),
                           whatever it has (langs=all); one alone (langs=spa) crawls without
                           looking for translations
    -a seeds=URL,URL       where to start (default: the project's list for the pair)
    -a seeds_file=FILE     the same, from a file, one URL per line, # for comments
    -a output=DIR          where to write (default: crawls/<langs>-<time>); an
                           existing folder resumes the crawl in it
    -a sites=FILE          a TOML file with settings per site
    -a topic=FILE          a table of weighted terms: only pages about them are kept
    -a scorer=NAME         how links are ranked, as BILINGUAL_SCORER
    -a discover=1          search for bilingual sites from the seeds, and harvest those
    """

    name = "bilingual"
    harvests: ClassVar[bool] = True
    callbacks: ClassVar[frozenset[str]] = frozenset({"parse", "look"})
    errbacks: ClassVar[frozenset[str]] = frozenset({"failed", "not_seen"})
    """The methods that a request read from a folder or from Redis may name."""
    crawl: Crawl
    """The state that the components of the crawl share."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Check everything the user gave before anything is fetched."""
        with exit_on_configuration_error():
            config, plan = cls._read_arguments(crawler, *args, **kwargs)
            spider = super().from_crawler(crawler)
            spider.crawl = Crawl.open(
                crawler, config, plan, spider.parse, spider.failed, harvests=cls.harvests
            )
            if plan.discover or spider.crawl.folder.facts.get(DISCOVERS):
                spider.crawl.discovery = Discovery(spider.crawl, spider.look, spider.not_seen)
        return spider

    @classmethod
    def _read_arguments(
        cls, crawler: Crawler, *args: Any, **kwargs: Any
    ) -> tuple[Config, CrawlPlan]:
        settings, scorer = crawler.settings, kwargs.pop("scorer", None)
        if scorer is not None:
            settings.set("BILINGUAL_SCORER", scorer, priority="cmdline")
        plan = CrawlPlan.from_arguments(*args, **kwargs)
        if settings.get("BILINGUAL_SCORER") is None:
            settings.set("BILINGUAL_SCORER", default_scorer(plan.langs), priority="addon")
        config = config_of(crawler)
        if config.frontier and kwargs.get("output") is None:  # the same for all workers
            plan = replace(plan, output=CRAWLS / plan.langs.file_name)
        if config.revisit:
            check_revisits(plan, config, harvests=cls.harvests)
        if plan.discover:
            check_discovery(plan.langs, config.frontier)
        if cls.harvests:
            make_scorer(config.scorer, plan.langs, NothingYet(), config)  # fail early
        if {config.render, *plan.sites.said("render")} != {"never"}:
            check_rendering(config.chromium)
        return config, plan

    @cached_property
    def rendering(self) -> Rendering:
        """Renders pages where that is wanted; created once the engine runs."""
        return Rendering.from_crawler(self.crawler)

    async def start(self) -> AsyncIterator[Request]:
        """Request the seeds, before everything else."""
        crawl, plan = self.crawl, self.crawl.plan
        logger.info(
            "Crawling %d site%s for %s (seeds from %s): %s",
            len(plan.seeds),
            "" if len(plan.seeds) == 1 else "s",
            plan.langs.names,
            plan.seeds_from,
            ", ".join(map(without_credentials, plan.seeds)),
        )
        warn_without_contact(
            crawl.config.contact, plan.seeds, self.crawler.settings["USER_AGENT"] or ""
        )
        if crawl.discovery is not None:
            async for request in crawl.discovery.start():
                yield request
            return
        for url in plan.seeds:
            yield crawl.request(url, score=SEED_PRIORITY, depth=0)

    async def parse(self, response: Response, **_: Any) -> AsyncIterator[Document]:
        """Make a document from a page, plain or rendered; two from a page in two languages."""
        is_file = is_file_response(response)
        if is_file:  # it may take seconds, and other pages should not wait for it
            plain = await maybe_deferred_to_future(deferToThread(self._document, response))
        else:
            plain = self._document(response)
        if self.crawl.discovery is not None:
            await self.crawl.discovery.note_links(plain)
        documents = [plain]
        if not is_file:
            documents = await self.rendering.documents(
                response, plain, lambda markup: self._document(response, markup)
            )
        parts, languages = None, self.crawl.languages_of(response.url)
        if len(documents) == 1 and not isinstance(languages, OneLanguage):
            parts = split_mixed(documents[0], languages)
        if parts is not None:
            self.crawler.stats.inc_value("bilingual/split_pages")
        self.crawl.revisits.read(response, parts or documents)
        for part in parts or documents:
            self.crawl.topic.annotate(part)
            yield part

    async def look(self, response: Response) -> None:
        """Examine a page for what it says about its site and others."""
        assert self.crawl.discovery is not None
        await self.crawl.discovery.take(response, self._document(response))

    def _document(self, response: Response, rendered: bytes | None = None) -> Document:
        """Return the document of a page as it was sent, or as a browser has `rendered` it."""
        languages = self.crawl.languages_of(response.url)
        identifier = self.crawl.identifiers.of(response.url)
        text_lines = self.crawl.config.text_lines
        document = read_page(response, languages, identifier, rendered, text_lines=text_lines)
        document.depth = response.meta.get("depth", 0)
        document.requested_url = (response.meta.get("redirect_urls") or [response.url])[0]
        state = RequestState.of(response)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        document.fetched_at = state.captured_at or now
        opt_out = state.opt_out
        if opt_out:
            document.robots |= {opt_out}
        return document

    def not_seen(self, failure: Failure) -> None:
        """Record why a page could not be examined."""
        self.failed(failure)
        request = _request_of(failure)
        end = RequestState.of(request).end
        assert self.crawl.discovery is not None
        assert end is not None
        self.crawl.discovery.failed(request, end.reason)

    def failed(self, failure: Failure) -> None:
        """Record why a page could not be fetched."""
        request = _request_of(failure)
        assert failure.value is not None
        reason, detail = reason_of(failure.value)
        if RequestState.of(request).probe and reason in NOT_THERE:
            reason = Outcome.PROBE_MISSED
        if not self.crawl.revisits.failed(request, reason):
            end_url(request, State.FAILED, reason)
        logger.debug("No page from %s: %s", request.url, detail, extra={"url": request.url})


def _request_of(failure: Failure) -> Request:
    request: Request = cast("Any", failure).request
    return request
