"""The figures of a crawl at one moment, for the report, the summary and the display.

Most are read from the sums of the crawl and the outcomes of its URLs.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from bilingual_crawler.discovery.site_records import SiteRecords, Standing
from bilingual_crawler.frontier.entry import Frontier
from bilingual_crawler.languages import Languages
from bilingual_crawler.outcomes import OPT_OUTS, Outcome, is_drop, is_failure
from bilingual_crawler.pairing.pair import DocumentPair, PackedPair
from bilingual_crawler.reporting.tally import largest_first, under
from bilingual_crawler.urls.language_tokens import announced_languages

PAGES = "bilingual/pages"
REVISITED = "bilingual/revisited/"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSites:
    """The sites of a search for bilingual sites, over all runs."""

    bilingual: int = 0
    other: int = 0
    """Examined sites that are not bilingual, or not certainly."""
    unreachable: int = 0
    waiting: int = 0
    downloads: int = 0
    """Pages that were downloaded to examine them."""

    @classmethod
    def of(cls, sites: SiteRecords) -> "FoundSites":
        """Count the records of a search."""
        counts = sites.counts
        return cls(
            bilingual=counts[Standing.BILINGUAL],
            other=counts[Standing.OTHER],
            unreachable=counts[Standing.UNREACHABLE],
            waiting=counts[Standing.WAITING] + counts[Standing.EXAMINING],
            downloads=sites.downloads,
        )

    @property
    def examined(self) -> int:
        """Sites with a verdict."""
        return self.bilingual + self.other

    @property
    def downloads_a_site(self) -> float:
        """Downloads per verdict."""
        return round(self.downloads / self.examined, 2) if self.examined else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the figures for crawl.json."""
        return {
            "bilingual": self.bilingual,
            "examined": self.examined,
            "unreachable": self.unreachable,
            "waiting": self.waiting,
            "downloads": self.downloads,
            "downloads_a_site": self.downloads_a_site,
        }

    def __str__(self) -> str:
        """Return the figures in a few words."""
        return (
            f"{self.bilingual:,} of {_sites(self.examined)} bilingual"
            f" ({self.downloads_a_site:.1f} downloads per site)"
        )


def explain_sites(counts: "Counts") -> Iterator[str]:
    """Yield sentences about a search that has found no bilingual site."""
    sites = counts.sites
    if sites is None or sites.bilingual:
        return
    if sites.examined:
        yield (
            f"{_sites(sites.examined).capitalize()} {_was(sites.examined)} examined, and none has"
            f" both {counts.langs.names} pages."
        )
    if sites.unreachable:
        yield f"{_sites(sites.unreachable).capitalize()} gave no page."
    yield (
        "A search goes from bilingual sites to the pages that link to them: start with some that"
        " you know, or with pages that list such sites."
    )


def _sites(number: int) -> str:
    return f"{number:,} site{'' if number == 1 else 's'}"


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


Amounts = Mapping[str, int]
LOOKED_AT = 5_000
"""Waiting URLs whose language is guessed at most: it takes 10 µs each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Yield:
    """What a crawl harvests, and how much of it there is."""

    langs: Languages
    pages: int = 0
    """Pages that were fetched and read, whether or not they were kept."""
    documents: Amounts = field(default_factory=dict)
    """Documents that are kept, by language."""
    pairs: int = 0
    pairs_refused: int = 0
    """Counterparts without translated content."""
    sites: FoundSites | None = None
    """What a search for bilingual sites has found; None for a crawl without a search."""
    harvests: bool = True
    """Whether the crawl collects documents and pairs at all."""

    @property
    def harvest(self) -> str:
        """What is counted as yield: pairs, documents in one language, or bilingual sites."""
        return self.langs.harvest if self.harvests else "bilingual sites"

    @property
    def harvested(self) -> int:
        """The amount of it."""
        if not self.harvests:
            return self.sites.bilingual if self.sites is not None else 0
        return self.pairs if self.harvest == "pairs" else self.kept

    @property
    def kept(self) -> int:
        """The number of documents that are kept."""
        return sum(self.documents.values())

    @property
    def per_100_pages(self) -> float:
        """The yield of the crawl, to compare crawls by."""
        return per_100(self.harvested, self.pages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts(Yield):
    """All figures of a crawl, over all its runs."""

    seeds: int = 0
    kept_pages: int = 0
    """Pages with at least one document that is kept: a page may have two."""
    is_shared: bool = False
    """Whether other workers take part in the crawl."""
    pairs_by_detector: Amounts = field(default_factory=dict)
    """A pair counts for every detector that supports it."""
    known: int = 0
    waiting: int = 0
    failed: int = 0
    over_budget: int = 0
    """Waiting URLs of sites whose page budget is used up."""
    outcomes: Amounts = field(default_factory=dict)
    """URLs by how they ended."""
    seed_outcomes: Amounts = field(default_factory=dict)
    """Seeds by how they ended."""
    off_language: Amounts = field(default_factory=dict)
    """Pages in other languages, by language."""
    machine_translated: Amounts = field(default_factory=dict)
    """Documents that say they are machine-translated, kept or not, by the mark that says so."""
    split_pages: int = 0
    """Pages with both languages, each split into two documents."""
    links: Amounts = field(default_factory=dict)
    """Links seen, scored, and raised because they were found again with a better score."""
    links_refused: Amounts = field(default_factory=dict)
    redirects_refused: Amounts = field(default_factory=dict)
    opt_outs: Amounts = field(default_factory=dict)
    opt_out_hosts: Mapping[str, Amounts] = field(default_factory=dict)
    waiting_looks: Amounts = field(default_factory=dict)
    """If there are no pairs: the languages that up to `LOOKED_AT` waiting URLs seem to have."""
    requests: int = 0
    retries: int = 0
    bytes: int = 0

    @property
    def pages_again(self) -> int:
        """Pages that were read more than once, because their URLs were queued again."""
        ended = sum(
            number
            for why, number in self.outcomes.items()
            if not is_failure(why) and why != Outcome.REDIRECTED
        )
        return max(0, self.pages - ended)

    @property
    def pairs_per_100_pages(self) -> float:
        """Pairs per hundred pages."""
        return per_100(self.pairs, self.pages)


def per_100(harvested: int, pages: int) -> float:
    """Return the harvest per hundred pages; 0 before the first page."""
    return round(100 * harvested / pages, 2) if pages else 0.0


def _revised_first(reason: str) -> int:
    """Sort the outcomes that a corpus revises before all others."""
    revised: list[str] = [Outcome.DUPLICATE, Outcome.OFF_TOPIC]
    return revised.index(reason) if reason in revised else len(revised)


def settled(outcomes: Mapping[str, int], kept_pages: int, dropped_pages: int) -> dict[str, int]:
    """Return the outcomes of URLs as they are now, so that they agree with what is kept.

    A URL ends when its page has been read, but what becomes of the page may change: a duplicate
    is kept after all when its translation arrives, and a kept page is dropped for a longer copy.
    The number of pages stays the same, so no page is counted twice. `kept_pages` and
    `dropped_pages` are those that the corpus knows.
    """
    now = Counter(outcomes)
    drops = sorted(filter(is_drop, now), key=_revised_first)
    missing = kept_pages - now[Outcome.STORED]
    if missing < 0:
        moved = min(-missing, dropped_pages)
        now[Outcome.STORED] -= moved
        now[Outcome.DUPLICATE] += moved
    for why in drops if missing > 0 else ():
        moved = min(missing, now[why])
        now[why] -= moved
        now[Outcome.STORED] += moved
        missing -= moved
    return largest_first(+now)


def sums_of(
    totals: Counter[str], outcomes: Mapping[str, int], kept_pages: int, dropped_pages: int
) -> dict[str, Any]:
    """Return the fields of `Counts` that come from the sums and the outcomes of URLs."""
    return {
        "pages": totals[PAGES],
        "failed": totals[FAILED],
        "kept_pages": kept_pages,
        "outcomes": settled(outcomes, kept_pages, dropped_pages),
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
