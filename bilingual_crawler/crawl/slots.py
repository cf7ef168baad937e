"""When the next request to a host may be sent: the frontier's view of Scrapy's downloader.

The downloader keeps a first-in-first-out queue per host. A URL that waits there can no longer be
overtaken by a better one, so a URL is handed out at the moment it can be sent, not before. That
moment follows from `lastseen` and `delay` of the downloader's slot: AutoThrottle changes the
delay while the crawl runs (`fetching.delays`), and robots.txt is sent through the same slot.
"""

import math
from collections import Counter
from collections.abc import Iterable

from scrapy import Request
from scrapy.core.downloader import Downloader

from bilingual_crawler.config.sites import Sites
from bilingual_crawler.urls.hosts import host_of, site_of


class SlotGate:
    """Says when a host is free, and enforces the page budgets of it and of its site."""

    def __init__(
        self, downloader: Downloader, sites: Sites, site_pages: int, host_pages: int = 0
    ) -> None:
        self._downloader = downloader
        self._sites = sites
        self._site_pages = site_pages
        self._host_pages = host_pages
        self._pages: Counter[str] = Counter()
        self._pages_in_run: Counter[str] = Counter()
        self._ended: set[str] = set()
        self._underway: dict[Request, str] = {}
        self._underway_to: Counter[str] = Counter()

    def restore(self, pages_of_host: dict[str, int]) -> None:
        """Count the pages that an earlier run fetched."""
        for host, pages in pages_of_host.items():
            self._pages[site_of(host)] += pages

    def visit_again(self, host: str) -> None:
        """Take a page that will be fetched again out of the count of its site."""
        self._pages[site_of(host)] -= 1

    def set_pages(self, site: str, pages: int) -> None:
        """Set the number of pages that all workers together have fetched from a site."""
        self._pages[site] = pages

    def pages_left(self, site: str) -> int | None:
        """Return how many pages of a site may still be fetched; None for any number."""
        if site in self._ended:
            return 0
        budget = self._budget_of(site)
        return max(budget - self._pages[site], 0) if budget else None

    def delay_of(self, host: str) -> float:
        """Return the current minimum of seconds between two requests to a host."""
        slot = self._downloader.slots.get(host)
        if slot is not None:
            return float(slot.delay)
        rule = self._sites.rules_for(host).delay
        return self._limits(host)[1] if rule is None else rule

    def __call__(self, host: str, active: int, now: float) -> float | None:
        """Return the time from which another request may be sent to `host`; None if never."""
        if self._spent(host):
            return None
        slot = self._downloader.slots.get(host)
        if slot is None:
            concurrency, delay = self._limits(host)
        else:
            concurrency, delay = slot.concurrency, slot.delay
        if active >= concurrency:
            return math.inf
        if not delay:
            return now
        if self._underway_to[host]:
            return math.inf
        return now if slot is None else slot.lastseen + delay

    def handed_out(self, request: Request, host: str) -> None:
        """Note that a request is on its way, through middlewares, queue and connection."""
        if host not in self._downloader.slots:
            self._configure(host)
        self._pages[site_of(host)] += 1
        self._pages_in_run[host] += 1
        self._underway[request] = host
        self._underway_to[host] += 1

    def sent(self, request: Request) -> str | None:
        """Note that a request was sent, or ended before that; return its host."""
        host = self._underway.pop(request, None)
        if host is not None:
            self._underway_to[host] -= 1
        return host

    def interrupt(self, error: Exception) -> None:
        """Fail every request that waits in the downloader for its host's delay."""
        for slot in self._downloader.slots.values():
            while slot.queue:
                _, waiting = slot.queue.popleft()
                waiting.errback(error)

    def end(self, sites: Iterable[str]) -> None:
        """Close the hosts of these sites for good."""
        self._ended.update(sites)

    def _spent(self, host: str) -> bool:
        if self._ended and site_of(host) in self._ended:
            return True
        if self._host_pages and self._pages_in_run[host] >= self._host_pages:
            return True
        budget = self._budget_of(host)
        return bool(budget) and self._pages[site_of(host)] >= budget

    def _budget_of(self, host: str) -> int:
        pages = self._sites.rules_for(host).pages
        return self._site_pages if pages is None else pages

    def _limits(self, host: str) -> tuple[int, float]:
        settings = self._downloader.per_slot_settings.get(host, {})
        concurrency = settings.get("concurrency", self._downloader.domain_concurrency)
        return concurrency, settings.get("delay", self._downloader._delay)  # noqa: SLF001

    def _configure(self, host: str) -> None:
        """Pass the settings of a site to the downloader before it creates the host's slot."""
        rules = self._sites.rules_for(host)
        wanted = {"delay": rules.delay, "concurrency": rules.concurrency, "jitter": rules.jitter}
        given = {name: value for name, value in wanted.items() if value is not None}
        if given:
            slots = self._downloader.per_slot_settings
            slots[host] = slots.get(host, {}) | given


def slot_key(request: Request) -> str:
    """Return the downloader slot of a request: its own choice, or its host."""
    chosen = request.meta.get("download_slot")
    return chosen if isinstance(chosen, str) else host_of(request.url)
