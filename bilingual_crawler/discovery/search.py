"""The search for bilingual sites: Barbosa's back and forth, without a line of networking.

A site that is judged bilingual gives its backlinks, a backlink page (a hub) gives its links to
other sites, and the links of those sites' pages are remembered but not followed: so the search
stays in the neighbourhood of bilingual sites. Seeds are read as hubs too, unlike in the paper,
where a search engine knows the backlinks of any page; without one a search that begins with
sites alone would end with them.

Whoever runs the search fetches what it asks for and tells what came.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from bilingual_crawler.config.discovery import Strategy
from bilingual_crawler.discovery.graph import LinkGraph, OutLink
from bilingual_crawler.discovery.hubs import Hubs
from bilingual_crawler.discovery.learner import Learner, Queue
from bilingual_crawler.discovery.site_records import (
    JUDGED,
    Approach,
    SiteRecord,
    SiteRecords,
    Standing,
)
from bilingual_crawler.discovery.words import address_words
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.urls.hosts import host_of, site_of

MOST_CITED = 4
"""Bilingual sites that a hub links to, from which on it makes no difference how many."""


def citation(sites: int) -> str:
    """A hub that is known to link to so many bilingual sites, as a word of the neighbourhood.

    Not among the paper's four contexts, but what they stand for: co-citation.
    """
    return f"hub:{min(sites, MOST_CITED)}"


def hub_words(url: str, cited: int) -> tuple[str, ...]:
    """The words of a hub: those of its address, and how many bilingual sites it links to."""
    return (*address_words(url), citation(cited))


class WantedUrl(NamedTuple):
    """A URL that the search wants to have fetched."""

    queue: Queue
    approach: Approach
    priority: float


class Search:
    """Decides which links are followed, and remembers why."""

    def __init__(
        self,
        journal: Journal,
        strategy: Strategy,
        learner: Learner,
        admits: Callable[[str], bool] = lambda _url: True,
    ) -> None:
        self._strategy = strategy
        self._admits = admits
        self.learner = learner
        self.graph = LinkGraph(journal)
        self.sites = SiteRecords(journal)
        self.hubs = Hubs(journal, self._teach_hub)
        self.unfinished: list[SiteRecord] = []
        """Sites whose examination, or the question for their backlinks, was cut short."""
        self._restore()

    def _restore(self) -> None:
        for record in self.sites.load():
            if record.standing in JUDGED:
                self._teach_site(record)
            wants_backlinks = self._strategy.back_and_forth and not record.backlinks_known
            if record.standing is Standing.EXAMINING or (
                record.standing is Standing.BILINGUAL and wants_backlinks
            ):
                self.unfinished.append(record)
        self.learner.calibrate()

    def seed(self, url: str) -> None:
        """A page that the user named."""
        if self._strategy.back_and_forth:
            self.hubs.want(url)

    def read(self, url: str, links: list[OutLink]) -> list[WantedUrl]:
        """A page was read: which of its links are followed."""
        self.graph.add(url, links)
        if not self._strategy.back_and_forth:
            return list(self._followed(links, via="", again=True))
        return self._expand(url, links) if self.hubs.is_unread(url) else []

    def backlinks(
        self, site: str, urls: Iterable[str], was_read: Callable[[str], bool]
    ) -> list[WantedUrl]:
        """Pages link to a bilingual site: read them, or follow their links if they were read."""
        candidates = []
        for url in urls:
            is_own = site_of(host_of(url)) == site
            if is_own or not self._admits(url) or not self.hubs.want(url, cause=site):
                continue
            if was_read(url):
                candidates += self._expand(url, self.graph.links_of(url))
            else:
                candidates.append(self._candidate(Queue.BACKLINK, Approach(url)))
        return candidates

    def judged(self, record: SiteRecord) -> None:
        """There is a verdict on a site, or none can be had."""
        self.sites.note(record)
        self._teach_site(record)
        if record.approach.via:
            self.hubs.judged(record.approach.via, record.standing is Standing.BILINGUAL)

    def priority(self, queue: Queue, approach: Approach) -> float:
        """Where a link stands now."""
        is_forward = queue is Queue.FORWARD
        url = approach.url
        words = approach.words if is_forward else hub_words(url, self.hubs.cited(url))
        return self.learner.priority(queue, words, self.hubs.worth)

    def _expand(self, url: str, links: list[OutLink]) -> list[WantedUrl]:
        """Follow the links of a hub to sites that are new."""
        cause = self.hubs.cause_of(url)
        standing = self.sites.standing
        others = [link for link in links if link.site != cause]
        bilingual = sum(standing(link.site) is Standing.BILINGUAL for link in others)
        word = citation(bilingual + bool(cause))
        beside = [link._replace(words=(*link.words, word)) for link in others]
        raised = list(self._raised(beside))
        candidates = list(self._followed(beside, via=url, again=False))
        self.hubs.read(url, len(candidates), bilingual)
        return candidates + raised

    def _raised(self, links: Iterable[OutLink]) -> Iterator[WantedUrl]:
        """Sites that wait and are linked to from a better place than the ones known before."""
        for link in links:
            known = self.sites.waiting(link.site)
            if known is None or not self.learner.learned:
                continue
            better = self._candidate(Queue.FORWARD, known._replace(words=link.words))
            if better.priority > self.priority(Queue.FORWARD, known):
                self.sites.note(SiteRecord(link.site, Standing.WAITING, better.approach))
                yield better

    def best_approach(self, queue: Queue, approach: Approach) -> Approach:
        """How a URL that waits is judged: by the best place from which its site is linked to."""
        best = self.sites.waiting(site_of(host_of(approach.url)))
        if queue is not Queue.FORWARD or best is None or best.url != approach.url:
            return approach
        return best

    def _followed(self, links: Iterable[OutLink], via: str, *, again: bool) -> Iterator[WantedUrl]:
        """Links to sites that were not seen before; with `again` also other pages of those."""
        for link in links:
            is_new = self.sites.standing(link.site) is None
            if not (is_new or again) or not self._admits(link.url):
                continue
            approach = Approach(link.url, link.words, via)
            if is_new:
                self.sites.note(SiteRecord(link.site, Standing.WAITING, approach))
            yield self._candidate(Queue.FORWARD, approach)

    def _candidate(self, queue: Queue, approach: Approach) -> WantedUrl:
        return WantedUrl(queue, approach, self.priority(queue, approach))

    def _teach_site(self, record: SiteRecord) -> None:
        is_bilingual = record.standing is Standing.BILINGUAL
        self.learner.teach(Queue.FORWARD, record.approach.words, is_bilingual)

    def _teach_hub(self, url: str, cited: int, good: bool) -> None:
        self.learner.teach(Queue.BACKLINK, hub_words(url, cited), good)
