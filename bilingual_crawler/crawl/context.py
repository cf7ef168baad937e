"""The running crawl: everything that its components share, built once.

The spider opens a `Crawl` and attaches it to the crawler. Every other component gets it with
`Crawl.of(crawler)`, so none of them needs to know the spider or the scheduler.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from bilingual_crawler.config.file_kinds import HTML, kind_of_file
from bilingual_crawler.config.plan import CrawlPlan
from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.corpus import Corpus
from bilingual_crawler.corpus.lexicon_keeper import LexiconKeeper
from bilingual_crawler.crawl.deadline import StopDeadline
from bilingual_crawler.crawl.forecasts import Forecasts
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.crawl.revisits import Revisits
from bilingual_crawler.crawl.scope import ForeignHosts, Scope
from bilingual_crawler.crawl.signals import pair_found, pair_lost
from bilingual_crawler.crawl.workers import connect_all, open_folder
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.identifiers.choice import Identifiers
from bilingual_crawler.documents.language import LanguageIdentifier
from bilingual_crawler.errors import ConfigurationError, writing
from bilingual_crawler.frontier.entry import CrawlFrontier
from bilingual_crawler.languages import Languages
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.pairing.resources import PairingAids
from bilingual_crawler.reporting.forecast import CrawlForecast
from bilingual_crawler.scoring.shared_models import parallel_urls_if_there
from bilingual_crawler.store.folder import ENDED_SITES, CrawlFolder
from bilingual_crawler.topics import Topic
from bilingual_crawler.urls.hosts import host_of
from bilingual_crawler.urls.traps import ending_of

if TYPE_CHECKING:
    from redis import Redis

    from bilingual_crawler.crawl.discovery.adapter import Discovery
    from bilingual_crawler.crawl.slots import SlotGate

logger = logging.getLogger(__name__)

CRAWL, CONFIG = "bilingual_crawl", "bilingual_config"
"""Attributes of the crawler."""
RENDERED_TYPE = "text/html; charset=utf-8"


def config_of(crawler: Crawler) -> Config:
    """Return our settings, read and checked once per crawl."""
    config: Config | None = getattr(crawler, CONFIG, None)
    if config is None:
        config = Config.from_settings(crawler.settings)
        setattr(crawler, CONFIG, config)
    return config


@dataclass(eq=False)
class Crawl:
    """One crawl: its plan, its settings, its folder, and what is rebuilt from the folder."""

    crawler: Crawler
    plan: CrawlPlan
    config: Config
    folder: CrawlFolder
    corpus: Corpus
    topic: Topic
    foreign: ForeignHosts
    deadline: StopDeadline
    callback: Callable[..., Any]
    errback: Callable[..., Any]
    languages_of: Callable[[str], Languages]
    """Returns the languages wanted from the site of a URL: the site's own, or the crawl's."""
    identifiers: Identifiers
    """Which language identifier the pages of a site get."""
    harvests: bool = True
    """False for a search for bilingual sites that keeps no pages."""
    redis: "list[Redis] | None" = None
    """The servers of a shared frontier."""
    discovery: "Discovery | None" = None

    def __post_init__(self) -> None:
        self._frontier: CrawlFrontier | None = None
        self._gate: SlotGate | None = None
        self.revisits = Revisits(self)
        self.forecasts: Forecasts | None = None
        if self.harvests and self.plan.langs.harvest == "pairs":
            self.forecasts = Forecasts(self.folder.journal, self.languages_of)

    @classmethod
    def open(
        cls,
        crawler: Crawler,
        config: Config,
        plan: CrawlPlan,
        callback: Callable[..., Any],
        errback: Callable[..., Any],
        *,
        harvests: bool = True,
    ) -> Self:
        """Open the folder of a crawl, and rebuild its state from it."""
        url_model = parallel_urls_if_there(config) if harvests else None
        aids = replace(PairingAids.read(config, url_model), chosen_sites=plan.seeds)
        topic, languages_of = topic_of(plan, config), languages_by_site(plan)
        identifiers = Identifiers(config, plan.langs, plan.sites)
        for language in identifiers.ignorant_of(plan.langs):
            logger.warning(
                "The identifier %s does not know %s: only pages that declare it are taken for it",
                config.identifier,
                language,
            )
        redis = connect_all(config.frontier) if config.frontier else None
        with writing(plan.output, "Fix that, or choose another folder with -a output=FOLDER."):
            folder = open_folder(plan, config, topic.name, harvests=harvests)
            corpus = Corpus(
                folder,
                languages_of,
                config.duplicate_share,
                on_pair=lambda pair, kept: crawl._announce(pair, kept=kept),
                aids=aids,
                lexicons=LexiconKeeper.open(config, folder.path) if harvests else None,
                reads_files=set(config.types) != {HTML},
            )
            foreign = ForeignHosts(folder.journal, config.alternate_hosts)
        crawl = cls(
            crawler,
            plan,
            config,
            folder,
            corpus,
            topic,
            foreign,
            StopDeadline(config.stop_seconds),
            callback,
            errback,
            languages_of,
            identifiers,
            harvests=harvests,
            redis=redis,
        )
        setattr(crawler, CRAWL, crawl)
        setattr(crawler, CONFIG, config)
        return crawl

    @classmethod
    def of(cls, crawler: Crawler) -> "Crawl":
        """Return the crawl of a crawler, whose spider has opened it."""
        crawl = cls.find(crawler)
        if crawl is None:
            raise TypeError("This component works with the spiders of bilingual_crawler only.")
        return crawl

    @classmethod
    def find(cls, crawler: Crawler) -> "Crawl | None":
        """Return the crawl of a crawler; None for a spider that is not one of ours."""
        found = getattr(crawler, CRAWL, None)
        return found if isinstance(found, Crawl) else None

    @cached_property
    def scope(self) -> Scope:
        """Which URLs belong to the crawl; created once all settings are final."""
        settings = self.crawler.settings
        return Scope(
            () if self.discovery else self.plan.seeds,
            self.plan.sites,
            follow=self.config.follow,
            depth_limit=settings.getint("DEPTH_LIMIT"),
            max_length=settings.getint("URLLENGTH_LIMIT"),
            repeated_segments=self.config.repeated_segments,
            query_parameters=self.config.query_parameters,
            types=self.config.types,
        )

    @property
    def frontier(self) -> CrawlFrontier:
        """The URLs of the crawl, once the scheduler has opened them."""
        assert self._frontier is not None, "the scheduler has not opened the frontier yet"
        return self._frontier

    @property
    def waiting(self) -> int:
        """The number of URLs waiting to be fetched; 0 before the frontier is open."""
        return 0 if self._frontier is None else len(self._frontier)

    def begin(self, frontier: CrawlFrontier, gate: "SlotGate") -> None:
        """Take the frontier from the scheduler, and admit the hosts that an earlier run reached.

        The frontier names those with waiting URLs, `foreign` those that link back. A shared
        frontier does not know which hosts are only declared: `admit_host_of` does.
        """
        self._frontier, self._gate = frontier, gate
        if self.forecasts is not None:
            self.forecasts.begin(0 if self.redis else frontier.known)
        if self.discovery is not None:
            self.discovery.resume(frontier)
            return
        self.revisits.begin(gate)
        for host in self.foreign.answered:
            self.scope.admit_host(host)
        if self.redis is None:
            for host in frontier.hosts:
                if not self.foreign.is_unanswered(host):
                    self.scope.admit_host(host)

    def admit_host_of(self, request: Request) -> None:
        """Make the host of a URL part of the crawl, unless it still has to link back."""
        host = host_of(request.url)
        state = RequestState.of(request)
        if state.look is not None or self.scope.covers(host):
            return
        self.foreign.learn(host, state)
        if not self.foreign.is_unanswered(host):
            self.scope.admit_host(host)

    def end_site(self, site: str) -> None:
        """Hand out no more URLs of a site, in this run and in those that resume it."""
        assert self._gate is not None
        facts = self.folder.facts
        facts[ENDED_SITES] = f"{facts.get(ENDED_SITES)} {site}".strip()
        self._gate.end([site])
        self.frontier.end_site(site)

    def honour_of(self, url: str) -> tuple[str, ...]:
        """Return the opt-outs that are honoured on the site of a URL."""
        honour = self.plan.sites.rules_for(host_of(url)).honour
        return self.config.honour if honour is None else tuple(honour)

    def render_mode(self, url: str) -> str:
        """Return when the pages of a site are rendered: never, auto or always."""
        return self.plan.sites.rules_for(host_of(url)).render or self.config.render

    def request(self, url: str, *, score: float, depth: int, probe: bool = False) -> Request:
        """Return a request for a page, with the settings of its site.

        A `probe` is a URL that no page links to. If there is no such page, the site has not
        failed, and the URL is not retried.
        """
        host = host_of(url)
        rules = self.plan.sites.rules_for(host)
        claimed_by, answered = self.foreign.claim_of(host)
        state = RequestState(
            score=score, probe=probe, claimed_by=claimed_by, claim_answered=answered
        )
        meta: dict[str, Any] = {"depth": depth, **state.as_meta()}
        if probe:
            meta["dont_retry"] = True
        if rules.timeout is not None:
            meta["download_timeout"] = rules.timeout
        if rules.max_size is not None:
            meta["download_maxsize"] = rules.max_size
        if rules.retries is not None:
            meta["max_retry_times"] = rules.retries
        headers = {"User-Agent": rules.user_agent} if rules.user_agent else None
        return Request(url, self.callback, errback=self.errback, meta=meta, headers=headers)

    def forecast(self) -> CrawlForecast | None:
        """Return what the crawl will give; None for a crawl that looks for no pairs."""
        if self.forecasts is None or self._gate is None:
            return None
        return self.forecasts.now(self._gate.pages_left)

    def _announce(self, pair: DocumentPair, *, kept: bool) -> None:
        if self.forecasts is not None:
            self.forecasts.paired(pair.first, pair.second, kept=kept)
        self.crawler.signals.send_catch_log(pair_found if kept else pair_lost, pair=pair)


def header_of(response: Response, name: str) -> str:
    """Return a header as text; "" if there is none."""
    return (response.headers.get(name) or b"").decode("latin-1")


def is_file_response(response: Response) -> bool:
    """Return whether a response is a file that is read in a process of its own."""
    media_type = header_of(response, "Content-Type")
    return kind_of_file(response.body, media_type, ending_of(response.url)) is not None


def read_page(
    response: Response,
    languages: Languages,
    identifier: LanguageIdentifier,
    rendered: bytes | None = None,
    *,
    text_lines: bool = False,
) -> Document:
    """Return the document of a page as it was sent, or as a browser has `rendered` it."""
    return build_document(
        response.url,
        response.body if rendered is None else rendered,
        content_type=header_of(response, "Content-Type") if rendered is None else RENDERED_TYPE,
        headers_language=header_of(response, "Content-Language"),
        hints=languages.codes,
        identifier=identifier,
        text_lines=text_lines,
    )


def languages_by_site(plan: CrawlPlan) -> Callable[[str], Languages]:
    """Return a function from a URL to the languages wanted from its site."""

    @lru_cache(maxsize=1 << 14)
    def of_host(host: str) -> Languages:
        return plan.sites.rules_for(host).languages or plan.langs

    return lambda url: of_host(host_of(url))


def topic_of(plan: CrawlPlan, config: Config) -> Topic:
    """Return the topic of a crawl; refuse one that no page could match."""
    topic = Topic(plan.topic, config.topic_score, config.topic_terms)
    if not topic:
        return topic
    counts = {each.name: topic.terms_in(each.code) for each in plan.langs}
    if not counts:  # a crawl for all languages
        return topic
    if max(counts.values()) <= config.topic_terms:
        found = " and ".join(f"{number} in {name}" for name, number in counts.items())
        raise ConfigurationError(
            f"The topic has {found}: BILINGUAL_TOPIC_TERMS={config.topic_terms} wants more than"
            f" {config.topic_terms} different terms on a page. Write more terms, or set it lower."
        )
    for name in (name for name, number in counts.items() if number <= config.topic_terms):
        logger.warning(
            "The topic has too few terms in %s: pages in it are kept only as translations of"
            " pages that are on topic",
            name,
        )
    return topic
