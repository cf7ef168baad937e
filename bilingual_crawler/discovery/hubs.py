"""The hubs of discovery: pages that link to bilingual sites, or were said to.

Every hub links to the site that it is a backlink of, so that alone says nothing. A good hub also
links to another bilingual site. A hub is bad if all of its links, or enough of them, led to none.
Each hub is shown to its classifier once. What the links of good hubs cost and find gives the worth
of a backlink.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bilingual_crawler.discovery.learner import HubWorth
from bilingual_crawler.store.journal import Journal, Statement
from bilingual_crawler.urls.fingerprint import url_fingerprint

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
