"""The spider middleware behind BILINGUAL_NEGOTIATE: one address, fetched in both languages.

The first page of a host in one of the two languages waits until the host was asked for it in the
other one. If an address has both, each page of the host is requested in the language it did not
arrive in. This is an ordinary request that goes through the frontier and gives its own document:
the same URL, another `variant`. The cookie by which a site chooses is often seen late, when its
language switch is followed; the earlier pages are then requested again.
"""

import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any, Self
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from scrapy.utils.request import RequestFingerprinter, fingerprint
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.crawl.fetching.optouts import opt_out_of
from bilingual_crawler.crawl.negotiation.inquiry import (
    HostFacts,
    Inquiry,
    KnownHosts,
    Questions,
    Way,
    cookies_set,
    names_translation,
)
from bilingual_crawler.crawl.request_state import RequestState, end_url
from bilingual_crawler.documents.document import Document, DocumentKey
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.outcomes import Outcome
from bilingual_crawler.urls.hosts import host_of

logger = logging.getLogger(__name__)

MAX_FAILURES = 3
"""Failed inquiries about a host before it is left alone."""
MIN_SCORE = 1.0
"""The priority of a page in its other language, unless the page itself had a higher one."""
DECIDING_HEADERS = ("Accept-Language", "Cookie")
"""The headers that decide which variant a server sends."""


class Negotiation:
    """Finds hosts that have both languages at one address, and requests both.

    Order 890: outside of scoring (950), so that a document waits here before it goes to the
    pipelines, and of the depth count (900), since a page in another language is not deeper.
    """

    def __init__(self, crawler: Crawler) -> None:
        assert crawler.stats is not None
        self._crawler = crawler
        self._stats = crawler.stats
        self._crawl = Crawl.of(crawler)
        self._hosts = KnownHosts(self._crawl.folder.facts)
        self._questions = Questions(crawler)
        self._waiting: dict[str, list[Deferred[None]]] = {}
        self._failures: dict[str, int] = {}
        self._under_way = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware for a crawl."""
        middleware = cls(crawler)
        connect = crawler.signals.connect
        connect(middleware.response_downloaded, signal=signals.response_downloaded)
        connect(middleware.spider_idle, signal=signals.spider_idle)
        return middleware

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Let documents pass once their host is known, then request their other variants."""
        further: list[Request] = []
        async for item in result:
            if not isinstance(item, Document) or item.variant:
                yield item
            elif wanted := RequestState.of(response).variant:
                if self._take_variant(item, wanted):
                    yield item
                else:
                    end_url(response, State.DONE, Outcome.ONE_LANGUAGE)
            else:
                further.extend(await self._take_page(item, response))
                yield item
        for request in further:
            yield request

    def response_downloaded(self, response: Response, request: Request) -> None:
        """Watch the cookies that a site sets; try those that may mean the missing language."""
        headers = response.headers.getlist("Set-Cookie")
        host = urlsplit(request.url).netloc
        if not headers or RequestState.of(request).variant or not self._is_enabled(request.url):
            return
        known = self._hosts.get(host)
        if known is None or known.way is not Way.NONE:
            return
        other = self._other(request.url, known.language)
        if other is None:
            return
        cookies = cookies_set(headers, other, by_switch=request.url in known.switches)
        if known.may_try(cookies):
            self._under_way += 1
            trying = self._try_cookies(host, known, cookies, other)
            deferred_from_coro(trying).addBoth(self._ended)

    def spider_idle(self) -> None:
        """Keep the crawl open while inquiries are under way."""
        if self._under_way:
            raise DontCloseSpider

    def _take_variant(self, document: Document, wanted: str) -> bool:
        """Take a page that was requested in another language; return False if it is the same."""
        host = urlsplit(document.url).netloc
        pair = self._crawl.languages_of(document.url)
        answered = document.language == wanted
        known = self._hosts.get(host)
        if known is not None and known.serves_both:
            known.note(answered=answered)
            self._hosts.save(host, known)
            if known.way is Way.GIVEN_UP:
                logger.info(
                    "%s has nearly all of its pages in one language: negotiation stops there", host
                )
        self._count("answered" if answered else "unanswered")
        if not answered and document.language in pair:
            return False
        document.variant = wanted
        return True

    async def _take_page(self, document: Document, response: Response) -> list[Request]:
        """Find out about the host of a page; return further requests for the page."""
        other = self._other(document.url, document.language)
        honour = self._crawl.honour_of(document.url)
        if (
            other is None
            or not self._is_enabled(document.url)
            or opt_out_of(document.robots, document.tdm_reservation, honour) is not None
        ):
            return []
        known, found = await self._find_out(document, response, other)
        if found:
            return list(self._requests_for_page(document, response, found, other))
        if known is None or not known.serves_both:
            return []
        document.variant = document.language or ""
        score = RequestState.of(response).score or 0.0
        return [
            self._variant(known, document.url, code, score, document.depth)
            for code in self._others(document.url, document.language)
            if (code == other or known.can_serve(code)) and not names_translation(document, code)
        ]

    async def _find_out(
        self, document: Document, response: Response, other: str
    ) -> tuple[HostFacts | None, str]:
        """Return what the host of a page does; it is asked once, and its other pages wait.

        The second value is the page's own address in the other language, if it has one.
        """
        host = urlsplit(document.url).netloc
        while host in self._waiting:
            arrival: Deferred[None] = Deferred()
            self._waiting[host].append(arrival)
            await maybe_deferred_to_future(arrival)
        known = self._hosts.get(host)
        if known is not None or self._failures.get(host, 0) >= MAX_FAILURES:
            return known, ""
        self._waiting[host] = []
        try:
            inquiry = Inquiry(self._questions, other)
            known, found = await inquiry.of_page(document, _asked_for(response))
            if known is None:
                self._failures[host] = self._failures.get(host, 0) + 1
            else:
                self._decide(host, known)
        finally:
            for waiting in self._waiting.pop(host):
                waiting.callback(None)
        return known, found

    def _decide(self, host: str, known: HostFacts) -> None:
        self._hosts.save(host, known)
        self._count(f"hosts/{known.way}")
        if known.serves_both:
            logger.info("%s has both languages at one address (by %s)", host, known.way)

    async def _try_cookies(
        self, host: str, known: HostFacts, cookies: dict[str, str], other: str
    ) -> None:
        """Try cookies with the page that was used before; if they work, request earlier pages.

        The depth of those is not known any more, so it counts from here.
        """
        if not await Inquiry(self._questions, other).of_cookies(known, cookies):
            self._hosts.save(host, known)
            return
        self._decide(host, known)
        assert self._crawler.engine is not None
        for url, language in self._crawl.corpus.pages_of(host):
            if language == known.language:
                self._crawler.engine.crawl(self._variant(known, url, other, MIN_SCORE, 0))

    def _ended(self, result: object) -> None:
        self._under_way -= 1
        if isinstance(result, Failure):
            logger.error("An inquiry about languages failed: %s", result.getErrorMessage())

    def _requests_for_page(
        self, document: Document, response: Response, found: str, other: str
    ) -> Iterator[Request]:
        """Yield the request for a page that has its own address in the other language."""
        depth = document.depth + 1
        refusal = self._crawl.scope.refusal(found, depth)
        if refusal is not None:
            self._stats.inc_value(f"bilingual/redirects/refused/{refusal}")
            return
        self._crawl.corpus.alias(str(DocumentKey(_asked_for(response), other)), found)
        yield self._crawl.request(found, score=MIN_SCORE, depth=depth)

    def _variant(self, known: HostFacts, url: str, code: str, score: float, depth: int) -> Request:
        """Return the request for a page in one of its languages, with its own cookies."""
        self._count("requested")
        best = max(MIN_SCORE, score) if score < float("inf") else MIN_SCORE
        request = self._crawl.request(url, score=best, depth=depth)
        RequestState.update(request, variant=code)
        request.meta["cookiejar"] = f"variant {code}"
        request.headers.update(known.headers(code))
        request.cookies = dict(known.cookies.get(code, {}).items())
        return request

    def _other(self, url: str, language: str | None) -> str | None:
        """Return the language of the crawl that a page is not in; None if it is in neither.

        Of several the first one is asked for to find out what a host does.
        """
        return next(iter(self._others(url, language)), None)

    def _others(self, url: str, language: str | None) -> list[str]:
        """Return the languages of the crawl that a page is not in; none if it is in neither."""
        languages = self._crawl.languages_of(url)
        if language not in languages:
            return []
        return [code for code in languages.codes if code != language]

    def _is_enabled(self, url: str) -> bool:
        """Return True if negotiation is switched on for the site of a URL."""
        wanted = self._crawl.plan.sites.rules_for(host_of(url)).negotiate
        return self._crawl.config.negotiate if wanted is None else wanted

    def _count(self, name: str) -> None:
        self._stats.inc_value(f"bilingual/negotiation/{name}")


def _asked_for(response: Response) -> str:
    """Return the address that led to a page: the last redirect to it, if on the same host."""
    before = response.meta.get("redirect_urls") or [response.url]
    same = urlsplit(before[-1]).netloc == urlsplit(response.url).netloc
    return str(before[-1]) if same else response.url


class VariantFingerprinter(RequestFingerprinter):
    """Keeps the variants of a URL apart, for instance in Scrapy's HTTP cache."""

    def fingerprint(self, request: Request) -> bytes:
        """Return Scrapy's fingerprint, which for a variant includes the deciding headers."""
        if not RequestState.of(request).variant:
            return super().fingerprint(request)
        return fingerprint(request, include_headers=DECIDING_HEADERS)
