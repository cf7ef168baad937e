"""Which URLs belong to the crawl: the sites of the seeds, and no further.

Parallel text is looked for inside one site, so a link that leaves the sites of the seeds
is not followed, except to a host that a page of the crawl declares as its translation.
"""

from bilingual_crawler.config.sites import Sites
from bilingual_crawler.urls.hosts import host_of, site_of
from bilingual_crawler.urls.traps import BINARY_ENDINGS, ending_of, trap_of


class Scope:
    """Decides whether a link may be fetched at all, with a word for the reason if not."""

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
    ) -> None:
        self._sites = sites
        self._follow = follow
        self._depth_limit = depth_limit
        self._max_length = max_length
        self._repeated_segments = repeated_segments
        self._query_parameters = query_parameters
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
        """Whether a host is part of the crawl."""
        return host in self._hosts or site_of(host) in self._domains

    def objection(self, url: str, depth: int) -> str | None:
        """Why a URL is not to be fetched; None if it may be."""
        host = host_of(url)
        if host and not self.covers(host):
            return "offsite"
        return self.refusal(url, depth)

    def refusal(self, url: str, depth: int) -> str | None:
        """Why a URL would not be fetched whatever site it is on; None if it would."""
        host = host_of(url)
        if not host:
            return "bad_url"
        rules = self._sites.rules_for(host)
        limit = self._depth_limit if rules.depth is None else rules.depth
        if limit and depth > limit:
            return "too_deep"
        if ending_of(url) in BINARY_ENDINGS:
            return "not_html_ending"
        if not rules.admits(url):
            return "excluded"
        return trap_of(
            url,
            max_length=self._max_length,
            repeated_segments=self._repeated_segments,
            query_parameters=self._query_parameters,
        )
