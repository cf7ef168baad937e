"""What scorers request besides scores: URLs to probe, new priorities, and ending a site."""

import logging
from collections.abc import Callable, Iterable, Iterator

from scrapy import Request
from scrapy.crawler import Crawler

from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.frontier.entry import Frontier, State
from bilingual_crawler.scoring.scorer import Proposal
from bilingual_crawler.store.journal_tables import Facts
from bilingual_crawler.urls.fingerprint import url_fingerprint
from bilingual_crawler.urls.hosts import host_of, site_of

logger = logging.getLogger(__name__)


class ProbeBudget:
    """The number of URLs that may be probed per site, in all runs together."""

    def __init__(self, facts: Facts, max_probes: int) -> None:
        self._facts = facts
        self._max = max_probes

    def take(self, url: str) -> bool:
        """Use up one probe; return False if none is left."""
        name = f"probes {site_of(host_of(url))}"
        used = int(self._facts.get(name, "0"))
        if used >= self._max:
            return False
        self._facts[name] = str(used + 1)
        return True


class ScorerActions:
    """Carries out what a scorer requests, as far as the rules of the crawl allow."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawl = crawl = Crawl.of(crawler)
        self._stats = crawler.stats
        self._budget = ProbeBudget(crawl.folder.facts, crawl.config.probes)
        self._seeds = frozenset(map(url_fingerprint, crawl.plan.seeds))

    def requests(
        self, proposals: Iterable[Proposal], is_known: Callable[[int], bool]
    ) -> Iterator[Request]:
        """Yield requests for proposals that belong to the crawl, are new, and within the budget."""
        for proposal in proposals:
            refusal = self._refusal(proposal, is_known)
            if refusal is not None:
                self._count(f"probes/refused/{refusal}")
                continue
            if not proposal.linked:
                self._count("probes/sent")
                logger.debug("Probing %s: %s", proposal.url, proposal.why)
            yield self._crawl.request(
                proposal.url,
                score=proposal.score,
                depth=proposal.depth,
                probe=not proposal.linked,
            )

    def reorder(self, changes: Iterable[tuple[str, float]], frontier: Frontier) -> None:
        """Change the priority of waiting URLs, except for seeds."""
        for url, priority in changes:
            fingerprint = url_fingerprint(url)
            if fingerprint in self._seeds or frontier.state_of(fingerprint) is not State.QUEUED:
                continue
            if frontier.raise_priority(fingerprint, priority):
                self._count("links/raised")
            elif frontier.set_priority(fingerprint, priority):
                self._count("links/lowered")

    def end_sites(self, hosts: Iterable[str]) -> None:
        """Fetch nothing more from sites that yield too little; their waiting URLs are kept."""
        for site in dict.fromkeys(map(site_of, hosts)):
            self._crawl.end_site(site)
            self._count("sites/ended")
            config = self._crawl.config
            logger.info(
                "%s ends: fewer than %g pairs per page in about its last %d pages",
                site,
                config.site_yield,
                config.site_yield_pages,
            )

    def _refusal(self, proposal: Proposal, is_known: Callable[[int], bool]) -> str | None:
        if is_known(url_fingerprint(proposal.url)):
            return "known"
        refusal = self._crawl.scope.refusal(proposal.url, proposal.depth)
        if refusal is not None:
            return refusal
        if not proposal.linked and not self._budget.take(proposal.url):
            return "budget"
        return None

    def _count(self, name: str) -> None:
        self._stats.inc_value(f"bilingual/{name}")
