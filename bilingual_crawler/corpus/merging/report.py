"""crawl.json of a folder that was merged from those of several workers."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from bilingual_crawler.corpus.merging.facts import joined_facts
from bilingual_crawler.corpus.merging.merge import Merged
from bilingual_crawler.corpus.merging.part import CrawlPart
from bilingual_crawler.languages import Languages
from bilingual_crawler.outcomes import stop_sentence
from bilingual_crawler.reporting import gather
from bilingual_crawler.reporting.counts import Counts
from bilingual_crawler.reporting.explain import explain
from bilingual_crawler.reporting.report import FORMAT, HARVEST, figures, versions
from bilingual_crawler.reporting.tally import MILLISECONDS, RUNS, largest_first

MERGED = "merged"


def merged_report(parts: Sequence[CrawlPart], merged: Merged, langs: Languages) -> dict[str, Any]:
    """What all workers did together; sums are those of the workers."""
    counts = _counts(parts, merged, langs)
    facts = joined_facts(parts)
    return {
        "format": FORMAT,
        "langs": str(langs),
        "languages": [{"code": each.code, "name": each.name} for each in langs],
        "seeds": _seeds(parts),
        "seeds_from": ", ".join(dict.fromkeys(_texts(parts, "seeds_from"))),
        "topic_terms": max((int(part.report.get("topic_terms") or 0) for part in parts), default=0),
        "files": dict(HARVEST),
        "settings": common_settings(parts),
        "versions": versions(),
        "state": "finished" if merged.finished else "stopped",
        "stopped_by": MERGED,
        "stopped_why": stop_sentence(MERGED),
        "started": facts.get("started"),
        "updated": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": merged.totals[MILLISECONDS] / 1000,
        "runs": merged.totals[RUNS],
        **figures(counts, ()),
        "yield": [(counts.pages, counts.harvested)] if counts.pages else [],
        "explanation": explain(counts),
        "merged_from": [_about(part) for part in parts],
        "pages_fetched_by_several": merged.repeated,
    }


def common_settings(parts: Iterable[CrawlPart]) -> dict[str, Any]:
    """The settings in which all workers agree."""
    given = [settings_of(part) for part in parts]
    return {
        name: value
        for name, value in (given[0] if given else {}).items()
        if all(name in each and each[name] == value for each in given)
    }


def settings_of(part: CrawlPart) -> Mapping[str, Any]:
    """What a worker was run with, as far as it differs from what is usual."""
    found = part.report.get("settings")
    return found if isinstance(found, dict) else {}


def _counts(parts: Sequence[CrawlPart], merged: Merged, langs: Languages) -> Counts:
    return Counts(
        langs=langs,
        seeds=len(_seeds(parts)),
        documents=largest_first(+merged.documents),
        pairs=len(merged.pairs),
        pairs_by_detector=gather.detectors_of(merged.pairs),
        known=merged.known,
        waiting=merged.waiting,
        **gather.sums_of(merged.totals, merged.outcomes),
    )


def _seeds(parts: Iterable[CrawlPart]) -> list[str]:
    seeds = (seed for part in parts for seed in part.report.get("seeds") or ())
    return list(dict.fromkeys(map(str, seeds)))


def _texts(parts: Iterable[CrawlPart], name: str) -> list[str]:
    return [str(part.report[name]) for part in parts if part.report.get(name)]


def _about(part: CrawlPart) -> dict[str, Any]:
    """What a worker had at its end, by its own report."""
    known = {name: part.report.get(name) for name in ("pages", "documents", "pairs", "seconds")}
    return {"folder": part.path.name, "finished": part.is_finished, **known}
