"""Explains in sentences why a crawl has found nothing.

This is when a user needs help most. The steps are examined in the order in which a page passes
them; the first one that lost everything is named, and then what may have contributed.
"""

from collections.abc import Iterator

from bilingual_crawler.languages import Language
from bilingual_crawler.outcomes import Outcome, is_drop, is_failure, link_sentence, outcome_sentence
from bilingual_crawler.reporting.counts import LOOKED_AT, Amounts, Counts, explain_sites
from bilingual_crawler.reporting.tally import largest_first

MAX_REASONS = 4
MANY = 0.5
"""The share of lost URLs or links that deserves a sentence."""


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
    if not counts.outcomes and counts.known and not counts.waiting + counts.over_budget:
        yield "Nothing was fetched here: other workers of the crawl fetched everything."
    elif not failures and not counts.outcomes:
        yield "Nothing was fetched: the crawl was stopped before the first page arrived."
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
            " -s BILINGUAL_SITE_PAGES=N allows more."
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
