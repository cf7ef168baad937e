"""Why discovery fetches a page, and the order of the links that wait for it.

The links of both kinds wait in the frontier of the crawl, where they survive a kill. With one queue
their priority is the frontier's. With two, the one whose turn it is stands above all others, which
are parked below in the order of their own classifiers; each link that is handed out moves the next
one up.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Self

from scrapy import Request
from scrapy.http import Response

from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.crawl.requests import LOOK, read_fields
from bilingual_crawler.discovery.learner import Queue
from bilingual_crawler.discovery.search import Search
from bilingual_crawler.discovery.site_records import Approach
from bilingual_crawler.discovery.turns import TwoQueues
from bilingual_crawler.frontier.entry import Frontier, State

_MARK = LOOK.encode()
PARKED = -1e6
"""What is added to the priority of a link whose turn has not come: the logarithm of a chance."""
NEXT = -1.0
"""The priority of the link whose turn it is; pages of sites that are harvested have 0 and more."""


class WaitingLink(NamedTuple):
    """A link in the frontier, and its request as stored there."""

    fingerprint: int
    url: str
    payload: bytes | None


class RankedLink(NamedTuple):
    """A link that waits in one of the two queues, and its new priority there."""

    queue: Queue
    fingerprint: int
    priority: float


class Look(NamedTuple):
    """Why a page is fetched: it waits in a queue, or is a page of the site under examination."""

    queue: Queue | None = None
    words: tuple[str, ...] = ()
    via: str = ""
    site: str = ""

    def to_plain(self) -> dict[str, str]:
        """Return the look as plain values for storage; empty ones are left out."""
        plain = {
            "queue": self.queue and self.queue.value,
            "words": " ".join(self.words),
            "via": self.via,
            "site": self.site,
        }
        return {name: value for name, value in plain.items() if value}

    @classmethod
    def of(cls, carrier: Request | Response) -> Self:
        """Return the look of a request, or of the request of a response."""
        return cls.from_plain(RequestState.of(carrier).look or {})

    @classmethod
    def from_plain(cls, plain: Mapping[str, str]) -> Self:
        """Return the look that `to_plain` made plain."""
        queue = plain.get("queue")
        return cls(
            Queue(queue) if queue else None,
            tuple(plain.get("words", "").split()),
            plain.get("via", ""),
            plain.get("site", ""),
        )

    @classmethod
    def from_payload(cls, payload: bytes | None) -> Self | None:
        """Return the look of a request in the frontier; None if it is for harvesting.

        None also for one that cannot be read, which the scheduler drops.
        """
        if payload is None or _MARK not in payload:
            return None
        try:
            meta = read_fields(payload).get("meta", {})
            return cls.from_plain(meta[LOOK]) if LOOK in meta else None
        except ValueError:
            return None

    def approach(self, url: str) -> Approach:
        """Return how discovery came to a page."""
        return Approach(url, self.words, self.via)


def waiting_links(frontier: Frontier) -> list[WaitingLink]:
    """Return what waits in the frontier, first come first."""
    waiting = sorted(frontier.queued(), key=lambda entry: entry.sequence)
    return [WaitingLink(entry.fingerprint, entry.url, entry.payload) for entry in waiting]


def ranked(search: Search, waiting: Iterable[WaitingLink]) -> Iterator[RankedLink]:
    """Yield the new priority of every link that waits in one of the two queues.

    The counts that it reads may grow meanwhile, which changes a priority only slightly.
    """
    for fingerprint, url, payload in waiting:
        look = Look.from_payload(payload)
        if look is not None and look.queue is not None:
            approach = search.best_approach(look.queue, look.approach(url))
            yield RankedLink(look.queue, fingerprint, search.priority(look.queue, approach))


class TurnTaking:
    """Keeps the two queues and the frontier in step."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._queues = TwoQueues()
        self._next: tuple[int, float] | None = None

    def add(self, queue: Queue, fingerprint: int, chance: float) -> None:
        """Take a link that was pushed, parked, into the frontier."""
        self._queues.add(queue, fingerprint, chance)
        self._choose()

    def handed_out(self, request: Request) -> None:
        """Pass the turn after a link was handed out."""
        queue = Look.of(request).queue
        if queue is not None:
            self._queues.took(queue)
            self._choose()

    def clear(self) -> None:
        """Forget the order of both queues, before all links are ranked again."""
        self._queues.clear()

    def rank(self, link: RankedLink) -> None:
        """Give a waiting link its new place."""
        self._frontier.set_priority(link.fingerprint, PARKED + link.priority)
        self.add(*link)

    def _choose(self) -> None:
        """Put the link whose turn it is above the others, and the last one back."""
        chosen = self._queues.head(self._waits)
        if chosen == self._next:
            return
        if self._next is not None:
            fingerprint, chance = self._next
            self._frontier.set_priority(fingerprint, PARKED + chance)
        self._next = chosen
        if chosen is not None:
            self._frontier.set_priority(chosen[0], NEXT)

    def _waits(self, fingerprint: int) -> bool:
        return self._frontier.state_of(fingerprint) is State.QUEUED
