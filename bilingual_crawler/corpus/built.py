"""The report (crawl.json) of a corpus that was built from pages that other tools fetched."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bilingual_crawler.languages import ParallelLanguages
from bilingual_crawler.outcomes import Outcome
from bilingual_crawler.reporting.counts import Counts
from bilingual_crawler.reporting.report import FORMAT, HARVEST, explain, versions
from bilingual_crawler.reporting.tally import under
from bilingual_crawler.store.folder import REPORT, CrawlFolder
from bilingual_crawler.store.journal import TABLES

ENDED = "ended/"
"""Prefix, in the counts of an input, of the outcomes of its pages."""
SKIPPED = "skipped/"
"""Prefix of the reasons for what was not even a page."""


def claim(folder: CrawlFolder, fact: str) -> bool:
    """Mark a folder as one that was not crawled. Return False if it belongs to something else.

    A folder whose journal has no tables yet was left by a kill at the very beginning.
    """
    journal = folder.journal
    if folder.resumed and folder.facts.get(fact) != "yes":
        tables = journal.read("SELECT name FROM sqlite_master WHERE type = 'table'")
        if {str(name) for (name,) in tables} - TABLES:
            return False
    folder.facts[fact] = "yes"
    journal.checkpoint(wait=True)
    return True


def outcomes_of(totals: Mapping[str, int], stored: int, dropped: int) -> Counter[str]:
    """Return how the pages ended: refused, stored, or dropped as the same as another page."""
    taken = Counter({Outcome.STORED: stored, Outcome.DUPLICATE: dropped})
    return +(Counter(under(totals, ENDED)) + taken)


def about_built(languages: ParallelLanguages, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of crawl.json that says what was built, and by what."""
    return {
        "format": FORMAT,
        "langs": str(languages),
        "languages": [{"code": each.code, "name": each.name} for each in languages],
        "seeds": [],
        "seeds_from": "",
        "topic_terms": 0,
        "files": dict(HARVEST),
        "settings": dict(settings),
        "versions": versions(),
        "state": "finished",
    }


def explain_built(counts: Counts) -> Iterator[str]:
    """Yield why a corpus has no pairs, or fewer pages than its inputs."""
    if not counts.pages:
        yield "No page was read: the inputs have none, or all were skipped."
    elif not counts.pairs:
        yield from explain(counts)
    if counts.opt_outs:
        yield (
            f"{sum(counts.opt_outs.values()):,} of the pages opt out: -s BILINGUAL_HONOUR"
            " says which opt-outs count."
        )


def report_in(folder: Path) -> dict[str, Any]:
    """Return crawl.json of a folder; {} if it cannot be read."""
    try:
        found = json.loads((folder / REPORT).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
