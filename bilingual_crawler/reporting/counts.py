"""The figures of a crawl at one moment: what the report, the summary and progress read."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.reporting.found_sites import FoundSites

Amounts = Mapping[str, int]
LOOKED_AT = 5_000
"""Waiting URLs that are asked for their language at most: it takes 10 µs each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """All that was counted, over all runs of a crawl."""

    langs: LanguagePair
    seeds: int = 0
    pages: int = 0
    """Pages that were fetched and read, whether or not they were kept."""
    documents: Amounts = field(default_factory=dict)
    """Documents that are kept, by language."""
    pairs: int = 0
    pairs_by_detector: Amounts = field(default_factory=dict)
    """A pair counts for every detector that speaks for it."""
    known: int = 0
    waiting: int = 0
    failed: int = 0
    over_budget: int = 0
    """Waiting URLs of sites that have given as many pages as they may in one crawl."""
    outcomes: Amounts = field(default_factory=dict)
    """How URLs ended."""
    seed_outcomes: Amounts = field(default_factory=dict)
    """How the seeds ended."""
    off_language: Amounts = field(default_factory=dict)
    """Languages of the pages that are in neither of the two."""
    machine_translated: Amounts = field(default_factory=dict)
    """Documents that say they are machine output, kept or not, by the mark that says so."""
    split_pages: int = 0
    """Pages with both languages in them, each made into two documents."""
    links: Amounts = field(default_factory=dict)
    """Links seen, scored, and raised because they were found again in a better place."""
    links_refused: Amounts = field(default_factory=dict)
    redirects_refused: Amounts = field(default_factory=dict)
    opt_outs: Amounts = field(default_factory=dict)
    opt_out_hosts: Mapping[str, Amounts] = field(default_factory=dict)
    waiting_looks: Amounts = field(default_factory=dict)
    """Languages that the addresses of `LOOKED_AT` waiting URLs announce, if there are no pairs."""
    requests: int = 0
    retries: int = 0
    bytes: int = 0
    sites: FoundSites | None = None
    """What a search for bilingual sites has found; None for a crawl that does not search."""
    harvests: bool = True
    """Whether documents and pairs are looked for at all."""

    @property
    def pairs_per_100_pages(self) -> float:
        """The yield of the crawl, the figure to compare crawls by."""
        return per_100(self.pairs, self.pages)

    @property
    def kept(self) -> int:
        """All documents that are kept."""
        return sum(self.documents.values())


def per_100(pairs: int, pages: int) -> float:
    """Pairs for every hundred pages; 0 before the first page."""
    return round(100 * pairs / pages, 2) if pages else 0.0
