"""Our settings, read and checked once into a frozen `Config`, and the Scrapy settings we change.

The add-on applies them at add-on priority: what a project, a spider or `-s` sets wins.
"""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from ipaddress import ip_address
from typing import Any, NamedTuple, Self

from scrapy.settings import BaseSettings

from bilingual_crawler import __version__
from bilingual_crawler.config.backlink_sources import SourceSpec, read_sources
from bilingual_crawler.config.strategy import STRATEGIES
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.plugins import installed_plugins, is_import_path
from bilingual_crawler.suggestions import hint, nearest
from bilingual_crawler.urls.credentials import is_secret, without_credentials

PREFIX = "BILINGUAL_"


def setting(
    default: Any, meaning: str, parse: Callable[[Any], Any], *, mutable: bool = False
) -> Any:
    """A field of `Config`: its default, one line of meaning, and the check of its values."""
    metadata = {"meaning": meaning, "parse": parse, "default": default}
    if mutable:
        return field(default_factory=lambda: parse(default), metadata=metadata)
    return field(default=default, metadata=metadata)


def number(low: float, high: float = math.inf, *, whole: bool = False) -> Callable[[Any], float]:
    """A parser of numbers from `low` to `high`."""

    def parse(value: Any) -> float:
        try:
            result = int(value) if whole else float(value)
        except (TypeError, ValueError):
            kind = "a whole number" if whole else "a number"
            raise ValueError(f"must be {kind}, such as {max(low, 1):g}") from None
        if not low <= result <= high:
            limit = f"{low:g} or more" if high == math.inf else f"between {low:g} and {high:g}"
            raise ValueError(f"must be {limit}")
        return result

    return parse


def switch(value: Any) -> bool:
    """Parse a yes or no, as Scrapy's own switches are written."""
    text = str(value).strip().lower()
    if text in {"1", "true", "yes", "on"}:
        return True
    if text in {"0", "false", "no", "off", ""}:
        return False
    raise ValueError("must be 1 or 0")


def text(value: Any) -> str:
    """Parse any text; None is no text."""
    return "" if value is None else str(value).strip()


def one_of(*choices: str) -> Callable[[Any], str]:
    """A parser of one word out of `choices`."""

    def parse(value: Any) -> str:
        word = str(value).strip().lower()
        if word not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return word

    return parse


def scorer(value: Any) -> str:
    """Parse the name of a scorer, or the import path of a user's own."""
    name = str(value).strip()
    if name in SCORERS or is_import_path(name):
        return name
    installed = installed_plugins("bilingual_crawler.scorers")
    if name not in installed:
        known = ", ".join([*SCORERS, *installed])
        raise ValueError(f"must be one of {known}, or package.module.Class")
    return name


def plugins(group: str) -> Callable[[Any], tuple[str, ...]]:
    """Return a parser of import paths and names of installed plug-ins, separated by commas."""

    def parse(value: Any) -> tuple[str, ...]:
        parts = value.split(",") if isinstance(value, str) else list(value or ())
        names = tuple(dict.fromkeys(name for part in parts if (name := str(part).strip())))
        unknown = [name for name in names if not is_import_path(name)]
        if unknown:
            installed = installed_plugins(group)
            for name in unknown:
                if name not in installed:
                    known = f"one of {', '.join(installed)}, or " if installed else ""
                    raise ValueError(f"must be {known}package.module.Class, not {name}")
        return names

    return parse


def some_of(*choices: str) -> Callable[[Any], tuple[str, ...]]:
    """A parser of a comma-separated choice of words; without `choices` any word will do."""

    def parse(value: Any) -> tuple[str, ...]:
        parts = value.split(",") if isinstance(value, str) else list(value or ())
        words = tuple(word for word in (str(part).strip().lower() for part in parts) if word)
        unknown = [word for word in words if choices and word not in choices]
        if unknown:
            raise ValueError(f"knows {', '.join(choices)}, not {', '.join(unknown)}")
        return words

    return parse


def split_address(text: str) -> tuple[str, int]:
    """Host and port of an address to listen at; a ValueError tells what it should be.

    A port alone is one of this machine, where nobody else reaches it.
    """
    host, _, port = text.rpartition(":")
    try:
        address = ip_address(host.strip("[]").replace("localhost", "127.0.0.1") or "127.0.0.1")
        number = int(port)
    except ValueError:
        raise ValueError("must be an IP address and a port, such as 127.0.0.1:9410") from None
    if not 0 <= number <= 65535:  # noqa: PLR2004 - the largest port
        raise ValueError("must have a port between 0 and 65535")
    return str(address), number


def listen_address(value: Any) -> str:
    """Parse where to listen; nothing is nowhere."""
    address = text(value)
    if address:
        split_address(address)
    return address


def redis_address(value: Any) -> str:
    """Parse the address of a Redis server; nothing is no server."""
    address = text(value)
    if address and not address.startswith(("redis://", "rediss://", "unix://")):
        raise ValueError("must be an address such as redis://HOST:6379/0, or nothing")
    return address


def label(value: Any) -> str:
    """Parse a name that can be part of a key and of a path."""
    word = text(value)
    if word and not re.fullmatch(r"\w[\w:.-]*", word):
        raise ValueError("must be made of letters, digits and : . - _")
    return word


SCORERS = {
    "adaptive": "bilingual_crawler.scoring.adaptive.scorer.AdaptiveScorer",
    "smart": "bilingual_crawler.scoring.smart.SmartScorer",
    "rules": "bilingual_crawler.scoring.rules.RulesScorer",
    "language": "bilingual_crawler.scoring.rules.LanguageScorer",
    "breadth_first": "bilingual_crawler.scoring.rules.BreadthFirstScorer",
    "pplocator": "bilingual_crawler.scoring.pplocator.PPLocatorScorer",
    "ilsp": "bilingual_crawler.scoring.ilsp.IlspScorer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Every BILINGUAL_ setting, read and checked once, then handed on.

    A field `contact` is the setting BILINGUAL_CONTACT.
    """

    contact: str = setting(
        "", "Web address or e-mail that site owners find in the User-Agent header.", text
    )
    scorer: str = setting(
        "adaptive", f"How links are ranked: {', '.join(SCORERS)}, or package.module.Class.", scorer
    )
    models: str = setting(
        "",
        "Folder with the URL models url2lang/ and parallel/; by default the project's own.",
        text,
    )
    model_provider: str = setting(
        "cpu", "What the URL models run on: cpu or cuda.", one_of("cpu", "cuda")
    )
    model_threads: int = setting(
        1,
        "Threads of each URL model; more than one slows the crawl beside it.",
        number(1, whole=True),
    )
    pair_model: str = setting(
        "",
        "File with the weights of pairing, as scrapy train pairs writes it; by default our own.",
        text,
    )
    link_predictor: str = setting(
        "",
        "File with the link predictor, as scrapy train links writes it; by default our own.",
        text,
    )
    word_list: str = setting(
        "",
        "Bilingual word list for pairing: word<TAB>word to the line, or an Apertium .dix; gz too.",
        text,
    )
    embeddings: str = setting(
        "",
        "Sentence model for pairing: a folder or a name; it costs time on every page (8 texts).",
        text,
    )
    detectors: tuple[str, ...] = setting(
        (),
        "Pair detectors of your own: package.module.Class, or names of installed ones.",
        plugins("bilingual_crawler.detectors"),
    )
    probes: int = setting(
        200,
        "URLs without a link to them that a scorer may have tried on one site; 0 is none.",
        number(0, whole=True),
    )
    site_yield: float = setting(
        0.0,
        "The scorer adaptive: pairs a page below which a site ends early; 0 is never.",
        number(0, 1),
    )
    site_yield_pages: int = setting(
        100,
        "Over how many of the last pages of a site these pairs are counted.",
        number(1, whole=True),
    )
    pplocator_levels: int = setting(
        3,
        "The scorer pplocator: levels of a site; the deepest only gives likely pairs.",
        number(2, whole=True),
    )
    follow: str = setting(
        "site",
        "How far links are followed: site (the registered domain of a seed) or host.",
        one_of("site", "host"),
    )
    follow_alternates: bool = setting(
        True,
        "Follow a declared translation to another domain, and crawl that host too if it links"
        " back.",
        switch,
    )
    alternate_hosts: int = setting(
        5,
        "Hosts on other domains to which one site may declare its translations.",
        number(0, whole=True),
    )
    negotiate: bool = setting(
        False,
        "Ask each host once for a page in the other language too; where one address has both"
        " languages, fetch both.",
        switch,
    )
    off_language: str = setting(
        "follow",
        "Links of a page in neither language: follow (at low priority) or discard.",
        one_of("follow", "discard"),
    )
    off_language_weight: float = setting(
        0.1, "What the score of a link on such a page is multiplied by.", number(0, 1)
    )
    sitemaps: bool = setting(
        False,
        "Read the sitemaps of each host, five files at most, for the translations they declare.",
        switch,
    )
    render: str = setting(
        "never",
        "Pages in Chromium: never, auto (those that seem to need JavaScript) or always.",
        one_of("never", "auto", "always"),
    )
    chromium: str = setting(
        "",
        "Program of the Chromium that renders pages; by default the system's or Playwright's own.",
        text,
    )
    discovery_strategy: str = setting(
        "classifier",
        f"How bilingual sites are searched for: {', '.join(STRATEGIES)}.",
        one_of(*STRATEGIES),
    )
    discovery_learn_after: int = setting(
        1_000,
        "Pages after which discovery ranks links by what it has learned, and again every so many.",
        number(1, whole=True),
    )
    site_likelihood: float = setting(
        0.8,
        "How likely a link must lead to the other language to be followed in examining a site.",
        number(0, 1),
    )
    site_budget: int = setting(
        10, "Downloads that it may take to tell whether a site is bilingual.", number(2, whole=True)
    )
    backlinks: tuple[SourceSpec, ...] = setting(
        "own",
        "Sources of backlinks: own (always), webgraph:FOLDER, links:FILE, http:TEMPLATE,"
        " python:package.module.Class.",
        read_sources,
        mutable=True,
    )
    backlinks_a_site: int = setting(
        50, "Backlinks that are taken of one site, from each source.", number(1, whole=True)
    )
    backlinks_delay: float = setting(
        5.0, "Seconds between two questions to one HTTP source of backlinks.", number(0)
    )
    site_pages: int = setting(
        10_000, "Pages fetched from one site at most; 0 is no limit.", number(0, whole=True)
    )
    content_types: tuple[str, ...] = setting(
        "text/html,application/xhtml+xml", "Media types that are read.", some_of(), mutable=True
    )
    honour: tuple[str, ...] = setting(
        "tdm,noai,noindex,nofollow",
        "Opt-outs that are honoured: tdm, noai, noindex, nofollow.",
        some_of("tdm", "noai", "noindex", "nofollow"),
        mutable=True,
    )
    allow_private: bool = setting(
        False, "Fetch from loopback and private addresses too (for tests and intranets).", switch
    )
    repeated_segments: int = setting(
        3, "How often a path segment may occur in a URL before it is a trap.", number(1, whole=True)
    )
    query_parameters: int = setting(
        8, "How many query parameters a URL may have before it is a trap.", number(0, whole=True)
    )
    longest_crawl_delay: float = setting(
        600.0,
        "Longest Crawl-delay of a robots.txt that is waited for, in seconds; a host that asks for"
        " more is left out.",
        number(1, 86_400),
    )
    retry_delay: float = setting(
        5.0, "Seconds before the first retry of a page; doubled for each further one.", number(0)
    )
    duplicate_share: float = setting(
        0.8, "Share of equal paragraphs above which the shorter page is dropped.", number(0, 1)
    )
    language_share: int = setting(
        20, "Percent of a page's text that must be in its language.", number(0, 100, whole=True)
    )
    topic_score: float = setting(
        4.0,
        "With a topic: a page needs a score above this many times the median weight of its terms.",
        number(0),
    )
    topic_terms: int = setting(
        1,
        "With a topic: a page needs more different terms than this in its content.",
        number(0, whole=True),
    )
    machine_translated: str = setting(
        "keep",
        "Pages that say they are machine-translated: keep (with the mark) or drop.",
        one_of("keep", "drop"),
    )
    checkpoint_seconds: float = setting(
        1.0, "How far the files may be behind the crawl: what a kill can undo.", number(0.05, 600)
    )
    warc: bool = setting(
        False, "Keep everything that was fetched in WARC files, as it arrives.", switch
    )
    warc_bytes: int = setting(
        1_000_000_000, "Size at which a new WARC file is begun.", number(1_000, whole=True)
    )
    align: bool = setting(
        False,
        "Align sentences too, behind the crawl and when it ends: sentences.jsonl.gz.",
        switch,
    )
    align_seconds: float = setting(
        60.0,
        "Seconds between two looks whether there is enough to align anew; 0: only at the end.",
        number(0),
    )
    stop_seconds: float = setting(
        10.0,
        "Seconds within which a crawl ends that is told to stop by SIGTERM or Ctrl-C.",
        number(1),
    )
    frontier: str = setting(
        "",
        "Redis server with a frontier that several workers share: redis://HOST:6379/0.",
        redis_address,
    )
    frontier_prefix: str = setting(
        "",
        "Beginning of the keys of a crawl in Redis; by default bilingual: and the languages.",
        label,
    )
    worker: str = setting(
        "",
        "Name of a worker and of its folder in the output; by default the machine and a number.",
        label,
    )
    worker_sites: int = setting(
        100, "Sites that one worker holds at once, at most.", number(1, whole=True)
    )
    lease_seconds: float = setting(
        30.0, "Seconds after which the sites of a worker that has died go to others.", number(1)
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
        "How the log is written: text (as LOG_FORMAT says) or json (an object a line).",
        one_of("text", "json"),
    )
    metrics: str = setting(
        "",
        "Address and port of figures for Prometheus, such as 127.0.0.1:9410; none by default.",
        listen_address,
    )

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Read and check all settings; complain about all that is wrong at once."""
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
                values[each.name] = each.metadata["parse"](settings[name])
            except ValueError as error:
                given = "what was given" if is_secret(name) else repr(settings[name])
                problems.append(f"{name} {error}, not {without_credentials(given)}.")
        if problems:
            raise ConfigurationError(*problems)
        return cls(**values)


def _unknown(name: str, known: Iterable[str]) -> str:
    """What to say of a setting that there is not; the prefix makes no two names alike."""
    near = nearest(name.removeprefix(PREFIX), (each.removeprefix(PREFIX) for each in known))
    meant = [PREFIX + each for each in near]
    return f"There is no setting {name}: {hint(meant, 'docs/reference/settings.md lists all.')}"


class ScrapyDefault(NamedTuple):
    """A Scrapy setting that the add-on changes, and why."""

    name: str
    value: Any
    why: str


scrapy_defaults = (
    ScrapyDefault("ROBOTSTXT_OBEY", True, "robots.txt is always read and obeyed"),
    ScrapyDefault("DOWNLOAD_DELAY", 1.0, "seconds between two requests to a host, at least"),
    ScrapyDefault("DOWNLOAD_DELAY_JITTER", 0, "the frontier sends at the exact moment"),
    ScrapyDefault("AUTOTHROTTLE_ENABLED", True, "slow servers are asked less often"),
    ScrapyDefault("AUTOTHROTTLE_START_DELAY", 1.0, "seconds; adapts to the server's answers"),
    ScrapyDefault("CONCURRENT_REQUESTS_PER_DOMAIN", 2, "requests under way to a host at once"),
    ScrapyDefault("CONCURRENT_REQUESTS", 64, "hosts are many, each is asked slowly"),
    ScrapyDefault("CONCURRENT_ITEMS", 2, "tasks a page for its results; Scrapy's 100 cost 2 ms"),
    ScrapyDefault("DOWNLOAD_TIMEOUT", 60, "seconds for a whole page"),
    ScrapyDefault("DOWNLOAD_MAXSIZE", 10_000_000, "bytes of a page, also after decompression"),
    ScrapyDefault("DOWNLOAD_WARNSIZE", 0, "too large is counted, not warned about"),
    ScrapyDefault("REDIRECT_MAX_TIMES", 5, "redirects in a row"),
    ScrapyDefault("RETRY_TIMES", 2, "retries of a page that failed for a passing reason"),
    ScrapyDefault("RETRY_GIVE_UP_LOG_LEVEL", "DEBUG", "failures are counted in the report"),
    ScrapyDefault("DEPTH_LIMIT", 20, "links away from a seed"),
    ScrapyDefault("URLLENGTH_LIMIT", 1000, "characters; longer URLs are traps"),
    ScrapyDefault("COOKIES_ENABLED", False, "every page is asked for by a stranger"),
    ScrapyDefault("REFERRER_POLICY", "no-referrer", "and says nothing of where it came from"),
    ScrapyDefault("REMOTE_CONTROL_ENABLED", False, "nobody runs code in a crawl"),
    ScrapyDefault("TELNETCONSOLE_ENABLED", False, "nobody runs code in a crawl"),
    ScrapyDefault("LOG_LEVEL", "INFO", "a line a page is for debugging"),
    ScrapyDefault("STATS_DUMP", False, "crawl.json and the summary tell more"),
)


def user_agent(contact: str) -> str:
    """The name the crawler goes by: the project, its version, whom to write to."""
    who = f"+{contact}" if contact else "no contact given"
    return f"bilingual-crawler/{__version__} ({who})"
