"""Reads the figures of a crawl from where they are kept."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from bilingual_crawler.frontier.entry import Frontier
from bilingual_crawler.outcomes import OPT_OUTS
from bilingual_crawler.pairing.pair import DocumentPair, PackedPair
from bilingual_crawler.reporting.counts import LOOKED_AT
from bilingual_crawler.reporting.tally import largest_first, under
from bilingual_crawler.urls.language_tokens import announced_languages

PAGES = "bilingual/pages"
FAILED = "bilingual/failed"
SEEDS = "bilingual/seeds/"
OFF_LANGUAGE = "bilingual/off_language/"
MACHINE_TRANSLATED = "bilingual/machine_translated/"
SPLIT_PAGES = "bilingual/split_pages"
LINKS = "bilingual/links/"
LINKS_REFUSED = "bilingual/links/refused/"
REDIRECTS_REFUSED = "bilingual/redirects/refused/"
NOFOLLOW = "bilingual/optouts/nofollow"
OPT_OUT_HOSTS = "bilingual/optouts/hosts/"


def sums_of(totals: Counter[str], outcomes: Mapping[str, int]) -> dict[str, Any]:
    """Return the fields of `Counts` that come from the sums and the outcomes of URLs."""
    return {
        "pages": totals[PAGES],
        "failed": totals[FAILED],
        "outcomes": largest_first(outcomes),
        "seed_outcomes": under(totals, SEEDS),
        "off_language": under(totals, OFF_LANGUAGE),
        "machine_translated": under(totals, MACHINE_TRANSLATED),
        "split_pages": totals[SPLIT_PAGES],
        "links": {k: n for k, n in under(totals, LINKS).items() if "/" not in k},
        "links_refused": under(totals, LINKS_REFUSED),
        "redirects_refused": under(totals, REDIRECTS_REFUSED),
        "opt_outs": _opt_outs(outcomes, totals[NOFOLLOW]),
        "opt_out_hosts": _opt_out_hosts(totals),
        "requests": totals["downloader/request_count"],
        "retries": totals["retry/count"],
        "bytes": totals["downloader/response_bytes"],
    }


def detectors_of(pairs: Sequence[DocumentPair | PackedPair]) -> dict[str, int]:
    """Return the number of pairs that each detector supports."""
    return largest_first(Counter(each for pair in pairs for each in pair.detectors))


def _opt_outs(outcomes: Mapping[str, int], nofollow: int) -> dict[str, int]:
    """Count the pages that were left alone, or whose links were, at the request of their owners."""
    found = {reason: outcomes.get(reason, 0) for reason in OPT_OUTS}
    return {reason: n for reason, n in (found | {"nofollow": nofollow}).items() if n}


def _opt_out_hosts(totals: Mapping[str, int]) -> dict[str, dict[str, int]]:
    hosts: dict[str, dict[str, int]] = {}
    for name, number in under(totals, OPT_OUT_HOSTS).items():
        host, _, reason = name.rpartition("/")
        hosts.setdefault(host, {})[reason] = number
    return hosts


def announced(frontier: Frontier) -> Counter[str]:
    """Count the waiting URLs by the language that they seem to have."""
    languages: Counter[str] = Counter()
    for entry in islice(frontier.queued(), LOOKED_AT):
        languages.update(announced_languages(entry.url))
    return languages
