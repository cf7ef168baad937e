"""Our settings, read and checked once into a frozen `Config`, and the Scrapy settings we change.

The add-on applies the latter at add-on priority, so a project, a spider or `-s` can override them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, Protocol, Self

from bilingual_crawler import __version__
from bilingual_crawler.config.checks import (
    Check,
    archive_source,
    duration,
    identifier_name,
    label,
    listen_address,
    number,
    one_of,
    redis_address,
    some_of,
    switch,
    text,
    web_address,
)
from bilingual_crawler.config.discovery import ONE, QUEUES, STRATEGIES, SourceSpec, read_sources
from bilingual_crawler.config.file_kinds import TYPES, media_types_of
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.plugins import check_plugin_name
from bilingual_crawler.suggestions import hint, nearest
from bilingual_crawler.urls.credentials import is_secret, without_credentials

PREFIX = "BILINGUAL_"


class Settings(Protocol):
    """Settings by name: what we need of Scrapy's settings, and a plain dictionary too."""

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""

    def __getitem__(self, name: str, /) -> Any:
        """Return a value."""

    def get(self, name: str, /) -> Any:
        """Return a value, or None if there is none."""


def setting(default: Any, meaning: str, check: Check, *, mutable: bool = False) -> Any:
    """Make a field of `Config` from its default, a line of documentation and its check."""
    metadata = {"meaning": meaning, "check": check, "default": default}
    if mutable:
        return field(default_factory=lambda: check(default), metadata=metadata)
    return field(default=default, metadata=metadata)


def plugin(group: str, builtin: Iterable[str]) -> Check:
    """Make a check for the name of a built-in or installed plug-in, or for an import path."""

    def check(value: Any) -> str:
        name = str(value).strip()
        check_plugin_name(name, group, builtin)
        return name

    return check


def plugins(group: str) -> Check:
    """Make a check for import paths and names of installed plug-ins, with commas between them."""

    def check(value: Any) -> tuple[str, ...]:
        parts = value.split(",") if isinstance(value, str) else list(value or ())
        names = tuple(dict.fromkeys(name for part in parts if (name := str(part).strip())))
        for name in names:
            check_plugin_name(name, group)
        return names

    return check


SCORERS = {
    "adaptive": "bilingual_crawler.scoring.adaptive.scorer.AdaptiveScorer",
    "smart": "bilingual_crawler.scoring.smart.SmartScorer",
    "smart_follow": "bilingual_crawler.scoring.smart.SmartFollowScorer",
    "rules": "bilingual_crawler.scoring.rules.RulesScorer",
    "language": "bilingual_crawler.scoring.rules.LanguageScorer",
    "breadth_first": "bilingual_crawler.scoring.rules.BreadthFirstScorer",
    "pplocator": "bilingual_crawler.scoring.pplocator.PPLocatorScorer",
    "ilsp": "bilingual_crawler.scoring.rules.IlspScorer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All BILINGUAL_ settings: the field `contact` is the setting BILINGUAL_CONTACT."""

    contact: str = setting(
        "", "Web address or e-mail of yours that site owners see in the User-Agent header.", text
    )
    scorer: str = setting(
        "adaptive",
        f"How links are ranked: {', '.join(SCORERS)}, or package.module.Class. For one"
        " language the default is rules.",
        plugin("bilingual_crawler.scorers", SCORERS),
    )
    models: str = setting(
        "",
        "Folder with the URL models url2lang/ and parallel/; by default those of the project.",
        text,
    )
    model_provider: str = setting(
        "cpu", "Device that runs the URL models: cpu or cuda.", one_of("cpu", "cuda")
    )
    model_threads: int = setting(
        1,
        "Threads per URL model; more than one slows down the crawl.",
        number(1, whole=True),
    )
    pair_model: str = setting(
        "",
        "Pair model, a file written by scrapy train pairs; by default that of the project.",
        text,
    )
    link_predictor: str = setting(
        "",
        "Link predictor, a file written by scrapy train links; by default that of the project.",
        text,
    )
    thin_pairs: bool = setting(
        False,
        "1 also reports counterparts without translated content (pairs_refused.jsonl) as pairs.",
        switch,
    )
    word_list: str = setting(
        "",
        "Bilingual word list for pairing: word<TAB>word per line, or Apertium .dix; gzip too.",
        text,
    )
    validations: str = setting(
        "",
        "TOML file with minimums, weights and thresholds of the detector almeida per file type.",
        text,
    )
    embeddings: str = setting(
        "",
        "Sentence model for pairing: a folder or a name. It takes time: it reads 8 texts per page.",
        text,
    )
    lexicon: str = setting(
        "",
        "Words that earlier crawls have learned: files lexicon.*.tsv.gz, or folders of crawls.",
        text,
    )
    learn_lexicon: bool = setting(
        True, "Learn from sure pairs which words translate which, as evidence for others.", switch
    )
    identifier: str = setting(
        "cld2",
        "Language identifier: cld2, fasttext:MODEL_FILE, package.module.Class, or the name of an"
        " installed one.",
        identifier_name,
    )
    taught: str = setting(
        "",
        "Folder of languages that scrapy languages teach has made, used beside the identifier.",
        text,
    )
    text_lines: bool = setting(
        False,
        "1 makes each line of plain text a paragraph; by default blank lines separate them.",
        switch,
    )
    detectors: tuple[str, ...] = setting(
        (),
        "Pair detectors of your own: package.module.Class, or names of installed ones.",
        plugins("bilingual_crawler.detectors"),
    )
    probes: int = setting(
        200,
        "Guessed URLs to try per site; 0 disables guessing.",
        number(0, whole=True),
    )
    site_yield: float = setting(
        0.0,
        "Scorer adaptive: leave a site early if it yields fewer pairs per page; 0 disables this.",
        number(0, 1),
    )
    site_yield_pages: int = setting(
        100,
        "Number of recent pages of a site over which that yield is measured.",
        number(1, whole=True),
    )
    pplocator_levels: int = setting(
        3,
        "Scorer pplocator: levels of a site; on the deepest, only likely pairs are fetched.",
        number(2, whole=True),
    )
    follow: str = setting(
        "site",
        "Where links are followed to: site (the registered domain of a seed) or host.",
        one_of("site", "host"),
    )
    follow_alternates: bool = setting(
        True,
        "Follow declared translations to other domains, and crawl such a host if it links back.",
        switch,
    )
    alternate_hosts: int = setting(
        5,
        "Hosts on other domains that one site may declare as the place of its translations.",
        number(0, whole=True),
    )
    negotiate: bool = setting(
        False,
        "Ask each host once for a page in the other language; if one URL serves both languages,"
        " fetch both.",
        switch,
    )
    off_language: str = setting(
        "follow",
        "Links on pages in neither language: follow (at low priority) or discard.",
        one_of("follow", "discard"),
    )
    off_language_weight: float = setting(
        0.1, "Factor for the scores of links on such pages.", number(0, 1)
    )
    sitemaps: bool = setting(
        False,
        "Read up to five sitemap files per host for the translations they declare.",
        switch,
    )
    render: str = setting(
        "never",
        "Render pages in Chromium: never, auto (if they seem to need JavaScript) or always.",
        one_of("never", "auto", "always"),
    )
    chromium: str = setting(
        "",
        "Path of the Chromium that renders pages; by default the system's or Playwright's.",
        text,
    )
    discovery_strategy: str = setting(
        "classifier",
        f"How discovery searches for bilingual sites: {', '.join(STRATEGIES)}.",
        one_of(*STRATEGIES),
    )
    discovery_queues: str = setting(
        ONE,
        "Links of both kinds wait in one queue, ordered by the sites they are expected to find,"
        " or in two that take turns.",
        one_of(*QUEUES),
    )
    discovery_learn_after: int = setting(
        1_000,
        "Discovery learns to rank links every so many pages.",
        number(1, whole=True),
    )
    site_likelihood: float = setting(
        0.8,
        "While a site is examined, links that lead to the other language with this"
        " probability are followed.",
        number(0, 1),
    )
    site_budget: int = setting(
        10, "Downloads allowed to find out whether a site is bilingual.", number(2, whole=True)
    )
    backlinks: tuple[SourceSpec, ...] = setting(
        "own",
        "Sources of backlinks: own (always), webgraph:FOLDER, links:FILE, http:TEMPLATE,"
        " python:package.module.Class.",
        read_sources,
        mutable=True,
    )
    backlinks_a_site: int = setting(
        50, "Backlinks to use per site and source.", number(1, whole=True)
    )
    backlinks_delay: float = setting(
        5.0, "Seconds between two requests to an HTTP source of backlinks.", number(0)
    )
    site_pages: int = setting(
        10_000, "Maximum number of pages to fetch per site; 0 is no limit.", number(0, whole=True)
    )
    host_pages: int = setting(
        0,
        "Maximum number of pages to fetch per host in one run; the rest waits for the next run."
        " 0 is no limit.",
        number(0, whole=True),
    )
    revisit: float = setting(
        0.0,
        "Fetch pages again that were last fetched this long ago, such as 30d; 0 never does.",
        duration,
    )
    content_types: tuple[str, ...] = setting(
        "text/html,application/xhtml+xml",
        "Media types to read, besides those of BILINGUAL_TYPES.",
        some_of(),
        mutable=True,
    )
    types: tuple[str, ...] = setting(
        "html",
        f"Types of files to fetch and read: {', '.join(TYPES)}.",
        some_of(*TYPES),
        mutable=True,
    )
    honour: tuple[str, ...] = setting(
        "tdm,noai,noindex,nofollow",
        "Opt-outs to honour: tdm, noai, noindex, nofollow.",
        some_of("tdm", "noai", "noindex", "nofollow"),
        mutable=True,
    )
    allow_private: bool = setting(
        False, "Also fetch from loopback and private addresses (for tests and intranets).", switch
    )
    repeated_segments: int = setting(
        3,
        "How often a path segment may occur in a URL; more often is a crawler trap.",
        number(1, whole=True),
    )
    query_parameters: int = setting(
        8,
        "How many query parameters a URL may have; more are a crawler trap.",
        number(0, whole=True),
    )
    longest_crawl_delay: float = setting(
        600.0,
        "Longest Crawl-delay of a robots.txt to obey, in seconds; a host that asks for more is not"
        " crawled.",
        number(1, 86_400),
    )
    retry_delay: float = setting(
        5.0, "Seconds before the first retry of a page; doubled for each further retry.", number(0)
    )
    duplicate_share: float = setting(
        0.8,
        "Share of equal paragraphs above which the shorter of two pages is dropped.",
        number(0, 1),
    )
    language_share: int = setting(
        20, "Percent of a page's text that must be in its language.", number(0, 100, whole=True)
    )
    topic_score: float = setting(
        4.0,
        "With a topic: a page must score above this many times the median weight of the terms.",
        number(0),
    )
    topic_terms: int = setting(
        1,
        "With a topic: a page must contain more different terms than this.",
        number(0, whole=True),
    )
    machine_translated: str = setting(
        "keep",
        "Pages that say they are machine-translated: keep (and mark) or drop.",
        one_of("keep", "drop"),
    )
    archive: str = setting(
        "",
        "Take pages from a web archive: cc:CC-MAIN-2026-40 (Common Crawl), the address of a CDX"
        " server, or a folder of WARC files with their CDXJ index.",
        archive_source,
    )
    archive_fallback: bool = setting(
        False, "Fetch pages that the archive does not have from their site.", switch
    )
    archive_index: str = setting(
        "https://index.commoncrawl.org",
        "Index server for cc: archives.",
        web_address,
    )
    archive_files: str = setting(
        "https://data.commoncrawl.org",
        "Server of the WARC files that an index names; it must answer ranged requests.",
        web_address,
    )
    archive_delay: float = setting(
        1.0, "Seconds between two requests to the index server of an archive.", number(0)
    )
    checkpoint_seconds: float = setting(
        1.0, "Seconds between two checkpoints: how much work a kill can undo.", number(0.05, 600)
    )
    warc: bool = setting(False, "Keep everything that is fetched in WARC files.", switch)
    warc_bytes: int = setting(
        1_000_000_000,
        "Size in bytes at which a new WARC file is started.",
        number(1_000, whole=True),
    )
    cross_domain: int = setting(
        3,
        "Other domains on which translations of a site's pages are looked for: linked in both"
        " directions, or seeds of one name; 0 for none.",
        number(0, 20, whole=True),
    )
    align: bool = setting(
        False,
        "Also align sentences, during the crawl and at its end: sentences.jsonl.gz.",
        switch,
    )
    align_seconds: float = setting(
        60.0,
        "Seconds between two checks for new pairs to align; 0 aligns only at the end.",
        number(0),
    )
    stop_seconds: float = setting(
        10.0,
        "Seconds within which a crawl ends after SIGTERM or Ctrl-C.",
        number(1),
    )
    frontier: str = setting(
        "",
        "Redis server with a frontier for several workers: redis://HOST:6379/0; or several servers,"
        " with commas.",
        redis_address,
    )
    frontier_prefix: str = setting(
        "",
        "Prefix of the crawl's keys in Redis; by default bilingual: and the languages.",
        label,
    )
    worker: str = setting(
        "",
        "Name of a worker and of its output folder; by default the machine's name and a number.",
        label,
    )
    worker_sites: int = setting(
        100, "Maximum number of sites that one worker holds at a time.", number(1, whole=True)
    )
    lease_seconds: float = setting(
        30.0, "Seconds after which the sites of a dead worker go to others.", number(1)
    )
    progress: str = setting(
        "auto",
        "Progress display: live, plain (log lines), off, or auto (live on a terminal).",
        one_of("auto", "live", "plain", "off"),
    )
    progress_seconds: float = setting(
        10.0, "Seconds between two plain progress lines.", number(0.1)
    )
    log_format: str = setting(
        "text",
        "Format of the log: text (as in LOG_FORMAT) or json (one object per line).",
        one_of("text", "json"),
    )
    metrics: str = setting(
        "",
        "Address and port for Prometheus metrics, such as 127.0.0.1:9410; off by default.",
        listen_address,
    )

    @property
    def media_types(self) -> frozenset[str]:
        """The media types that are read."""
        return media_types_of(self.types) | frozenset(self.content_types)

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Read and check all settings; a ConfigurationError reports all problems at once."""
        known = {PREFIX + each.name.upper(): each for each in fields(cls)}
        values: dict[str, Any] = {}
        problems = [
            _unknown(name, known)
            for name in settings
            if name.startswith(PREFIX) and name not in known
        ]
        for name, each in known.items():
            if settings.get(name) is None:
                continue
            try:
                values[each.name] = each.metadata["check"](settings[name])
            except ValueError as error:
                given = "what was given" if is_secret(name) else repr(settings[name])
                problems.append(f"{name} {error}, not {without_credentials(given)}.")
        if problems:
            raise ConfigurationError(*problems)
        return cls(**values)


def _unknown(name: str, known: Iterable[str]) -> str:
    """Report an unknown setting; the prefix, which all share, must not make names look alike."""
    near = nearest(name.removeprefix(PREFIX), (each.removeprefix(PREFIX) for each in known))
    meant = [PREFIX + each for each in near]
    return f"There is no setting {name}: {hint(meant, 'docs/reference/settings.md lists all.')}"


class ScrapyDefault(NamedTuple):
    """A Scrapy setting that the add-on changes, with the reason."""

    name: str
    value: Any
    why: str


scrapy_defaults = (
    ScrapyDefault("ROBOTSTXT_OBEY", True, "robots.txt is always read and obeyed"),
    ScrapyDefault("DOWNLOAD_DELAY", 1.0, "minimum seconds between two requests to a host"),
    ScrapyDefault("DOWNLOAD_DELAY_JITTER", 0, "the frontier itself times requests"),
    ScrapyDefault("AUTOTHROTTLE_ENABLED", True, "slow servers get fewer requests"),
    ScrapyDefault("AUTOTHROTTLE_START_DELAY", 1.0, "seconds; adapts to the server's answers"),
    ScrapyDefault("CONCURRENT_REQUESTS_PER_DOMAIN", 2, "simultaneous requests to a host"),
    ScrapyDefault("CONCURRENT_REQUESTS", 64, "many hosts, each crawled slowly"),
    ScrapyDefault("CONCURRENT_ITEMS", 2, "tasks per page for its results; Scrapy's 100 cost 2 ms"),
    ScrapyDefault("DOWNLOAD_TIMEOUT", 60, "seconds for a whole page"),
    ScrapyDefault("DOWNLOAD_MAXSIZE", 10_000_000, "bytes of a page, also after decompression"),
    ScrapyDefault("DOWNLOAD_WARNSIZE", 0, "large pages are counted, without a warning"),
    ScrapyDefault("REDIRECT_MAX_TIMES", 5, "redirects in a row"),
    ScrapyDefault("RETRY_TIMES", 2, "retries of a page after a temporary failure"),
    ScrapyDefault("RETRY_GIVE_UP_LOG_LEVEL", "DEBUG", "failures are counted in the report"),
    ScrapyDefault("DEPTH_LIMIT", 20, "links away from a seed"),
    ScrapyDefault("URLLENGTH_LIMIT", 1000, "characters; longer URLs are traps"),
    ScrapyDefault("COOKIES_ENABLED", False, "every request is anonymous"),
    ScrapyDefault("REFERRER_POLICY", "no-referrer", "no request says where it came from"),
    ScrapyDefault("REMOTE_CONTROL_ENABLED", False, "no one may run code in a crawl"),
    ScrapyDefault("TELNETCONSOLE_ENABLED", False, "no one may run code in a crawl"),
    ScrapyDefault("LOG_LEVEL", "INFO", "one line per page is for debugging"),
    ScrapyDefault("STATS_DUMP", False, "crawl.json and the summary say more"),
)


def user_agent(contact: str) -> str:
    """Return the User-Agent header: the project, its version and a contact."""
    who = f"+{contact}" if contact else "no contact given"
    return f"bilingual-crawler/{__version__} ({who})"
