"""What a worker has to tell Redis: collected, sent together, kept until it has arrived."""

import logging
import math
from typing import Any, NamedTuple

from bilingual_crawler.frontier.shared.ends import End, Ends
from bilingual_crawler.frontier.shared.link import Call, RedisScripts
from bilingual_crawler.frontier.shared.records import pack_arguments, pack_fingerprint
from bilingual_crawler.urls.hosts import site_of

logger = logging.getLogger(__name__)

MOST_CHANGES = 500
"""Changes in one call of a script: the server does nothing else meanwhile."""
MOST_ENDS = 5000

Change = list[Any]


class FrontierFigures(NamedTuple):
    """The whole crawl in numbers, as the last answer told them."""

    queued: int = 0
    elsewhere: int = 0
    """URLs in flight at other workers."""
    known: int = 0
    shelved: int = 0
    fenced: int = 0
    """Changes that came too late, when another worker had the URL."""
    held: int = 0
    """Sites that this worker holds."""
    dropped: int = 0
    """Things in Redis that no worker had put there, and that were dropped."""


class Outbox:
    """The changes of a worker on their way, and what the answers say of the crawl.

    Every script may be run twice, so what is not answered is simply sent again.
    """

    def __init__(self, link: RedisScripts, ends: Ends) -> None:
        self._link = link
        self._ends = ends
        self._changes: list[Change] = []
        self._new_queued = self._new_known = 0
        self.figures = FrontierFigures()
        self.answered_at = -math.inf
        """When the last call was sent that was answered; the lease counts from there."""

    @property
    def queued(self) -> int:
        """How many URLs wait in the whole crawl, those on their way included."""
        return max(self.figures.queued + self._new_queued, 0)

    @property
    def known(self) -> int:
        """How many URLs were ever pushed, those on their way included."""
        return self.figures.known + self._new_known

    def add(self, *change: Any, queued: int = 0, known: int = 0) -> None:
        """Put in a change, with what it adds to the figures."""
        self._changes.append(list(change))
        self._new_queued += queued
        self._new_known += known

    @property
    def has_changes(self) -> bool:
        """Whether there is anything that only Redis can keep."""
        return bool(self._changes)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to tell at the moment."""
        return not self._changes and not self._ends.to_tell()

    def learn(self, figures: FrontierFigures) -> None:
        """Take over the figures of an answer."""
        if figures.dropped > self.figures.dropped:
            logger.warning(
                "Redis has had %d records that no worker of this crawl can have written: they were"
                " dropped. Who else can write to it?",
                figures.dropped,
            )
        self.figures = figures

    def send(self, *calls: Call) -> Any:
        """One round trip: all changes, the ends that may be told, and the calls.

        The answer to the last of them is returned: a word, the figures and more. If the
        server does not answer, AwayError is raised and everything stays to be sent again.
        """
        sent_at = self._link.clock()
        number, ends = len(self._changes), self._ends.to_tell()[:MOST_ENDS]
        changes = self._changes + [end_change(end) for end in ends]
        writes = [
            Call("write", (sent_at, pack_arguments(changes[at : at + MOST_CHANGES])))
            for at in range(0, len(changes), MOST_CHANGES)
        ]
        answer = self._link.run_all([*writes, *calls])[-1]
        del self._changes[:number]
        self._ends.confirm(len(ends))
        self._new_queued = self._new_known = 0
        self.learn(FrontierFigures(*answer[1]))
        if calls:
            self.answered_at = sent_at
        return answer


def end_change(end: End) -> Change:
    """The change that tells how a URL ended."""
    fingerprint, host, state, outcome = end
    return ["end", pack_fingerprint(fingerprint), host, site_of(host), int(state), outcome]
