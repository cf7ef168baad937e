"""crawl.json: what a crawl was asked to do, with which settings, and its results."""

import json
import math
import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

from lxml import etree

from bilingual_crawler import __version__
from bilingual_crawler.config.plan import CrawlPlan
from bilingual_crawler.config.settings import PREFIX, Config, scrapy_defaults
from bilingual_crawler.frontier.entry import Entry
from bilingual_crawler.outcomes import link_sentence, outcome_sentence
from bilingual_crawler.reporting.counts import Amounts, Counts
from bilingual_crawler.store.durable import replacing
from bilingual_crawler.store.folder import DOCUMENTS, PAIRS, PAIRS_TSV, SITES
from bilingual_crawler.urls.credentials import is_secret, without_credentials

FORMAT = 1
HARVEST = {"pairs": PAIRS, "pairs_tsv": PAIRS_TSV, "documents": DOCUMENTS}
SEARCH = {"sites": SITES}
LIBRARIES = ("scrapy", "twisted", "lxml", "pycld2")


class ScrapySettings(Protocol):
    """The methods of Scrapy's settings that the report needs."""

    def get(self, name: str) -> Any:
        """Return a setting as it was given."""

    def getbool(self, name: str) -> bool:
        """Return a setting as a boolean."""


def about(
    plan: CrawlPlan, config: Config, settings: ScrapySettings, files: Mapping[str, str] = HARVEST
) -> dict[str, Any]:
    """Return the part of the report that stays the same while a crawl runs."""
    return {
        "format": FORMAT,
        "langs": str(plan.langs),
        "languages": [{"code": each.code, "name": each.name} for each in plan.langs],
        "seeds": [without_credentials(seed) for seed in plan.seeds],
        "seeds_from": plan.seeds_from,
        "topic_terms": len(plan.topic),
        "files": dict(files),
        "settings": changed_settings(config, settings),
        "versions": versions(),
    }


def figures(counts: Counts, best: Iterable[Entry]) -> dict[str, Any]:
    """Return the figures of the report."""
    return {
        "pages": counts.pages,
        "documents": dict(counts.documents),
        "harvest": counts.harvest,
        "pairs": counts.pairs,
        "pairs_per_100_pages": counts.pairs_per_100_pages,
        "pairs_by_detector": dict(counts.pairs_by_detector),
        **({} if counts.sites is None else {"sites": counts.sites.to_dict()}),
        "urls_known": counts.known,
        "urls_waiting": counts.waiting,
        "urls_over_budget": counts.over_budget,
        "urls_failed": counts.failed,
        "urls_ended": _explained(counts.outcomes, outcome_sentence),
        "off_language": dict(counts.off_language),
        "machine_translated": dict(counts.machine_translated),
        "split_pages": counts.split_pages,
        "links_seen": counts.links.get("seen", 0),
        "links_scored": counts.links.get("scored", 0),
        "links_raised": counts.links.get("raised", 0),
        "links_refused": _explained(counts.links_refused, link_sentence),
        "redirects_refused": _explained(counts.redirects_refused, link_sentence),
        "opt_outs": dict(counts.opt_outs),
        "opt_out_hosts": {host: dict(each) for host, each in counts.opt_out_hosts.items()},
        "requests": counts.requests,
        "retries": counts.retries,
        "bytes": counts.bytes,
        "best_waiting": [{"url": each.url, "score": _score(each.priority)} for each in best],
    }


def write_report(path: Path, report: Mapping[str, Any], *, durable: bool) -> None:
    """Replace the report atomically, so that a reader finds the old one or the new one.

    `durable` waits for the disk, which a running crawl should not do: it writes the report again
    soon anyway.
    """
    with replacing(path, durable=durable) as fresh, fresh.open("x", encoding="utf-8") as file:
        json.dump(report, file, ensure_ascii=False, indent=2, allow_nan=False)
        file.write("\n")


def changed_settings(config: Config, settings: ScrapySettings) -> dict[str, Any]:
    """Return the settings that differ from the defaults of this project, without secrets."""
    changed: dict[str, Any] = {}
    usual = Config()
    for each in fields(Config):
        value = getattr(config, each.name)
        if value != getattr(usual, each.name):
            changed[PREFIX + each.name.upper()] = value
    for default in scrapy_defaults:
        value = _like(default.value, settings, default.name)
        if value != default.value:
            changed[default.name] = value
    return {
        name: without_credentials(value) if isinstance(value, str) else value
        for name, value in changed.items()
        if not is_secret(name)
    }


def versions() -> dict[str, str]:
    """Return the versions that may affect the result."""
    found = {"bilingual-crawler": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    found["libxml2"] = ".".join(map(str, etree.LIBXML_VERSION))
    return found


def _like(usual: Any, settings: ScrapySettings, name: str) -> Any:
    """Return a setting in the type of its default; the command line gives only text."""
    if isinstance(usual, bool):
        return settings.getbool(name)
    try:
        return type(usual)(settings.get(name))
    except (TypeError, ValueError):
        return str(settings.get(name))


def _explained(amounts: Amounts, meaning: Callable[[str], str]) -> dict[str, Any]:
    return {
        reason: {"count": number, "meaning": meaning(reason)} for reason, number in amounts.items()
    }


def _score(priority: float) -> float | None:
    return round(priority, 4) if math.isfinite(priority) else None
