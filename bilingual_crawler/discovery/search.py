"""The search for bilingual sites: Barbosa's back and forth, without networking.

A site that is judged bilingual gives its backlinks, a backlink page (a hub) gives its links to
other sites, and the links of those sites' pages are recorded but not followed: so the search stays
in the neighbourhood of bilingual sites. Seeds are read as hubs too, unlike in the paper, where a
search engine knows the backlinks of any page; without one, a search that starts with sites alone
would end with them.

Every hub links to the site that it is a backlink of, so that alone says nothing. A good hub also
links to another bilingual site. A hub is bad if all of its links, or enough of them, led to none.
Each hub is shown to its classifier once. What the links of good hubs cost and find gives the worth
of a backlink.

A focused search is what the paper compares this with: it follows the links of pages on a topic, and
learns which links lead to such pages.

The caller fetches what the search asks for and reports the results.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from bilingual_crawler.config.discovery import Strategy
from bilingual_crawler.discovery.graph import LinkGraph, OutLink, address_words
from bilingual_crawler.discovery.learner import HubWorth, Learner, Queue
from bilingual_crawler.discovery.site_records import (
    JUDGED,
    Approach,
    SiteRecord,
    SiteRecords,
    Standing,
)
from bilingual_crawler.store.journal import Journal, Statement
from bilingual_crawler.urls.fingerprint import url_fingerprint
from bilingual_crawler.urls.hosts import host_of, site_of

ENOUGH = 20
"""Links of a hub that led to no bilingual site before the hub is called bad."""
UNREAD = -1

SCHEMA = """
CREATE TABLE IF NOT EXISTS discovery_hubs (
    url TEXT PRIMARY KEY, cause TEXT NOT NULL, cited INTEGER NOT NULL, open INTEGER NOT NULL,
    judged INTEGER NOT NULL, found INTEGER NOT NULL, good INTEGER
) WITHOUT ROWID;
"""
INSERT = "INSERT OR REPLACE INTO discovery_hubs VALUES (?, ?, ?, ?, ?, ?, ?)"
SELECT = "SELECT url, cause, cited, open, judged, found, good FROM discovery_hubs"

ON_TOPIC = """
CREATE TABLE IF NOT EXISTS discovery_on_topic (
    url TEXT PRIMARY KEY, words TEXT NOT NULL, on_topic INTEGER NOT NULL
) WITHOUT ROWID;
"""
INSERT_ON_TOPIC = "INSERT OR REPLACE INTO discovery_on_topic VALUES (?, ?, ?)"
SELECT_ON_TOPIC = "SELECT words, on_topic FROM discovery_on_topic"

MOST_CITED = 4
"""Beyond this many bilingual sites, a hub's number of links to them makes no difference."""


@dataclass(slots=True)
class Hub:
    """A hub and the results of its links.

    `cited` are the bilingual sites that it is known to link to, `open` its links to sites that wait
    for a verdict.
    """

    cause: str
    cited: int = 0
    open: int = UNREAD
    judged: int = 0
    found: int = 0
    good: bool | None = None


class Hubs:
    """All hubs; part of the crawl's checkpoints.

    `teach` is called with a hub, the number of bilingual sites it is known to link to, and whether
    it is good.
    """

    def __init__(self, journal: Journal, teach: Callable[[str, int, bool], None]) -> None:
        self._teach = teach
        self._hubs: dict[str, Hub] = {}
        self._known: set[int] = set()
        self._changed: dict[str, Hub] = {}
        self.worth = HubWorth()
        journal.define(SCHEMA)
        for url, cause, cited, left, judged, found, good in journal.read(SELECT):
            hub = Hub(cause, cited, left, judged, found, None if good is None else bool(good))
            self._known.add(url_fingerprint(url))
            self._hubs[url] = hub
            if hub.good is not None:
                teach(url, hub.cited, hub.good)
            if not hub.open:
                del self._hubs[url]
            if hub.good:
                self.worth.add(hub.found, 1 + hub.judged)
        journal.attach(self)

    def want(self, url: str, cause: str = "") -> bool:
        """Record that a page links to the bilingual site `cause`; return True if it should be read.

        It should if it is new, or waits to be read and has become more promising.
        """
        fingerprint = url_fingerprint(url)
        if fingerprint in self._known:
            hub = self._hubs.get(url)
            if hub is None or not cause or cause == hub.cause:
                return False
            hub.cited += 1
            self._changed[url] = hub
            return hub.open == UNREAD
        self._known.add(fingerprint)
        self._hubs[url] = self._changed[url] = Hub(cause, int(bool(cause)))
        return True

    def cited(self, url: str) -> int:
        """Return how many bilingual sites a hub is known to link to."""
        hub = self._hubs.get(url)
        return 0 if hub is None else hub.cited

    def is_unread(self, url: str) -> bool:
        """Return True if the links of a hub are still wanted."""
        hub = self._hubs.get(url)
        return hub is not None and hub.open == UNREAD

    def cause_of(self, url: str) -> str:
        """Return the site that a hub is a backlink of."""
        hub = self._hubs.get(url)
        return "" if hub is None else hub.cause

    def read(self, url: str, waiting: int, bilingual: int) -> None:
        """Record that a hub was read and how many of its links lead to sites without a verdict.

        `bilingual` are further sites, besides its cause, that are known to be bilingual.
        """
        hub = self._hubs[url]
        hub.open = waiting
        hub.cited = max(hub.cited, bilingual + int(bool(hub.cause)))
        if bilingual:
            self._call(url, hub, good=True)
        self._review(url, hub)

    def judged(self, url: str, bilingual: bool) -> None:
        """Record the verdict on a site that a link of the hub led to."""
        hub = self._hubs.get(url)
        if hub is None or hub.open <= 0:
            return
        hub.open -= 1
        hub.judged += 1
        hub.found += bilingual
        if hub.good:
            self.worth.add(int(bilingual), 1)
        elif bilingual and hub.good is None:
            self._call(url, hub, good=True)
        self._review(url, hub)

    def _review(self, url: str, hub: Hub) -> None:
        self._changed[url] = hub
        if hub.good is None and (not hub.open or hub.judged >= ENOUGH):
            self._call(url, hub, good=False)
        if not hub.open:
            del self._hubs[url]

    def _call(self, url: str, hub: Hub, *, good: bool) -> None:
        hub.good = good
        self._teach(url, hub.cited, good)
        if good:
            self.worth.add(hub.found, 1 + hub.judged)

    def changes(self) -> Iterable[Statement]:
        """Return rows for the journal."""
        rows = [
            (url, hub.cause, hub.cited, hub.open, hub.judged, hub.found, hub.good)
            for url, hub in self._changed.items()
        ]
        self._changed = {}
        return [(INSERT, rows)]


class TopicalPages:
    """Which links have led to pages on topic: what a focused crawler learns from."""

    def __init__(self, journal: Journal, teach: Callable[[tuple[str, ...], bool], None]) -> None:
        self._teach = teach
        self._new: list[tuple[str, str, int]] = []
        journal.define(ON_TOPIC)
        for words, on_topic in journal.read(SELECT_ON_TOPIC):
            teach(tuple(words.split()), bool(on_topic))
        journal.attach(self)

    def note(self, approach: Approach, on_topic: bool) -> None:
        """Record whether the page behind a link is on topic."""
        self._teach(approach.words, on_topic)
        self._new.append((approach.url, " ".join(approach.words), on_topic))

    def changes(self) -> Iterable[Statement]:
        """Return rows for the journal."""
        rows, self._new = self._new, []
        return [(INSERT_ON_TOPIC, rows)]


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
        *,
        compares_queues: bool = True,
        focused: bool = False,
    ) -> None:
        self._strategy = strategy
        self._focused = focused
        self._compares_queues = compares_queues
        self._admits = admits
        self.learner = learner
        self.graph = LinkGraph(journal)
        self.sites = SiteRecords(journal)
        self.hubs = Hubs(journal, self._teach_hub)
        self._topical = TopicalPages(journal, self._teach_link) if focused else None
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

    def classified(self, approach: Approach, on_topic: bool) -> None:
        """Record what the page classifier of a focused crawl says of the page behind a link."""
        if self._topical is not None:
            self._topical.note(approach, on_topic)

    def read(self, url: str, links: list[OutLink], *, on_topic: bool = True) -> list[WantedUrl]:
        """Record that a page was read; return which of its links to follow.

        A focused crawl follows those of pages on topic.
        """
        self.graph.add(url, links)
        if self._focused and not on_topic:
            return []
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
        """Return the current priority of a link: among all, or in its queue if there are two."""
        is_forward = queue is Queue.FORWARD
        url = approach.url
        words = approach.words if is_forward else hub_words(url, self.hubs.cited(url))
        worth = self.hubs.worth if self._compares_queues else None
        return self.learner.priority(queue, words, worth)

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
        if not self._focused:
            self._teach_link(record.approach.words, record.standing is Standing.BILINGUAL)

    def _teach_link(self, words: tuple[str, ...], relevant: bool) -> None:
        self.learner.teach(Queue.FORWARD, words, relevant)

    def _teach_hub(self, url: str, cited: int, good: bool) -> None:
        self.learner.teach(Queue.BACKLINK, hub_words(url, cited), good)
