"""crawl.json: what a crawl was asked to do, with which settings, its results, and why it has none.

If a crawl has found nothing, its user needs help most, and the report says why in sentences. The
steps are examined in the order in which a page passes them; the first one that lost everything is
named, and then what may have contributed.
"""

import json
import math
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

from lxml import etree

from bilingual_crawler import __version__
from bilingual_crawler.config.plan import CrawlPlan
from bilingual_crawler.config.settings import PREFIX, Config, scrapy_defaults
from bilingual_crawler.frontier.entry import Entry
from bilingual_crawler.languages import Language, LanguagePair
from bilingual_crawler.outcomes import Outcome, is_drop, is_failure, link_sentence, outcome_sentence
from bilingual_crawler.reporting.counts import LOOKED_AT, Amounts, Counts, explain_sites
from bilingual_crawler.reporting.tally import largest_first
from bilingual_crawler.store.durable import replacing
from bilingual_crawler.store.folder import DOCUMENTS, PAIRS, PAIRS_TSV, SITES
from bilingual_crawler.urls.credentials import is_secret, without_credentials

FORMAT = 1
HARVEST = {"pairs": PAIRS, "pairs_tsv": PAIRS_TSV, "documents": DOCUMENTS}
SEARCH = {"sites": SITES}
LIBRARIES = ("scrapy", "twisted", "lxml", "pycld2")

MAX_REASONS = 4
MANY = 0.5
"""The share of lost URLs or links that deserves a sentence."""


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
        "pairs_refused": counts.pairs_refused,
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


def changed_settings(config: Config, settings: ScrapySettings | None = None) -> dict[str, Any]:
    """Return the settings that differ from the defaults of this project, without secrets.

    Those of Scrapy matter to a crawl only, which gives its `settings`.
    """
    changed: dict[str, Any] = {}
    usual = Config()
    for each in fields(Config):
        value = getattr(config, each.name)
        if value != getattr(usual, each.name):
            changed[PREFIX + each.name.upper()] = value
    for default in scrapy_defaults:
        if settings is None:
            break
        value = _like(default.value, settings, default.name)
        if value != default.value:
            changed[default.name] = value
    return {
        name: without_credentials(value) if isinstance(value, str) else value
        for name, value in changed.items()
        if not is_secret(name)
    }


@cache
def versions() -> Mapping[str, str]:
    """Return the versions that may affect the result. Reading them takes milliseconds."""
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


def explain(counts: Counts) -> list[str]:
    """Return sentences about a crawl without a harvest; none for other crawls."""
    if counts.sites is not None and not counts.sites.bilingual:
        nothing = [] if counts.pages else _nothing_fetched(counts)
        return [*nothing, *explain_sites(counts), *_still_open(counts)]
    if counts.harvested:
        return []
    return [*_lost_at(counts), *_still_open(counts)]


def _lost_at(counts: Counts) -> Iterator[str]:
    if not counts.pages:
        yield from _nothing_fetched(counts)
    elif not counts.kept:
        yield from _nothing_kept(counts)
    else:
        yield from _nothing_paired(counts)


def _nothing_fetched(counts: Counts) -> Iterator[str]:
    failures = {k: v for k, v in counts.seed_outcomes.items() if k != Outcome.REDIRECTED}
    number = sum(failures.values())
    if not failures and not counts.outcomes:
        yield _not_begun(counts)
    elif not failures:
        yield "Nothing was fetched: the seeds led to other URLs, and those gave no page."
        for why, number in _few(counts.redirects_refused):
            yield f"{_count(number, 'redirect')} not followed: {link_sentence(why)}"
    elif list(failures) == ["robots_txt"]:
        yield f"Nothing was fetched: robots.txt forbids {_of_seeds(number, counts.seeds, 'all')}."
    elif len(failures) == 1:
        where = _of_seeds(number, counts.seeds, "any of the")
        yield f"Nothing was fetched from {where}: {outcome_sentence(*failures)}"
    else:
        yield f"Nothing was fetched from {_of_seeds(number, counts.seeds, 'any of the')}:"
        for why, number in _few(failures):
            yield f"{_count(number, 'seed')}: {outcome_sentence(why)}"
    if "robots_txt" in failures:
        yield "robots.txt is always obeyed: choose other seeds, or ask the owners of the site."
    if failures.keys() & {"dns", "connection", "tls", "timeout"}:
        yield "Do the seeds open in a browser on this machine?"


def _not_begun(counts: Counts) -> str:
    if counts.known and not counts.waiting + counts.over_budget:
        return "Nothing was fetched here: other workers of the crawl fetched everything."
    if counts.is_shared:
        return (
            "Nothing was fetched here: this worker got no site. Each site belongs to one worker,"
            " and the other workers of the crawl have all that there are."
        )
    return "Nothing was fetched: the crawl was stopped before the first page arrived."


def _nothing_kept(counts: Counts) -> Iterator[str]:
    every_page = "The only page was" if counts.pages == 1 else f"All {counts.pages:,} pages were"
    yield f"{every_page} dropped:"
    yield from _drops(counts)
    if counts.off_language:
        yield f"Do these sites have pages in {counts.langs.names}?"
    if "off_topic" in counts.outcomes:
        yield "scrapy topic explains why a page is on topic or not."
    yield from _few_pages(counts)


def _nothing_paired(counts: Counts) -> Iterator[str]:
    if not isinstance(counts.langs, LanguagePair):
        yield from _nothing_paired_of_many(counts)
        return
    first, second = counts.langs
    of_first, of_second = (counts.documents.get(each.code, 0) for each in counts.langs)
    if of_first and of_second:
        yield (
            f"Both languages are there ({of_first:,} {first.code}, {of_second:,} {second.code}),"
            " but no two pages name each other as translations, and no two URLs differ only in"
            " language tokens."
        )
    elif of_first or of_second:
        there, missing = (first, second) if of_first else (second, first)
        yield from _one_language(counts, there, missing)
    else:
        kept = ", ".join(f"{number} {code}" for code, number in counts.documents.items())
        yield (
            f"The documents are in other languages ({kept}), as the settings of their sites say,"
            " and none is a translation of another."
        )
    yield from _few_pages(counts)


def _nothing_paired_of_many(counts: Counts) -> Iterator[str]:
    kept = {code: number for code, number in counts.documents.items() if number}
    shown = ", ".join(f"{number:,} {code}" for code, number in sorted(kept.items()))
    if len(kept) > 1:
        yield (
            f"There are documents in several languages ({shown}), but no two pages name each other"
            " as translations, and no two URLs differ only in language tokens."
        )
    else:
        yield f"All documents are in one language ({shown}): do the sites have pages in others?"
        yield from _drops(counts)
    yield from _few_pages(counts)


def _one_language(counts: Counts, there: Language, missing: Language) -> Iterator[str]:
    number = counts.documents[there.code]
    verb = "page is" if number == 1 else "pages are"
    yield (
        f"{number:,} {verb} {there.name}, none is {missing.name}:"
        f" does the site have {missing.name} pages?"
    )
    if looks := counts.waiting_looks.get(missing.code, 0):
        verb = "URL that looks" if looks == 1 else "URLs that look"
        at_least = "At least " if counts.waiting > LOOKED_AT else ""
        yield f"{at_least}{looks:,} {verb} {missing.name} {_are(looks)} still waiting."
    yield from _drops(counts)
    if counts.links_refused.get("offsite", 0) > MANY * counts.links.get("seen", 0):
        yield (
            f"Most links lead to other hosts: if the {missing.name} pages are on one of them, give"
            " it as a seed too."
        )


def _few_pages(counts: Counts) -> Iterator[str]:
    """Yield why URLs gave no page, if that is true of most."""
    lost = counts.failed
    if not lost or lost < MANY * (lost + counts.pages):
        return
    yield f"Only {counts.pages:,} of {counts.pages + lost:,} URLs gave a page:"
    failures = {why: n for why, n in counts.outcomes.items() if is_failure(why)}
    for why, number in _few(failures):
        yield f"{_urls(number)}: {outcome_sentence(why)}"


def _still_open(counts: Counts) -> Iterator[str]:
    if counts.waiting:
        number = counts.waiting
        yield f"The crawl is not over: {_urls(number)} {_are(number)} still waiting."
    if counts.over_budget:
        number = counts.over_budget
        yield (
            f"{_urls(number)} {_are(number)} left because the page budget of their site is used up:"
            " -s BILINGUAL_SITE_PAGES=N allows more. What is beyond BILINGUAL_HOST_PAGES comes in"
            " the next run."
        )


def _drops(counts: Counts) -> Iterator[str]:
    """Yield why pages were read and not kept."""
    dropped = {why: number for why, number in counts.outcomes.items() if is_drop(why)}
    for why, number in _few(dropped):
        yield f"{_count(number, 'page')}{_which_languages(why, counts)}: {outcome_sentence(why)}"


def _which_languages(reason: str, counts: Counts) -> str:
    if reason != Outcome.OFF_LANGUAGE or not counts.off_language:
        return ""
    named = ", ".join(f"{code} {number}" for code, number in _few(counts.off_language))
    return f" ({named})"


def _few(amounts: Amounts) -> list[tuple[str, int]]:
    return list(largest_first(amounts).items())[:MAX_REASONS]


def _of_seeds(number: int, seeds: int, every: str) -> str:
    if seeds == 1:
        return "the seed"
    return f"{every} {seeds} seeds" if number >= seeds else f"{number} of {seeds} seeds"


def _urls(number: int) -> str:
    return _count(number, "URL")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
