"""What a person orders on the page: arguments and settings of a crawl, checked as the command does.

Only settings that are listed here can be given. None of them names code, a program, a file of the
server or an address to connect to, so that an order cannot do more than fetch and read pages.
"""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from bilingual_crawler.config.checks import Check, number, one_of, switch
from bilingual_crawler.config.plan import ArgumentError, CrawlPlan
from bilingual_crawler.config.settings import PREFIX, SCORERS, Config
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.urls.credentials import HIDDEN, is_secret, without_credentials

SPIDER = "bilingual"
ARGUMENTS = ("langs", "seeds", "seeds_file", "sites", "topic", "discover")
"""The arguments of the spider, besides the output and the scorer."""
FILES = ("seeds_file", "sites", "topic")
"""Arguments that name a file, which must be below the served folder."""
OURS = frozenset(
    f"{PREFIX}{name.upper()}"
    for name in (
        *("contact", "thin_pairs", "learn_lexicon", "probes", "site_yield", "site_yield_pages"),
        *("pplocator_levels", "follow", "follow_alternates", "alternate_hosts", "negotiate"),
        *("off_language", "off_language_weight", "sitemaps", "render", "discovery_strategy"),
        *("discovery_queues", "discovery_learn_after", "site_likelihood", "site_budget"),
        *("backlinks_a_site", "site_pages", "content_types", "types", "honour", "model_threads"),
        *("repeated_segments", "query_parameters", "longest_crawl_delay", "retry_delay"),
        *("duplicate_share", "language_share", "topic_score", "topic_terms"),
        *("machine_translated", "checkpoint_seconds", "warc", "warc_bytes", "cross_domain"),
        *(
            "host_pages",
            "revisit",
            "align",
            "align_seconds",
            "stop_seconds",
            "progress_seconds",
            "log_format",
            "scorer",
        ),
    )
)
"""Our settings that can be given on the page."""
SCRAPYS: Mapping[str, Check] = {
    "DOWNLOAD_DELAY": number(0, 3_600),
    "DEPTH_LIMIT": number(0, whole=True),
    "CONCURRENT_REQUESTS": number(1, 1_000, whole=True),
    "CONCURRENT_REQUESTS_PER_DOMAIN": number(1, 100, whole=True),
    "DOWNLOAD_TIMEOUT": number(1, 3_600),
    "DOWNLOAD_MAXSIZE": number(0, whole=True),
    "RETRY_TIMES": number(0, 20, whole=True),
    "AUTOTHROTTLE_ENABLED": switch,
    "CLOSESPIDER_PAGECOUNT": number(0, whole=True),
    "CLOSESPIDER_TIMEOUT": number(0),
    "LOG_LEVEL": one_of("debug", "info", "warning", "error"),
}
"""Settings of Scrapy that can be given on the page, with their checks."""
SCORER = f"{PREFIX}SCORER"
MAX_FILE = 20_000_000
"""The largest file of seeds, rules or terms."""
Problems = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class CrawlOrder:
    """Arguments and settings of a crawl, as text, and the folder that it writes to."""

    output: Path
    arguments: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    def words(self, fixed: Mapping[str, str], *, secrets: bool = True) -> list[str]:
        """Return the arguments of the command line; the `fixed` settings of the server win."""
        given = {**self.arguments, "output": str(self.output)}
        settings = {**self.settings, **fixed}
        if not secrets:
            given = {name: without_credentials(value) for name, value in given.items()}
            settings = {name: _shown(name, value) for name, value in settings.items()}
        words = ["crawl", SPIDER]
        for name, value in given.items():
            words += ["-a", f"{name}={value}"]
        for name, value in settings.items():
            words += ["-s", f"{name}={value}"]
        return words

    def command(self, fixed: Mapping[str, str], program: str = "scrapy") -> str:
        """Return the command that does the same in a terminal, without secrets."""
        return shlex.join([program, *self.words(fixed, secrets=False)])

    def to_dict(self) -> dict[str, Any]:
        """Return the order for JSON; the folder is where it is written."""
        return {"arguments": dict(self.arguments), "settings": dict(self.settings)}

    @classmethod
    def from_dict(cls, output: Path, fields: Mapping[str, Any]) -> Self:
        """Return an order from JSON that anyone may have written; it is not checked yet."""
        return cls(output, _texts(fields.get("arguments")), _texts(fields.get("settings")))

    @classmethod
    def from_report(cls, output: Path, report: Mapping[str, Any]) -> Self:
        """Return the order of a crawl that was started elsewhere, as far as its report says."""
        arguments = {"langs": report.get("langs", "")}
        seeds = report.get("seeds", [])
        if seeds and not report.get("seeds_from", "").startswith("the project's list"):
            arguments["seeds"] = ",".join(seeds)
        return cls(output, _texts(arguments), _texts(report.get("settings")))


def _texts(found: Any) -> dict[str, str]:
    """Return what is a name with a value in a table, as text."""
    if not isinstance(found, Mapping):
        return {}
    return {
        str(name): ",".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in found.items()
        if isinstance(value, (str, int, float, list)) and str(value)
    }


def _shown(name: str, value: str) -> str:
    return HIDDEN if is_secret(name) else without_credentials(value)


def check_order(order: CrawlOrder, root: Path, fixed: Mapping[str, str]) -> Problems:
    """Return what is wrong with an order, by argument or setting; nothing if it can be run.

    `root` is the served folder, `fixed` are the settings that the server was started with.
    """
    problems: defaultdict[str, list[str]] = defaultdict(list)
    for name in order.arguments.keys() - set(ARGUMENTS):
        problems["settings"].append(f"There is no argument -a {name} on this page.")
    files = {name: order.arguments[name] for name in FILES if name in order.arguments}
    for name, path in files.items():
        if problem := _outside(path, root):
            problems[name].append(problem)
    if not problems.keys() & set(FILES):  # a file outside is not even read
        for name, sentences in _wrong_arguments(order).items():
            problems[name] += sentences
    for name, value in order.settings.items():
        problems[name if name in OURS or name in SCRAPYS else "settings"] += _wrong_setting(
            name, value, fixed
        )
    return {name: found for name, found in problems.items() if found}


def _wrong_arguments(order: CrawlOrder) -> Mapping[str, list[str]]:
    given: dict[str, Any] = {**order.arguments, "output": str(order.output)}
    try:
        plan = CrawlPlan.from_arguments(**given)
    except ArgumentError as error:
        return error.by_argument
    except TypeError:
        return {"settings": ["The arguments are not those of a crawl."]}
    if plan.discover and len(plan.langs.codes) == 1:
        return {"discover": ["A search for bilingual sites needs two languages."]}
    return {}


def _wrong_setting(name: str, value: str, fixed: Mapping[str, str]) -> Iterable[str]:
    if name in fixed:
        return [f"{name} is fixed by this server: leave it out."]
    if name == SCORER and value not in SCORERS:
        return [f"{name} must be one of {', '.join(SCORERS)}."]
    try:
        if name in OURS:
            Config.from_settings({name: value})
        elif name in SCRAPYS:
            SCRAPYS[name](value)
        else:
            return [_not_here(name)]
    except ConfigurationError as error:
        return error.problems
    except ValueError as error:
        return [f"{name} {error}, not {value!r}."]
    return []


def _not_here(name: str) -> str:
    if name.isupper():
        return (
            f"{name} cannot be set on this page: start the server with -s {name}=..., and it holds"
            " for every crawl."
        )
    return f"{name} is not a setting: write NAME=VALUE, one on each line."


def _outside(path: str, root: Path) -> str:
    """Return why a file cannot be read for an order; "" if it is below the served folder."""
    try:
        found = Path(path).resolve()
        if found.is_relative_to(root.resolve()) and found.is_file():
            is_small = found.stat().st_size <= MAX_FILE
            return "" if is_small else f"The file has more than {MAX_FILE:,} bytes."
    except (OSError, ValueError, RuntimeError):
        pass
    return "There is no such file below the served folder."
