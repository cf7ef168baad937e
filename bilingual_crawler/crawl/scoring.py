"""Scoring in the crawl: the spider middleware that turns links into requests with a priority.

All links of a page are scored in one call, on a background thread, one page after the other.
URLs that the frontier knows cost nothing: no request is built and no scorer called, except to
raise a waiting URL if the scorer also considers the context of a link.

Scorers get the results (pairs, failures) before the next links, and answers to their questions
about the crawl. Besides scores they may request URLs to probe, new priorities, and the end of a
site.
"""

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from sys import intern
from typing import Any, Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.asyncio import sleep

from bilingual_crawler.corpus.corpus import Corpus
from bilingual_crawler.crawl.background import BackgroundThread
from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.crawl.fetching.optouts import (
    CLOSED,
    forbids_links,
    opt_out_of,
    record_opt_out,
)
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.crawl.signals import (
    crawl_ending,
    pair_found,
    pair_lost,
    url_ended,
    url_redirected,
)
from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.frontier.entry import CrawlFrontier, Frontier, State
from bilingual_crawler.languages import Languages
from bilingual_crawler.outcomes import LinkRefusal, Outcome
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.scoring.scorekeeper import (
    Failed,
    News,
    PairNews,
    Redirected,
    Scorekeeper,
    Scorekeepers,
)
from bilingual_crawler.scoring.scorer import REFUSED, LinkScorer, Proposal, make_scorer
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.store.journal_tables import Facts, JournaledDict
from bilingual_crawler.urls.fingerprint import url_fingerprint
from bilingual_crawler.urls.hosts import host_of, site_of

logger = logging.getLogger(__name__)

SCHEMA = """
CREATE TABLE IF NOT EXISTS languages (fingerprint INTEGER PRIMARY KEY, language TEXT NOT NULL);
"""


class ScoringMiddleware:
    """Scores links after the document itself has gone to the pipelines."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._crawl = crawl = Crawl.of(crawler)
        self._config = config = crawl.config
        journal = crawl.folder.journal
        self._languages = PageLanguages(journal)
        self._live = LiveCrawl(lambda: crawl.frontier, crawl.corpus, self._languages)
        self._keepers = Scorekeepers(config.scorer, self._make, journal, config.checkpoint_seconds)
        self._feedback = Feedback(crawler, self._keepers)
        self._actions = ScorerActions(crawler)
        self._thread = BackgroundThread()
        self._coming: set[int] = set()  # on their way to the frontier
        crawler.signals.connect(self._thread.stop, signal=signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware for a crawl."""
        return cls(crawler)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Let all documents of a page go to the pipelines, then score its links, once.

        The pipelines run when the event loop gets its turn, so the pairs of a document are known
        before its links are scored.
        """
        pages: dict[str, Document] = {}
        async for item in result:
            yield item
            if isinstance(item, Document):
                pages.setdefault(item.url, item)
        for page in pages.values():
            if not self._is_closed(page):
                await sleep(0)
                for request in await self._score(page, response):
                    yield request

    async def _score(self, document: Document, response: Response) -> list[Request]:
        """Score the links of a page when its turn comes; an error in the scorer is the page's."""
        keeper = self._keeper_of(document.url)
        async with self._thread:
            self._coming = {each for each in self._coming if each not in self._frontier}
            self._languages.note(document)
            is_seed = response.meta.get("is_start_request")
            weight = 1.0 if is_seed else keeper.scorer.weight_of(document)
            follow = self._has_answered(document) and weight
            follow = follow and self._may_follow(document, response)
            links = self._wanted(document, keeper.scorer) if follow else []
            verdict = await self._thread.run(keeper.judge, document, links, keeper.take_news())
            self._count("links/scored", len(links))
            self._count("scoring/microseconds", round(verdict.seconds * 1e6))
            self._actions.reorder(verdict.changes, self._frontier)
            self._actions.end_sites(verdict.exhausted)
            scores = [score * weight for score in verdict.scores]
            requests = list(self._requests(document, links, scores))
            self._coming.update(url_fingerprint(request.url) for request in requests)
            probes = list(self._actions.requests(verdict.proposals, self._is_known))
            self._coming.update(url_fingerprint(probe.url) for probe in probes)
            return requests + probes

    def _wanted(self, document: Document, scorer: LinkScorer) -> list[Link]:
        """Return the links to score: new to the frontier, or waiting and able to rise."""
        frontier, scope, depth = self._frontier, self._crawl.scope, document.depth + 1
        links = self._links(document)
        foreign = self._foreign(document)
        frontier.prefetch(
            (url_fingerprint(link.url), host)
            for link in links
            if scope.covers(host := host_of(link.url)) or link.url in foreign
        )
        seen: set[int] = set()
        wanted = []
        for link in links:
            fingerprint = url_fingerprint(link.url)
            state = frontier.state_of(fingerprint)
            if state is State.QUEUED or fingerprint in self._coming:
                if scorer.sees_context:
                    wanted.append(link)
            elif state is None and (scorer.sees_context or fingerprint not in seen):
                seen.add(fingerprint)
                ask = scope.refusal_on_any_site if link.url in foreign else scope.refusal
                refusal = ask(link.url, depth)
                if refusal is None:
                    wanted.append(link)
                else:
                    self._count(f"links/refused/{refusal}")
        self._count("links/seen", len(links))
        return wanted

    def _requests(
        self, document: Document, links: Sequence[Link], scores: Sequence[float]
    ) -> Iterator[Request]:
        """Raise waiting URLs, and request the others, each with its best score."""
        best: dict[int, tuple[float, str]] = {}
        for link, score in zip(links, scores, strict=True):
            fingerprint = url_fingerprint(link.url)
            known = best.get(fingerprint)
            if known is None or score > known[0]:
                best[fingerprint] = (score, link.url)
        for fingerprint, (score, url) in best.items():
            if score == REFUSED:
                self._count(f"links/refused/{LinkRefusal.SCORER}")
            elif fingerprint not in self._frontier:
                yield self._crawl.request(url, score=score, depth=document.depth + 1)
            elif self._frontier.raise_priority(fingerprint, score):
                self._count("links/raised")

    def _links(self, document: Document) -> list[Link]:
        """Return the links of a page, its declared translations first."""
        declared = [
            Link(alternate.url, rel="alternate", hreflang=alternate.hreflang)
            for alternate in document.alternates
            if alternate.url != document.url
        ]
        urls = {link.url for link in declared}
        return declared + [link for link in document.links if link.url not in urls]

    def _foreign(self, document: Document) -> set[str]:
        """Return declared translations on hosts that have yet to link back, one per language."""
        if not self._config.follow_alternates:
            return set()
        scope, claims, own = self._crawl.scope, self._crawl.foreign, host_of(document.url)
        found: dict[tuple[str, str], str] = {}
        for each in document.alternates:
            url, language = each.url, each.language
            host = host_of(url)
            if language is None or language not in self._crawl.languages_of(url):
                continue
            if not host or scope.covers(host):
                continue
            if claims.claim(host, own):
                found.setdefault((host, language), url)
            else:
                self._count("links/refused/foreign_host")
        return set(found.values())

    def _has_answered(self, document: Document) -> bool:
        """Return False for a page of a host that has yet to link back; its links do not count."""
        host, claims = host_of(document.url), self._crawl.foreign
        if not claims.is_unanswered(host):
            return True
        if claims.read(document):
            self._crawl.scope.admit_host(host)
            self._count("sites/admitted")
            return True
        self._count("sites/unanswered")
        return False

    def _is_closed(self, document: Document) -> bool:
        """Return True if a page asks not to be used at all."""
        honour = self._crawl.honour_of(document.url)
        return opt_out_of(document.robots, document.tdm_reservation, honour) in CLOSED

    def _may_follow(self, document: Document, response: Response) -> bool:
        """Return True if the links of a page may be followed; if not, count the opt-out."""
        if not forbids_links(document.robots, self._crawl.honour_of(document.url)):
            return True
        if RequestState.of(response).opt_out != "nofollow":  # else it was counted with the headers
            record_opt_out(self._crawler.stats, host_of(document.url), "nofollow")
        return False

    def _is_known(self, fingerprint: int) -> bool:
        return fingerprint in self._frontier or fingerprint in self._coming

    def _keeper_of(self, url: str) -> Scorekeeper:
        return self._keepers.of(self._crawl.languages_of(url))

    def _make(self, languages: Languages) -> LinkScorer:
        topic = self._crawl.topic
        return make_scorer(self._config.scorer, languages, self._live, self._config, topic)

    @property
    def _frontier(self) -> CrawlFrontier:
        return self._crawl.frontier

    def _count(self, name: str, amount: int = 1) -> None:
        self._crawler.stats.inc_value(f"bilingual/{name}", amount)


class PageLanguages:
    """The language of every fetched page, whether or not it is a wanted one."""

    def __init__(self, journal: Journal) -> None:
        self._languages = JournaledDict(journal, "languages", SCHEMA, key=int, decode=intern)

    def note(self, document: Document) -> None:
        """Remember the language of a page, under its URL and the one that was requested."""
        if document.language is None:
            return
        for url in {document.url, document.requested_url or document.url}:
            self._languages[url_fingerprint(url)] = intern(document.language)

    def get(self, url: str) -> str | None:
        """Return the language of a page; None if it was not fetched, or has none."""
        return self._languages.get(url_fingerprint(url))


class LiveCrawl:
    """The running crawl, for scorers. It only reads dictionaries, so any thread may use it."""

    def __init__(
        self, frontier: Callable[[], Frontier], corpus: Corpus, languages: PageLanguages
    ) -> None:
        self._frontier = frontier
        self._corpus = corpus
        self._languages = languages

    def state_of(self, url: str) -> State | None:
        """Return the state of a URL; None if it was never pushed."""
        return self._frontier().state_of(url_fingerprint(url))

    def language_of(self, url: str) -> str | None:
        """Return the language of a page; None if it was not fetched, or has none."""
        return self._languages.get(url)

    def partner_of(self, url: str) -> str | None:
        """Return the page with which this one is paired now."""
        return self._corpus.partner_of(url)

    def slugs_agree(self, first: str, second: str) -> float | None:
        """Return the share of words in two addresses that translate each other, if known."""
        return self._corpus.slugs_agree(first, second)


class Feedback:
    """Passes signals of the crawl to the scorers as news, and counts the results of probes."""

    def __init__(self, crawler: Crawler, keepers: Scorekeepers) -> None:
        self._crawl = Crawl.of(crawler)
        self._stats = crawler.stats
        self._keepers = keepers
        for handler, signal in (
            (self._found, pair_found),
            (self._lost, pair_lost),
            (self._ended, url_ended),
            (self._redirected, url_redirected),
            (keepers.finish, crawl_ending),
        ):
            crawler.signals.connect(handler, signal=signal)

    def _found(self, pair: DocumentPair) -> None:
        self._add(pair.first, PairNews(pair, kept=True))

    def _lost(self, pair: DocumentPair) -> None:
        self._add(pair.first, PairNews(pair, kept=False))

    def _redirected(self, source: str, target: str) -> None:
        self._add(source, Redirected(source, target))

    def _ended(self, request: Request, state: State, reason: str) -> None:
        """Report every URL under which a page could not be fetched, and redirected probes.

        A probe that redirects may lead to a page to which all missing URLs redirect. Variants
        and pages that discovery examines are left out: the former say nothing about their URL,
        and the latter were never scored.
        """
        if RequestState.of(request).identity:
            return
        is_probe = RequestState.of(request).probe
        if state is State.FAILED:
            for url in (*request.meta.get("redirect_urls", ()), request.url):
                self._add(url, Failed(url, reason))
        elif is_probe and reason == Outcome.REDIRECTED:
            self._add(request.url, Failed(request.url, reason))
        if is_probe and reason != Outcome.REDIRECTED:
            result = "missed" if state is State.FAILED else "found"
            self._stats.inc_value(f"bilingual/probes/{result}")

    def _add(self, url: str, news: News) -> None:
        self._keepers.of(self._crawl.languages_of(url)).tell(news)


class ScorerActions:
    """Carries out what a scorer requests, as far as the rules of the crawl allow."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawl = crawl = Crawl.of(crawler)
        self._stats = crawler.stats
        self._budget = ProbeBudget(crawl.folder.facts, crawl.config.probes)
        self._seeds = frozenset(map(url_fingerprint, crawl.plan.seeds))

    def requests(
        self, proposals: Iterable[Proposal], is_known: Callable[[int], bool]
    ) -> Iterator[Request]:
        """Yield requests for proposals that belong to the crawl, are new, and within the budget."""
        for proposal in proposals:
            refusal = self._refusal(proposal, is_known)
            if refusal is not None:
                self._count(f"probes/refused/{refusal}")
                continue
            if not proposal.linked:
                self._count("probes/sent")
                logger.debug("Probing %s: %s", proposal.url, proposal.why)
            yield self._crawl.request(
                proposal.url,
                score=proposal.score,
                depth=proposal.depth,
                probe=not proposal.linked,
            )

    def reorder(self, changes: Iterable[tuple[str, float]], frontier: Frontier) -> None:
        """Change the priority of waiting URLs, except for seeds."""
        for url, priority in changes:
            fingerprint = url_fingerprint(url)
            if fingerprint in self._seeds or frontier.state_of(fingerprint) is not State.QUEUED:
                continue
            if frontier.raise_priority(fingerprint, priority):
                self._count("links/raised")
            elif frontier.set_priority(fingerprint, priority):
                self._count("links/lowered")

    def end_sites(self, hosts: Iterable[str]) -> None:
        """Fetch nothing more from sites that yield too little; their waiting URLs are kept."""
        for site in dict.fromkeys(map(site_of, hosts)):
            self._crawl.end_site(site)
            self._count("sites/ended")
            config = self._crawl.config
            logger.info(
                "%s ends: fewer than %g pairs per page in about its last %d pages",
                site,
                config.site_yield,
                config.site_yield_pages,
            )

    def _refusal(self, proposal: Proposal, is_known: Callable[[int], bool]) -> str | None:
        if is_known(url_fingerprint(proposal.url)):
            return "known"
        refusal = self._crawl.scope.refusal(proposal.url, proposal.depth)
        if refusal is not None:
            return refusal
        if not proposal.linked and not self._budget.take(proposal.url):
            return "budget"
        return None

    def _count(self, name: str) -> None:
        self._stats.inc_value(f"bilingual/{name}")


class ProbeBudget:
    """The number of URLs that may be probed per site, in all runs together."""

    def __init__(self, facts: Facts, max_probes: int) -> None:
        self._facts = facts
        self._max = max_probes

    def take(self, url: str) -> bool:
        """Use up one probe; return False if none is left."""
        name = f"probes {site_of(host_of(url))}"
        used = int(self._facts.get(name, "0"))
        if used >= self._max:
            return False
        self._facts[name] = str(used + 1)
        return True
