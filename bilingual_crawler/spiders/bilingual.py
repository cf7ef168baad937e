"""The spider that harvests the pages of bilingual sites: `scrapy crawl bilingual`."""

import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.python.failure import Failure

from bilingual_crawler.config.plan import CRAWLS, CrawlPlan
from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.corpus import Corpus
from bilingual_crawler.crawl.browser.chromium import check_rendering
from bilingual_crawler.crawl.browser.rendering import Rendering
from bilingual_crawler.crawl.deadline import StopDeadline
from bilingual_crawler.crawl.discovery.crawl import DISCOVERS, Discovery, check_discovery
from bilingual_crawler.crawl.fetching.identity import warn_without_contact
from bilingual_crawler.crawl.fetching.refusal import reason_of
from bilingual_crawler.crawl.foreign_hosts import ForeignHosts
from bilingual_crawler.crawl.frontier_backend import connect
from bilingual_crawler.crawl.requests import LOOK
from bilingual_crawler.crawl.scope import Scope
from bilingual_crawler.crawl.signals import pair_found, pair_lost
from bilingual_crawler.crawl.worker_folder import open_folder
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.mixed import split_mixed
from bilingual_crawler.errors import ConfigurationError, writing
from bilingual_crawler.frontier.entry import CrawlFrontier, State
from bilingual_crawler.languages import LanguagePair, Languages
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.pairing.resources import PairingAids
from bilingual_crawler.scoring.scorer import SEED_PRIORITY, NothingYet, default_scorer, make_scorer
from bilingual_crawler.scoring.shared_models import parallel_urls_if_there
from bilingual_crawler.store.folder import CrawlFolder
from bilingual_crawler.topics.topic import Topic
from bilingual_crawler.urls.credentials import without_credentials
from bilingual_crawler.urls.hosts import host_of

if TYPE_CHECKING:
    from redis import Redis

logger = logging.getLogger(__name__)

RENDERED_TYPE = "text/html; charset=utf-8"
NOT_THERE = frozenset({"http_404", "http_410"})


class BilingualSpider(Spider):
    """Follows the links of bilingual sites and makes a document of every page.

    -a langs=spa-eus       the two languages: ISO 639 codes or English names; one alone
                           (langs=spa) is a crawl without translations
    -a seeds=URL,URL       where to start (default: the project's list for the pair)
    -a seeds_file=FILE     the same from a file, one URL a line, # for comments
    -a output=DIR          where to write (default: crawls/<langs>-<time>); the same
                           folder again goes on with a crawl that was stopped
    -a sites=FILE          a TOML file with settings for single sites
    -a topic=FILE          a table of weighted terms: only what is about them is kept
    -a scorer=NAME         how links are ranked, as BILINGUAL_SCORER
    -a discover=1          search for bilingual sites from the seeds on, and harvest those
    """

    name = "bilingual"
    harvests: ClassVar[bool] = True
    callbacks: ClassVar[frozenset[str]] = frozenset({"parse", "look"})
    errbacks: ClassVar[frozenset[str]] = frozenset({"failed", "not_seen"})
    """The methods that a request may name which is read from a folder or from Redis."""
    plan: CrawlPlan
    config: Config
    folder: CrawlFolder
    corpus: Corpus
    foreign: ForeignHosts
    patience: StopDeadline
    topic: Topic
    discovery: Discovery | None = None
    redis: "Redis | None" = None
    """The server that holds the frontier, where it is shared."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Check everything the user gave before anything is fetched."""
        scorer = kwargs.pop("scorer", None)
        if scorer is not None:
            crawler.settings.set("BILINGUAL_SCORER", scorer, priority="cmdline")
        plan = CrawlPlan.from_arguments(*args, **kwargs)
        settings = crawler.settings
        if settings.get("BILINGUAL_SCORER") is None:
            settings.set("BILINGUAL_SCORER", default_scorer(plan.langs), priority="addon")
        config = Config.from_settings(settings)
        if config.frontier and kwargs.get("output") is None:  # all workers, now and later
            plan = replace(plan, output=CRAWLS / str(plan.langs))
        if plan.discover:
            check_discovery(plan.langs, config.frontier)
        if cls.harvests:
            make_scorer(config.scorer, plan.langs, NothingYet(), config)  # complains, if it must
        if {config.render, *plan.sites.said("render")} != {"never"}:
            check_rendering(config.chromium)
        spider = super().from_crawler(crawler)
        spider.prepare(config, plan)
        return spider

    def prepare(self, config: Config, plan: CrawlPlan) -> None:
        """Open the folder of the crawl and everything that is rebuilt from it."""
        self.config, self.plan = config, plan
        self.patience = StopDeadline(config.stop_seconds)
        self._pair_of_host = lru_cache(maxsize=1 << 14)(self._find_pair)
        url_model = parallel_urls_if_there(config) if self.harvests else None
        aids = PairingAids.read(config, url_model)
        self.topic = topic_of(plan, config)
        self.redis = connect(config.frontier) if config.frontier else None
        with writing(plan.output, "Mend that, or name another folder with -a output=FOLDER."):
            self.folder = open_folder(plan, config, self.topic.name, harvests=self.harvests)
            self.corpus = Corpus(
                self.folder,
                self.pair_of,
                config.duplicate_share,
                on_pair=self._tell_pair,
                aids=aids,
            )
            self.foreign = ForeignHosts(self.folder.journal, config.alternate_hosts)
        if plan.discover or self.folder.facts.get(DISCOVERS):
            self.discovery = Discovery(self, self.crawler)

    @cached_property
    def scope(self) -> Scope:
        """Which URLs belong to the crawl; made when all settings are final."""
        settings = self.crawler.settings
        return Scope(
            () if self.discovery else self.plan.seeds,
            self.plan.sites,
            follow=self.config.follow,
            depth_limit=settings.getint("DEPTH_LIMIT"),
            max_length=settings.getint("URLLENGTH_LIMIT"),
            repeated_segments=self.config.repeated_segments,
            query_parameters=self.config.query_parameters,
        )

    @cached_property
    def rendering(self) -> Rendering:
        """What renders pages, where that is wanted; made when the engine runs."""
        return Rendering.from_crawler(self.crawler)

    def render_mode(self, url: str) -> str:
        """Whether the pages of a site are rendered: never, auto or always."""
        return self.plan.sites.rules_for(host_of(url)).render or self.config.render

    def resume(self, frontier: CrawlFrontier) -> None:
        """Take the hosts back in that an earlier run had come to.

        The frontier names those that have URLs waiting, `foreign` those that have led back. A
        shared frontier does not tell which hosts are only declared: `take_in` does.
        """
        if self.discovery is not None:
            self.discovery.resume(frontier)
            return
        for host in self.foreign.answered:
            self.scope.admit_host(host)
        if self.redis is None:
            for host in frontier.hosts:
                if not self.foreign.is_unanswered(host):
                    self.scope.admit_host(host)

    def take_in(self, request: Request) -> None:
        """Make the host of a URL that is handed out part of the crawl, unless it must answer."""
        host = host_of(request.url)
        if LOOK in request.meta or self.scope.covers(host):
            return
        self.foreign.learn(host, request.meta)
        if not self.foreign.is_unanswered(host):
            self.scope.admit_host(host)

    def pair_of(self, url: str) -> Languages:
        """The languages wanted of a site: its own, or those of the crawl."""
        return self._pair_of_host(host_of(url))

    def _find_pair(self, host: str) -> Languages:
        return self.plan.sites.rules_for(host).languages or self.plan.langs

    def honour_of(self, url: str) -> tuple[str, ...]:
        """The opt-outs that are honoured on a site."""
        honour = self.plan.sites.rules_for(host_of(url)).honour
        return self.config.honour if honour is None else tuple(honour)

    def _tell_pair(self, pair: DocumentPair, kept: bool) -> None:
        self.crawler.signals.send_catch_log(pair_found if kept else pair_lost, pair=pair)

    async def start(self) -> AsyncIterator[Request]:
        """Ask for the seeds, before everything else."""
        logger.info(
            "Crawling %d site%s for %s (seeds from %s): %s",
            len(self.plan.seeds),
            "" if len(self.plan.seeds) == 1 else "s",
            self.plan.langs.names,
            self.plan.seeds_from,
            ", ".join(map(without_credentials, self.plan.seeds)),
        )
        warn_without_contact(
            self.config.contact, self.plan.seeds, self.crawler.settings["USER_AGENT"] or ""
        )
        if self.discovery is not None:
            async for request in self.discovery.start():
                yield request
            return
        for url in self.plan.seeds:
            yield self.request(url, score=SEED_PRIORITY, depth=0)

    def request(self, url: str, *, score: float, depth: int, probe: bool = False) -> Request:
        """A request for a page, with what its site wants to be different.

        A `probe` is a URL that nobody linked to; if it is not there, that is no failure
        of the site, and it is not tried again.
        """
        host = host_of(url)
        rules = self.plan.sites.rules_for(host)
        meta: dict[str, Any] = {"bilingual_score": score, "depth": depth}
        meta |= self.foreign.meta_for(host)
        if probe:
            meta |= {"bilingual_probe": True, "dont_retry": True}
        if rules.timeout is not None:
            meta["download_timeout"] = rules.timeout
        if rules.max_size is not None:
            meta["download_maxsize"] = rules.max_size
        if rules.retries is not None:
            meta["max_retry_times"] = rules.retries
        headers = {"User-Agent": rules.user_agent} if rules.user_agent else None
        return Request(url, self.parse, errback=self.failed, meta=meta, headers=headers)

    async def parse(self, response: Response, **_: Any) -> AsyncIterator[Document]:
        """Make a document of a page, whatever the page is made of; two of one in two languages."""
        plain = self._document(response)
        if self.discovery is not None:
            await self.discovery.note_links(plain)
        documents = await self.rendering.documents(
            response, plain, lambda markup: self._document(response, markup)
        )
        parts, pair = None, self.pair_of(response.url)
        if len(documents) == 1 and isinstance(pair, LanguagePair):
            parts = split_mixed(documents[0], pair)
        if parts is not None:
            self.crawler.stats.inc_value("bilingual/split_pages")
        for part in parts or documents:
            self.topic.annotate(part)
            yield part

    async def look(self, response: Response) -> None:
        """Have a page looked at, for what it tells of its site and of others."""
        assert self.discovery is not None
        await self.discovery.take(response, self._document(response))

    def _document(self, response: Response, rendered: bytes | None = None) -> Document:
        """The document of a page, as it was sent or as a browser has `rendered` it."""
        body, kind = response.body, _header(response, "Content-Type")
        if rendered is not None:
            body, kind = rendered, RENDERED_TYPE
        document = build_document(
            response.url,
            body,
            content_type=kind,
            headers_language=_header(response, "Content-Language"),
            hints=self.pair_of(response.url).codes,
        )
        document.depth = response.meta.get("depth", 0)
        document.requested_url = (response.meta.get("redirect_urls") or [response.url])[0]
        document.fetched_at = datetime.now(UTC).isoformat(timespec="seconds")
        said_in_headers = response.meta.get("bilingual_optout")
        if said_in_headers:
            document.robots |= {said_in_headers}
        return document

    def not_seen(self, failure: Failure) -> None:
        """Record why a page could not be looked at."""
        self.failed(failure)
        assert self.discovery is not None
        request: Request = cast("Any", failure).request
        self.discovery.failed(request, request.meta["bilingual_outcome"][1])

    def failed(self, failure: Failure) -> None:
        """Record why a page could not be had."""
        request: Request = cast("Any", failure).request
        assert failure.value is not None
        reason, detail = reason_of(failure.value)
        if request.meta.get("bilingual_probe") and reason in NOT_THERE:
            reason = "probe_missed"
        request.meta["bilingual_outcome"] = (State.FAILED, reason)
        logger.debug("No page from %s: %s", request.url, detail, extra={"url": request.url})


def topic_of(plan: CrawlPlan, config: Config) -> Topic:
    """What a crawl is about; a topic that no page could pass is refused, one language is not."""
    topic = Topic(plan.topic, config.topic_score, config.topic_terms)
    if not topic:
        return topic
    counts = {each.name: topic.terms_in(each.code) for each in plan.langs}
    if max(counts.values()) <= config.topic_terms:
        told = " and ".join(f"{number} in {name}" for name, number in counts.items())
        raise ConfigurationError(
            f"The topic has {told}: BILINGUAL_TOPIC_TERMS={config.topic_terms} wants more than"
            f" {config.topic_terms} different terms on a page. Write more terms, or set it lower."
        )
    for name in (name for name, number in counts.items() if number <= config.topic_terms):
        logger.warning(
            "The topic has too few terms in %s: pages in it are kept only as translations of"
            " pages that are on topic",
            name,
        )
    return topic


def _header(response: Response, name: str) -> str:
    value = response.headers.get(name)
    return value.decode("latin-1") if value else ""
