"""The spider middleware that turns the links of a document into requests with a priority.

All links of a page are judged in one call. What the frontier knows already costs nothing:
no request is built and no scorer asked, except to raise a waiting URL when the scorer
also looks at where a link stands.
"""

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any, Self, cast

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.fetching.optouts import CLOSED, forbids_links, opt_out_of, record_opt_out
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.fingerprint import url_fingerprint
from bilingual_crawler.frontier.journaled import JournaledFrontier
from bilingual_crawler.frontier.scheduler import FrontierScheduler
from bilingual_crawler.hosts import host_of
from bilingual_crawler.scoring.scorer import LinkScorer, make_scorer

if TYPE_CHECKING:
    from bilingual_crawler.spiders.bilingual import BilingualSpider


class ScoringMiddleware:
    """Scores links; the document itself goes on to the pipelines after them."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._spider = cast("BilingualSpider", crawler.spider)
        self._config = self._spider.config
        self._scorers: dict[str, LinkScorer] = {}
        self._scorer_for(self._spider.plan.seeds[0])

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawl."""
        return cls(crawler)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Put the requests for a document's links before the document."""
        async for item in result:
            if isinstance(item, Document):
                for request in self._follow(item, response):
                    yield request
            yield item

    def _follow(self, document: Document, response: Response) -> Iterable[Request]:
        weight = self._weight(document, response)
        if not weight or self._closed(document, response):
            return
        depth = document.depth + 1
        links = self._wanted(document, depth)
        if not links:
            return
        scores = self._scorer_for(document.url).score(document, links)
        self._count("links/scored", len(links))
        frontier = self._frontier
        for link, score in zip(links, scores, strict=True):
            fingerprint = url_fingerprint(link.url)
            if fingerprint in frontier:
                if frontier.raise_priority(fingerprint, score * weight):
                    self._count("links/raised")
            else:
                yield self._spider.request(link.url, score=score * weight, depth=depth)

    def _wanted(self, document: Document, depth: int) -> list[Link]:
        """The links worth a question: new to the frontier, or waiting and able to rise."""
        frontier, scope = self._frontier, self._spider.scope
        rises = self._scorer_for(document.url).sees_context
        wanted = []
        links = self._links(document)
        for link in links:
            state = frontier.state_of(url_fingerprint(link.url))
            if state is None:
                objection = scope.objection(link.url, depth)
                if objection is None:
                    wanted.append(link)
                else:
                    self._count(f"links/refused/{objection}")
            elif rises and state is State.QUEUED:
                wanted.append(link)
        self._count("links/seen", len(links))
        return wanted

    def _links(self, document: Document) -> list[Link]:
        """The links of a page, its declared translations first."""
        declared = []
        for alternate in document.alternates:
            if alternate.url != document.url:
                declared.append(Link(alternate.url, rel="alternate", hreflang=alternate.hreflang))
                self._admit_host(alternate.url, alternate.language)
        urls = {link.url for link in declared}
        return declared + [link for link in document.links if link.url not in urls]

    def _admit_host(self, url: str, language: str | None) -> None:
        """Take in the host of a translation that lives elsewhere, if that is wanted."""
        scope = self._spider.scope
        host = host_of(url)
        if (
            self._config.follow_alternates
            and host
            and not scope.covers(host)
            and language in self._spider.pair_of(url)
        ):
            scope.admit_host(host)
            self._count("sites/admitted")

    def _weight(self, document: Document, response: Response) -> float:
        """Links of a page in neither language count less, unless the page is a seed."""
        if document.language in self._spider.pair_of(document.url):
            return 1.0
        if response.meta.get("is_start_request"):
            return 1.0
        if self._config.off_language == "discard":
            return 0.0
        return self._config.off_language_weight

    def _closed(self, document: Document, response: Response) -> bool:
        """Whether a page asks that its links are left alone, or all of it."""
        honour = self._spider.honour_of(document.url)
        if opt_out_of(document.robots, document.tdm_reservation, honour) in CLOSED:
            return True
        if not forbids_links(document.robots, honour):
            return False
        if response.meta.get("bilingual_optout") != "nofollow":  # counted with the headers
            record_opt_out(self._crawler.stats, host_of(document.url), "nofollow")
        return True

    def _scorer_for(self, url: str) -> LinkScorer:
        pair = self._spider.pair_of(url)
        scorer = self._scorers.get(str(pair))
        if scorer is None:
            scorer = self._scorers[str(pair)] = make_scorer(self._config.scorer, pair)
        return scorer

    @property
    def _frontier(self) -> JournaledFrontier:
        return cast("FrontierScheduler", self._crawler.engine.scheduler).frontier

    def _count(self, name: str, amount: int = 1) -> None:
        self._crawler.stats.inc_value(f"bilingual/{name}", amount)
