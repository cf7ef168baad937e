"""The search for bilingual sites: Barbosa's back and forth, without networking.

A site that is judged bilingual gives its backlinks, a backlink page (a hub) gives its links to
other sites, and the links of those sites' pages are recorded but not followed: so the search stays
in the neighbourhood of bilingual sites. Seeds are read as hubs too, unlike in the paper, where a
search engine knows the backlinks of any page; without one, a search that starts with sites alone
would end with them.

The caller fetches what the search asks for and reports the results.
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
"""Beyond this many bilingual sites, a hub's number of links to them makes no difference."""


def citation(sites: int) -> str:
    """Return the word for a hub that is known to link to this many bilingual sites.

    Not among the paper's four contexts, but what they stand for: co-citation.
    """
    return f"hub:{min(sites, MOST_CITED)}"


def hub_words(url: str, cited: int) -> tuple[str, ...]:
    """Return the words of a hub: those of its address, and how many bilingual sites it cites."""
    return (*address_words(url), citation(cited))


class WantedUrl(NamedTuple):
    """A URL that the search wants fetched."""

    queue: Queue
    approach: Approach
    priority: float


class Search:
    """Decides which links are followed, and records why."""

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
        """Sites whose examination, or the request for their backlinks, was cut short."""
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
        """Add a page that the user named."""
        if self._strategy.back_and_forth:
            self.hubs.want(url)

    def read(self, url: str, links: list[OutLink]) -> list[WantedUrl]:
        """Record that a page was read; return which of its links to follow."""
        self.graph.add(url, links)
        if not self._strategy.back_and_forth:
            return list(self._followed(links, via="", again=True))
        return self._expand(url, links) if self.hubs.is_unread(url) else []

    def backlinks(
        self, site: str, urls: Iterable[str], was_read: Callable[[str], bool]
    ) -> list[WantedUrl]:
        """Record pages that link to a bilingual site: read them, or follow their links."""
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
        """Record the verdict on a site, or that there can be none."""
        self.sites.note(record)
        self._teach_site(record)
        if record.approach.via:
            self.hubs.judged(record.approach.via, record.standing is Standing.BILINGUAL)

    def priority(self, queue: Queue, approach: Approach) -> float:
        """Return the current priority of a link."""
        is_forward = queue is Queue.FORWARD
        url = approach.url
        words = approach.words if is_forward else hub_words(url, self.hubs.cited(url))
        return self.learner.priority(queue, words, self.hubs.worth)

    def _expand(self, url: str, links: list[OutLink]) -> list[WantedUrl]:
        """Follow the links of a hub to new sites."""
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
        """Return waiting sites that are linked to from a better place than those known before."""
        for link in links:
            known = self.sites.waiting(link.site)
            if known is None or not self.learner.learned:
                continue
            better = self._candidate(Queue.FORWARD, known._replace(words=link.words))
            if better.priority > self.priority(Queue.FORWARD, known):
                self.sites.note(SiteRecord(link.site, Standing.WAITING, better.approach))
                yield better

    def best_approach(self, queue: Queue, approach: Approach) -> Approach:
        """Return the best place from which the site of a waiting URL is linked to."""
        best = self.sites.waiting(site_of(host_of(approach.url)))
        if queue is not Queue.FORWARD or best is None or best.url != approach.url:
            return approach
        return best

    def _followed(self, links: Iterable[OutLink], via: str, *, again: bool) -> Iterator[WantedUrl]:
        """Return links to sites not seen before; with `again` also other pages of those."""
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
