"""The requests of discovery: why a page is wanted, in which queue, and with what priority.

Such a page is examined, not harvested. It has its own identity in the frontier, so that
harvesting can still request it when its site turns out to be bilingual.
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

_MARK = LOOK.encode()
Waiting = tuple[int, str, bytes | None]
"""A fingerprint, its URL, and its request as stored in the frontier."""


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


def ranked(search: Search, waiting: Iterable[Waiting]) -> Iterator[tuple[int, float]]:
    """Yield the new priority of every link that waits in one of the two queues.

    The counts that it reads may grow meanwhile, which changes a priority only slightly.
    """
    for fingerprint, url, payload in waiting:
        look = Look.from_payload(payload)
        if look is not None and look.queue is not None:
            approach = search.best_approach(look.queue, look.approach(url))
            yield fingerprint, search.priority(look.queue, approach)
