"""What a scorer asks for beside scores: URLs to try, and waiting URLs to move up or down."""

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
    """How many URLs may be tried on a site though nobody links to them, in all runs together."""

    def __init__(self, facts: Facts, most: int) -> None:
        self._facts = facts
        self._most = most

    def take(self, url: str) -> bool:
        """Use one up, if there is one left."""
        name = f"probes {site_of(host_of(url))}"
        used = int(self._facts.get(name, "0"))
        if used >= self._most:
            return False
        self._facts[name] = str(used + 1)
        return True


class ScorerActions:
    """Carries out what a scorer asks for, as far as the rules of the crawl allow."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawl = crawl = Crawl.of(crawler)
        self._stats = crawler.stats
        self._budget = ProbeBudget(crawl.folder.facts, crawl.config.probes)
        self._seeds = frozenset(map(url_fingerprint, crawl.plan.seeds))

    def requests(
        self, proposals: Iterable[Proposal], is_known: Callable[[int], bool]
    ) -> Iterator[Request]:
        """The proposals that belong to the crawl, are new, and are within the budget."""
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
        """Move waiting URLs; what is no longer waiting, and seeds, stay as they are."""
        for url, priority in changes:
            fingerprint = url_fingerprint(url)
            if fingerprint in self._seeds or frontier.state_of(fingerprint) is not State.QUEUED:
                continue
            if frontier.raise_priority(fingerprint, priority):
                self._count("links/raised")
            elif frontier.set_priority(fingerprint, priority):
                self._count("links/lowered")

    def end_sites(self, hosts: Iterable[str]) -> None:
        """Ask nothing more of sites that yield too little; what waits there is kept."""
        for site in dict.fromkeys(map(site_of, hosts)):
            self._crawl.end_site(site)
            self._count("sites/ended")
            config = self._crawl.config
            logger.info(
                "%s ends: fewer than %g pairs a page in about its last %d pages",
                site,
                config.site_yield,
                config.site_yield_pages,
            )

    def _refusal(self, proposal: Proposal, is_known: Callable[[int], bool]) -> str | None:
        if is_known(url_fingerprint(proposal.url)):
            return "known"
        objection = self._crawl.scope.objection(proposal.url, proposal.depth)
        if objection is not None:
            return objection
        if not proposal.linked and not self._budget.take(proposal.url):
            return "budget"
        return None

    def _count(self, name: str) -> None:
        self._stats.inc_value(f"bilingual/{name}")
