"""Which URLs belong to the crawl: the sites of the seeds, and hosts that these declare.

Parallel text is searched within one site, so a link that leaves the sites of the seeds is not
followed, except to a host that a page of the crawl declares as the place of its translation:
`www.example.es` may have its Basque pages at `www.example.eus`, which no seed names.

A page can declare any host in the world, though, and could make us crawl them all. So a site may
declare only a few such foreign hosts. Only the declared pages are fetched from them, until one
of these links back to the site that declared it; then their links are followed too. Hosts that
joined the crawl in this way cannot declare others.

What is known of a host travels with the requests for it, so that other workers with the same
frontier, which have not seen the declaration, know it too.
"""

from collections import Counter
from collections.abc import Collection, Container
from dataclasses import dataclass, replace
from typing import Self

from bilingual_crawler.config.file_kinds import endings_of
from bilingual_crawler.config.sites import Sites
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.documents.document import Document
from bilingual_crawler.outcomes import LinkRefusal
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.store.journal_tables import JournaledDict
from bilingual_crawler.urls.hosts import host_of, site_of
from bilingual_crawler.urls.traps import BINARY_ENDINGS, ending_of, trap_of

MAX_CLAIMANTS = 10
"""Sites to remember that have declared one host."""
UNVOUCHED = frozenset({"nofollow", "ugc", "sponsored"})
"""Kinds of links for which a site does not vouch."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS foreign_hosts (
    host TEXT PRIMARY KEY,
    claimants TEXT NOT NULL,
    answered INTEGER NOT NULL
);
"""


class Scope:
    """Decides whether a link may be fetched at all, and if not, says why."""

    def __init__(
        self,
        seeds: tuple[str, ...],
        sites: Sites,
        *,
        follow: str = "site",
        depth_limit: int = 0,
        max_length: int = 0,
        repeated_segments: int = 3,
        query_parameters: int = 8,
        types: Collection[str] = (),
    ) -> None:
        self._sites = sites
        self._follow = follow
        self._depth_limit = depth_limit
        self._max_length = max_length
        self._repeated_segments = repeated_segments
        self._query_parameters = query_parameters
        self._unread_endings = BINARY_ENDINGS - endings_of(types)
        self._hosts: set[str] = set()
        self._domains: set[str] = set()
        for seed in seeds:
            self.admit(host_of(seed))

    def admit(self, host: str) -> None:
        """Make a host, and with `follow` "site" its whole domain, part of the crawl."""
        self.admit_host(host)
        if self._follow == "site":
            self._domains.add(site_of(host))

    def admit_host(self, host: str) -> None:
        """Make one host part of the crawl, without the rest of its domain."""
        self._hosts.add(host)

    def covers(self, host: str) -> bool:
        """Return True if a host is part of the crawl."""
        return host in self._hosts or site_of(host) in self._domains

    def refusal(self, url: str, depth: int) -> LinkRefusal | None:
        """Return why a URL is not fetched; None if it may be."""
        host = host_of(url)
        if host and not self.covers(host):
            return LinkRefusal.OFFSITE
        return self.refusal_on_any_site(url, depth)

    def refusal_on_any_site(self, url: str, depth: int) -> LinkRefusal | None:
        """Return why a URL is not fetched, whatever site it is on; None if it may be."""
        host = host_of(url)
        if not host:
            return LinkRefusal.BAD_URL
        rules = self._sites.rules_for(host)
        limit = self._depth_limit if rules.depth is None else rules.depth
        if limit and depth > limit:
            return LinkRefusal.TOO_DEEP
        if ending_of(url) in self._unread_endings:
            return LinkRefusal.NOT_HTML_ENDING
        if not rules.admits(url):
            return LinkRefusal.EXCLUDED
        return trap_of(
            url,
            max_length=self._max_length,
            repeated_segments=self._repeated_segments,
            query_parameters=self._query_parameters,
        )


@dataclass(frozen=True, slots=True)
class _Claim:
    """The sites that declared a host, and whether it has linked back to one of them."""

    claimants: tuple[str, ...] = ()
    answered: bool = False

    def to_columns(self) -> tuple[str, int]:
        return " ".join(self.claimants), int(self.answered)

    @classmethod
    def from_columns(cls, claimants: object, answered: object) -> Self:
        return cls(tuple(str(claimants).split())[:MAX_CLAIMANTS], bool(answered))


class ForeignHosts:
    """Remembers which sites declared which hosts, and which of these have linked back."""

    def __init__(self, journal: Journal, most: int) -> None:
        self._most = most
        self._claims = JournaledDict(
            journal,
            "foreign_hosts",
            SCHEMA,
            key=str,
            encode=_Claim.to_columns,
            decode=_Claim.from_columns,
        )
        self._used = Counter(site for _, claim in self._claims.items() for site in claim.claimants)

    def __contains__(self, host: str) -> bool:
        return host in self._claims

    def claim(self, host: str, claimant: str) -> bool:
        """Declare a host; return False if its claimant may not, or has declared too many."""
        if claimant in self._claims:
            return False
        site = site_of(claimant)
        claim = self._claims.get(host)
        if claim is not None and site in claim.claimants:
            return True
        if self._used[site] >= self._most:
            return False
        self._add(host, site)
        return True

    @property
    def answered(self) -> list[str]:
        """The declared hosts that have linked back, and so are part of the crawl."""
        return [host for host, claim in self._claims.items() if claim.answered]

    def is_unanswered(self, host: str) -> bool:
        """Return True if a host was declared and has not linked back so far."""
        claim = self._claims.get(host)
        return claim is not None and not claim.answered

    def read(self, document: Document) -> bool:
        """Read a page of an unanswered host; return True if it links back."""
        host = host_of(document.url)
        if not _links_to(document, self._claims[host].claimants):
            return False
        self._answer(host)
        return True

    def claim_of(self, host: str) -> tuple[str, bool]:
        """Return the sites that declared a host, and whether it linked back, for its requests."""
        claim = self._claims.get(host)
        return ("", False) if claim is None else (" ".join(claim.claimants), claim.answered)

    def learn(self, host: str, state: RequestState) -> None:
        """Learn from a request what another process knew of its host."""
        for site in state.claimed_by.split():
            self._add(host, site)
        if state.claim_answered and host in self._claims:
            self._answer(host)

    def _add(self, host: str, site: str) -> None:
        claim = self._claims.get(host) or _Claim()
        if site not in claim.claimants and len(claim.claimants) < MAX_CLAIMANTS:
            self._claims[host] = replace(claim, claimants=(*claim.claimants, site))
            self._used[site] += 1

    def _answer(self, host: str) -> None:
        self._claims[host] = replace(self._claims[host], answered=True)


def _links_to(document: Document, sites: Container[str]) -> bool:
    """Return True if a page declares a translation on a site, or links to it and vouches for it."""
    if any(site_of(host_of(each.url)) in sites for each in document.alternates):
        return True
    return any(
        site_of(host_of(link.url)) in sites and UNVOUCHED.isdisjoint(link.rel.lower().split())
        for link in document.links
    )
