"""Rules for single sites: the file of `-a sites=FILE`, read once, looked up by host."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from bilingual_crawler.config.sites.keys import SiteRules
from bilingual_crawler.config.sites.reader import ALL_SITES, read_sites
from bilingual_crawler.urls.hosts import normal_host

_HOSTS_REMEMBERED = 1 << 16


class Sites:
    """The rules of all sites, by host.

    A name applies to its host and all hosts below it, `*` to all hosts. Every name is merged
    with the shorter ones once, here, so that finding the rules of a host is a look-up.
    """

    def __init__(self, rules: Mapping[str, SiteRules] | None = None) -> None:
        given = dict(rules or {})
        self.names = tuple(given)
        self._everywhere = given.pop(ALL_SITES, SiteRules())
        self._merged: dict[str, SiteRules] = {}
        for name in sorted(given, key=lambda name: name.count(".")):
            self._merged[name] = self._nearest(name).overlaid(given[name])
        self._all = (self._everywhere, *self._merged.values())
        self._rules_for = lru_cache(maxsize=_HOSTS_REMEMBERED)(self._find)

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read a file of rules; a ConfigurationError reports all problems with their lines."""
        return cls(read_sites(Path(path)))

    def rules_for(self, host: str) -> SiteRules:
        """Return the rules for a host, with or without port, in any spelling."""
        return self._rules_for(host)

    def said(self, key: str) -> frozenset[Any]:
        """Return all values that any site has for a key."""
        return frozenset(getattr(rules, key) for rules in self._all) - {None}

    def _find(self, host: str) -> SiteRules:
        return self._nearest(normal_host(host) or "")

    def _nearest(self, host: str) -> SiteRules:
        while host:
            if host in self._merged:
                return self._merged[host]
            host = host.partition(".")[2]
        return self._everywhere


__all__ = ["SiteRules", "Sites"]
