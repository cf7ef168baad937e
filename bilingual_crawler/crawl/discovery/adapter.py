"""Discovery in a crawl: the adapter between Scrapy and the search for bilingual sites.

Every page is read for its links to other sites, and starts or continues the examination of its
own site. What the search and the detector request goes into the same frontier as everything
else, so delays, robots.txt, opt-outs and budgets apply.

A page that discovery requests is examined, not harvested. It has its own identity in the frontier,
so that harvesting can still request it when its site turns out to be bilingual.
"""

import json
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

from scrapy import Request, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.http import Response
from scrapy.statscollectors import StatsCollector
from scrapy.utils.asyncio import sleep

from bilingual_crawler.config.discovery import OWN, STRATEGIES, TWO
from bilingual_crawler.crawl.background import BackgroundThread
from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.crawl.discovery.backlinks import BacklinkQueries, make_provider
from bilingual_crawler.crawl.discovery.look import (
    PARKED,
    Look,
    RankedLink,
    TurnTaking,
    ranked,
    waiting_links,
)
from bilingual_crawler.crawl.fetching.optouts import (
    CLOSED,
    forbids_links,
    opt_out_of,
    record_opt_out,
)
from bilingual_crawler.crawl.request_state import LOOKED_AT, RequestState, end_url
from bilingual_crawler.crawl.requests import fingerprint_of
from bilingual_crawler.crawl.signals import crawl_ending
from bilingual_crawler.discovery.graph import OutLink, out_links
from bilingual_crawler.discovery.learner import CHECK_PRIORITY, Learner, Queue
from bilingual_crawler.discovery.link_predictor import LinkPredictor
from bilingual_crawler.discovery.search import Search, WantedUrl
from bilingual_crawler.discovery.site_detector import Examination, SiteDetector
from bilingual_crawler.discovery.site_records import Approach, SiteRecord, SiteVerdict, Standing
from bilingual_crawler.documents.document import Document
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import CrawlFrontier, State
from bilingual_crawler.languages import Languages, OneLanguage
from bilingual_crawler.outcomes import Outcome
from bilingual_crawler.scoring.scorer import SEED_PRIORITY
from bilingual_crawler.store.files import AppendFile
from bilingual_crawler.store.folder import SITES
from bilingual_crawler.urls.fingerprint import request_fingerprint
from bilingual_crawler.urls.hosts import host_of, site_of

logger = logging.getLogger(__name__)

DISCOVERS, PAGES, QUEUED_IN = "discovers", "pages of discovery", "queues of discovery"
OPEN = frozenset({None, Standing.WAITING, Standing.UNREACHABLE})
"""Standings of sites that are examined when one of their pages arrives."""
RANKED_AT_ONCE = 1_000
STRONGEST_SHOWN = 8


def check_discovery(langs: Languages, frontier: str) -> None:
    """Raise ConfigurationError for a crawl that cannot search for bilingual sites."""
    problems = []
    if isinstance(langs, OneLanguage):
        problems.append(f"-a langs={langs} is one language: a bilingual site has two of them.")
    if frontier:
        problems.append(
            "BILINGUAL_FRONTIER is for harvesting: a search for bilingual sites runs on one"
            " machine, which reads 60 pages per second and more, so that 100,000 pages take half"
            " an hour. Leave it out, and let the workers harvest what is found, with"
            " -a seeds_file=sites.jsonl."
        )
    if problems:
        raise ConfigurationError(*problems)


class Discovery:
    """Examines sites page by page, and passes the bilingual ones to harvesting."""

    def __init__(
        self, crawl: Crawl, look: Callable[..., Any], not_seen: Callable[..., Any]
    ) -> None:
        self._crawl, self._crawler = crawl, crawl.crawler
        self._look, self._not_seen = look, not_seen
        self._folder, self._config = crawl.folder, crawl.config
        self._folder.facts[DISCOVERS] = "yes"
        self._folder.add(
            AppendFile(self._folder.path / SITES, self._folder.journal.file_end(SITES))
        )
        self._strategy = STRATEGIES[self._config.discovery_strategy]
        self._predictor = LinkPredictor.load(self._config.link_predictor)
        learner = Learner(
            self._config.discovery_learn_after,
            learns=self._strategy.learns,
            pages=int(self._folder.facts.get(PAGES, "0")),
        )
        self._is_focused = self._strategy.may_focus and bool(crawl.topic)
        self._two_queues = self._config.discovery_queues == TWO
        self.search = Search(
            self._folder.journal,
            self._strategy,
            learner,
            self._admits,
            compares_queues=not self._two_queues,
            focused=self._is_focused,
        )
        self._turns: TurnTaking | None = None
        self._examinations: dict[str, Examination] = {}
        self._queries = self._make_queries()
        self._thread = BackgroundThread()
        for handler, signal in (
            (self._idle, signals.spider_idle),
            (self._dropped, signals.request_dropped),
            (self._ending, crawl_ending),
            (self._thread.stop, signals.engine_stopped),
        ):
            self._crawler.signals.connect(handler, signal=signal)

    def _make_queries(self) -> BacklinkQueries:
        config = self._config
        wanted = [spec for spec in config.backlinks if spec.kind != OWN]
        providers = [
            make_provider(spec, self._crawler, config.backlinks_delay)
            for spec in (wanted if self._strategy.back_and_forth else ())
        ]
        return BacklinkQueries(providers, config.backlinks_a_site)

    async def start(self) -> AsyncIterator[Request]:
        """Request the seeds, and what an earlier run could not finish."""
        for url in self._crawl.plan.seeds:
            self.search.seed(url)
            yield self._request(url, SEED_PRIORITY, Look())
        for record in self.search.unfinished:
            if record.standing is Standing.BILINGUAL:
                self._find_backlinks(record)
            else:
                self.search.sites.note(record._replace(standing=Standing.WAITING))
                look = Look(None, record.approach.words, record.approach.via)
                yield self._request(record.approach.url, CHECK_PRIORITY, look, again=True)

    def resume(self, frontier: CrawlFrontier) -> None:
        """Admit the sites that an earlier run found, and the hosts that wait for harvesting.

        Two queues are refilled with the links that wait in the frontier; so is the one queue after
        a run with two.
        """
        for record in self.search.sites.load():
            for url in record.entries:
                self._crawl.scope.admit(host_of(url))
        for entry in frontier.queued():
            is_harvested = Look.from_payload(entry.payload) is None
            if is_harvested and not self._crawl.foreign.is_unanswered(entry.host):
                self._crawl.scope.admit_host(entry.host)
        if self._two_queues:
            self._turns = TurnTaking(frontier)
        if TWO in (self._config.discovery_queues, self._folder.facts.get(QUEUED_IN)):
            for link in ranked(self.search, waiting_links(frontier)):
                self._rank(link, frontier)
        self._folder.facts[QUEUED_IN] = self._config.discovery_queues

    def _rank(self, link: RankedLink, frontier: CrawlFrontier) -> None:
        """Give a waiting link its new place."""
        if self._turns is not None:
            self._turns.rank(link)
        else:
            frontier.set_priority(link.fingerprint, link.priority)

    def handed_out(self, request: Request) -> None:
        """Note that the frontier has handed out a request."""
        if self._turns is not None:
            self._turns.handed_out(request)

    async def take(self, response: Response, document: Document) -> None:
        """Take a page that discovery requested.

        A page that must not be kept is not examined either, but its links may be followed. One
        that is reserved or closed to machine learning is not even read for its links.
        """
        look = Look.of(response)
        honour = self._crawl.honour_of(document.url)
        opt_out = opt_out_of(document.robots, document.tdm_reservation, honour)
        end_url(response, State.DONE, opt_out or Outcome.EXAMINED)
        if forbids_links(document.robots, honour):
            document.links = []
        async with self._thread:
            if opt_out not in CLOSED:
                await self.note_links(document)
                if self._is_focused and look.queue is not None:
                    approach = look.approach(document.requested_url)
                    self.search.classified(approach, self._is_on_topic(document))
            if opt_out is None:
                await self._examine(document, look)
            else:
                record_opt_out(self._stats, host_of(document.url), opt_out)
                self._missed(document.requested_url, look, opt_out)
            is_time = self.search.learner.page_read()
            self._folder.facts[PAGES] = str(self.search.learner.pages)
            if is_time:
                await self._rank_anew()

    async def note_links(self, document: Document) -> None:
        """Read a page for its links to other sites; follow those that the search wants."""
        links: list[OutLink] = []
        if not forbids_links(document.robots, self._crawl.honour_of(document.url)):
            links = await self._thread.run(out_links, document)
        self._count("links", len(links))
        on_topic = not self._is_focused or self._is_on_topic(document)
        self._send(self.search.read(document.requested_url, links, on_topic=on_topic))

    def _is_on_topic(self, document: Document) -> bool:
        """Return what the topic, as the page classifier of a focused crawl, says of a page."""
        if document.topic is None:
            self._crawl.topic.annotate(document)
        return document.topic is not None and document.topic.on_topic

    def failed(self, request: Request, reason: str) -> None:
        """Take the failure of a page that discovery requested."""
        asked = (request.meta.get("redirect_urls") or [request.url])[0]
        self._missed(asked, Look.of(request), reason)

    async def _examine(self, document: Document, look: Look) -> None:
        """Continue the examination of a page's site, or start it."""
        asked = document.requested_url
        examination = self._waiting_for(asked, look)
        if examination is None:
            approach = look.approach(asked)
            if look.queue is not None:
                approach = self.search.best_approach(look.queue, approach)
            examination = self._begin(document, approach)
        if examination is not None:
            await self._thread.run(examination.take, asked, document)
            self._go_on(examination)

    def _waiting_for(self, asked: str, look: Look) -> Examination | None:
        """Return the examination that waits for a page; others may have requested it before."""
        examination = self._examinations.get(look.site or site_of(host_of(asked)))
        waits = examination is not None and examination.is_waiting_for(asked)
        return examination if waits else None

    def _begin(self, document: Document, approach: Approach) -> Examination | None:
        """Start to examine a page's site; return None if that was done or is under way."""
        sites = self.search.sites
        asked, site = site_of(host_of(approach.url)), site_of(host_of(document.url))
        if asked != site and sites.standing(asked) is Standing.WAITING:
            sites.note(SiteRecord(asked, Standing.UNREACHABLE, Approach(approach.url)))
        standing = sites.standing(site)
        if standing not in OPEN:
            if asked != site and approach.via:
                self.search.hubs.judged(approach.via, standing is Standing.BILINGUAL)
            return None
        sites.note(SiteRecord(site, Standing.EXAMINING, approach))
        languages = self._crawl.languages_of(document.url)
        assert not isinstance(languages, OneLanguage)  # check_discovery made sure
        detector = SiteDetector(
            document.url,
            languages,
            self._predictor,
            likelihood=self._config.site_likelihood,
            budget=self._config.site_budget,
            sitemaps=False,
        )
        examination = self._examinations[site] = Examination(site, approach, detector)
        return examination

    def _go_on(self, examination: Examination) -> None:
        """Request the next page of a site, or record the verdict."""
        url = examination.next()
        if url is not None:
            look = Look(site=examination.site)
            self._push(self._request(url, CHECK_PRIORITY, look, again=True))
        elif examination.verdict is not None:
            del self._examinations[examination.site]
            self._judged(examination, examination.verdict)

    def _judged(self, examination: Examination, verdict: SiteVerdict) -> None:
        is_bilingual = verdict.is_bilingual
        record = SiteRecord(
            examination.site,
            Standing.BILINGUAL if is_bilingual else Standing.OTHER,
            examination.approach,
            verdict.downloads,
            tuple(dict.fromkeys(url for _, url in verdict.entries)) if is_bilingual else (),
        )
        self.search.judged(record)
        self._count("sites/bilingual" if is_bilingual else "sites/other")
        if not is_bilingual:
            return
        line = json.dumps(verdict.to_dict(), ensure_ascii=False)
        self._folder.journal.append(SITES, line + "\n")
        if self._strategy.back_and_forth:
            self._find_backlinks(record)
        if self._crawl.harvests:
            for url in record.entries:
                self._crawl.scope.admit(host_of(url))
                self._push(self._crawl.request(url, score=SEED_PRIORITY, depth=0))

    def _missed(self, asked: str, look: Look, reason: str) -> None:
        """Handle a missing page: part of an examination, a hub, or the first page of a site."""
        examination = self._waiting_for(asked, look)
        if examination is not None:
            examination.missed(asked, reason)
            self._go_on(examination)
        if look.site:
            return
        if look.queue is not None and self.search.hubs.is_unread(asked):
            self.search.hubs.read(asked, 0, 0)
        site = site_of(host_of(asked))
        is_open = self.search.sites.standing(site) in OPEN
        if is_open and look.queue is not Queue.BACKLINK:
            self.search.judged(SiteRecord(site, Standing.UNREACHABLE, look.approach(asked)))
            self._count("sites/unreachable")

    def _find_backlinks(self, record: SiteRecord) -> None:
        """Queue the known pages that link to a site, and query the providers for more."""
        site = record.site

        def take(urls: list[str]) -> None:
            self._count("backlinks/found", len(urls))
            self._send(self.search.backlinks(site, urls, self._was_read))

        take(self.search.graph.sources_of(site, self._config.backlinks_a_site))
        url = record.entries[0] if record.entries else record.approach.url
        self._queries.ask(url, site, take, lambda: self.search.sites.note_backlinks(site))

    async def _rank_anew(self) -> None:
        """Reorder both queues by what was learned, one part at a time."""
        learner, frontier = self.search.learner, self._frontier
        for queue in Queue:
            words = [word for word, _ in learner.strongest(queue, STRONGEST_SHOWN)]
            said = ", ".join(words) or "nothing yet"
            logger.info(
                "After %d pages, the best signs of %s links: %s", learner.pages, queue, said
            )
        waiting = waiting_links(frontier)
        places = await self._thread.run(lambda: list(ranked(self.search, waiting)))
        if self._turns is not None:
            self._turns.clear()
        for number, link in enumerate(places, 1):
            self._rank(link, frontier)
            if not number % RANKED_AT_ONCE:
                await sleep(0)
        self._count("rankings")

    def _admits(self, url: str) -> bool:
        refusal = self._crawl.scope.refusal_on_any_site(url, depth=0)
        if refusal is not None:
            self._stats.inc_value(f"bilingual/links/refused/{refusal}")
        return refusal is None

    def _was_read(self, url: str) -> bool:
        fingerprint = request_fingerprint(url, "GET", b"", LOOKED_AT)
        return self._frontier.state_of(fingerprint) is State.DONE

    def _send(self, candidates: Iterable[WantedUrl]) -> None:
        for queue, approach, priority in candidates:
            look = Look(queue, approach.words, approach.via)
            parked = PARKED if self._turns is not None else 0.0
            request = self._request(approach.url, parked + priority, look)
            self._push(request)
            if self._turns is not None:
                self._turns.add(queue, fingerprint_of(request), priority)

    def _request(self, url: str, score: float, look: Look, *, again: bool = False) -> Request:
        request = self._crawl.request(url, score=score, depth=0)
        request = request.replace(callback=self._look, errback=self._not_seen, dont_filter=again)
        RequestState.update(request, look=look.to_plain())
        return request

    def _push(self, request: Request) -> None:
        assert self._crawler.engine is not None
        self._crawler.engine.crawl(request)

    def _dropped(self, request: Request) -> None:
        """Handle a redirect to a page that was seen already: its site has another name."""
        is_look = RequestState.of(request).look is not None
        if is_look and request.meta.get("redirect_urls"):
            self.failed(request, Outcome.REDIRECTED)

    def _idle(self) -> None:
        if self._queries.open:
            raise DontCloseSpider

    def _ending(self) -> None:
        self._queries.close()
        self.search.graph.close()

    @property
    def _frontier(self) -> CrawlFrontier:
        return self._crawl.frontier

    def _count(self, name: str, amount: int = 1) -> None:
        self._stats.inc_value(f"bilingual/discovery/{name}", amount)

    @property
    def _stats(self) -> StatsCollector:
        assert self._crawler.stats is not None
        return self._crawler.stats
