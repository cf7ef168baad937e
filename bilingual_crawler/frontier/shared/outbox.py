"""What a worker sends to Redis: collected, sent together, and kept until it has arrived.

A URL that Redis considers done is never fetched again. So the end of a URL waits for the
checkpoint that holds its document, and the links of its page go first. The checkpoint also keeps
the ends that Redis has not confirmed: a worker that is killed in between sends them when it is
restarted, and fetches nothing twice.
"""

import logging
import math
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.shared.link import Call, RedisScripts
from bilingual_crawler.frontier.shared.records import pack_arguments, pack_fingerprint
from bilingual_crawler.store.journal import Journal, Statement
from bilingual_crawler.urls.hosts import site_of

logger = logging.getLogger(__name__)

SCHEMA = """
CREATE TABLE IF NOT EXISTS untold_ends{part} (
    fingerprint INTEGER PRIMARY KEY, host TEXT NOT NULL, state INTEGER NOT NULL,
    outcome TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS outcomes (outcome TEXT PRIMARY KEY, number INTEGER NOT NULL)
    WITHOUT ROWID;
"""
INSERT = "INSERT OR REPLACE INTO untold_ends{part} VALUES (?, ?, ?, ?)"
DELETE = "DELETE FROM untold_ends{part} WHERE fingerprint = ?"
COUNT = "INSERT OR REPLACE INTO outcomes VALUES (?, ?)"


MOST_CHANGES = 500
"""Changes per call of a script, during which the server does nothing else."""
MOST_ENDS = 5000

Change = list[Any]


class End(NamedTuple):
    """How a URL ended."""

    fingerprint: int
    host: str
    state: State
    outcome: str


class Ends:
    """The ends that Redis does not know yet, and the number of each outcome at this worker.

    `links_are_told` returns True if the links of all ended pages have reached Redis. With several
    servers each has a table of its own, named by its number, and the first counts for all.
    """

    def __init__(
        self, journal: Journal, links_are_told: Callable[[], bool], server: int = 0
    ) -> None:
        self._journal = journal
        self.links_are_told = links_are_told
        part = f"_{server}" if server else ""
        journal.define(SCHEMA.format(part=part))
        self._insert, self._delete = INSERT.format(part=part), DELETE.format(part=part)
        self._counts = server == 0
        rows = journal.read(
            f"SELECT fingerprint, host, state, outcome FROM untold_ends{part}"  # noqa: S608 - a number
        )
        self._durable = [End(fp, host, State(state), outcome) for fp, host, state, outcome in rows]
        self._fresh: list[End] = []
        self._untold = {end.fingerprint: end for end in self._durable}
        self._written: deque[tuple[int, list[End]]] = deque()
        self._confirmed: list[int] = []
        self.outcomes: Counter[str] = Counter(
            dict(journal.read("SELECT outcome, number FROM outcomes"))
        )
        self._counted: dict[str, int] = dict(self.outcomes)
        journal.attach(self)

    def count_with(self, first: "Ends") -> None:
        """Leave the counting of outcomes to the ends of the first server."""
        self.outcomes = first.outcomes

    def add(self, end: End) -> None:
        """Add the end of a URL, whose results are part of the next checkpoint."""
        self._fresh.append(end)
        self._untold[end.fingerprint] = end
        self.outcomes[end.outcome] += 1

    def forget(self, outcome: str) -> None:
        """Uncount an outcome: its URL is queued again."""
        if self.outcomes[outcome] > 0:
            self.outcomes[outcome] -= 1

    def withdraw(self, fingerprint: int) -> End | None:
        """Take back an end that Redis does not know yet: its URL is to be fetched again."""
        end = self._untold.pop(fingerprint, None)
        if end is None:
            return None
        if end in self._fresh:
            self._fresh.remove(end)
            return end
        self._confirmed.append(fingerprint)
        for ends in (self._durable, *(written for _, written in self._written)):
            if end in ends:
                ends.remove(end)
        return end

    def changes(self) -> Iterable[Statement]:
        """Return rows for the journal: the ends that are sent as soon as they are on disk."""
        told = self.links_are_told()
        fresh = self._fresh if told else []
        if told:
            self._fresh = []
            self._written.append((self._journal.begun, fresh))
        confirmed, self._confirmed = self._confirmed, []
        counts = [
            (outcome, number)
            for outcome, number in self.outcomes.items()
            if self._counts and self._counted.get(outcome) != number
        ]
        self._counted.update(counts)
        return [
            (self._delete, [(fingerprint,) for fingerprint in confirmed]),
            (self._insert, [(fp, host, int(state), outcome) for fp, host, state, outcome in fresh]),
            (COUNT, counts),
        ]

    def to_tell(self) -> list[End]:
        """Return the ends that are on disk; call `confirm` with the number that Redis has taken."""
        while self._written and self._written[0][0] <= self._journal.committed:
            self._durable += self._written.popleft()[1]
        return self._durable

    def confirm(self, number: int) -> None:
        """Forget the first `number` ends of `to_tell`, which Redis has taken."""
        confirmed = [end.fingerprint for end in self._durable[:number]]
        self._confirmed += confirmed
        for fingerprint in confirmed:
            self._untold.pop(fingerprint, None)
        del self._durable[:number]

    def get(self, fingerprint: int) -> End | None:
        """Return the end of a URL, if Redis does not know it yet."""
        return self._untold.get(fingerprint)


class FrontierFigures(NamedTuple):
    """The whole crawl in numbers, as of the last answer."""

    queued: int = 0
    elsewhere: int = 0
    """URLs in flight at other workers."""
    known: int = 0
    shelved: int = 0
    fenced: int = 0
    """Changes that came too late: another worker had the URL by then."""
    held: int = 0
    """Sites that this worker holds."""
    dropped: int = 0
    """Records in Redis that no worker can have written, and that were dropped."""


class Outbox:
    """The changes of a worker on their way to Redis, and the figures of the answers.

    Every script may be run twice, so changes without an answer are simply sent again.
    """

    def __init__(self, link: RedisScripts, ends: Ends) -> None:
        self._link = link
        self._ends = ends
        self._changes: list[Change] = []
        self._new_queued = self._new_known = 0
        self.figures = FrontierFigures()
        self.answered_at = -math.inf
        """The time when the last answered call was sent; the lease counts from there."""

    @property
    def queued(self) -> int:
        """Return how many URLs wait in the whole crawl, including those on their way."""
        return max(self.figures.queued + self._new_queued, 0)

    @property
    def known(self) -> int:
        """Return how many URLs were ever pushed, including those on their way."""
        return self.figures.known + self._new_known

    def add(self, *change: Any, queued: int = 0, known: int = 0) -> None:
        """Add a change; `queued` and `known` are what it adds to the figures."""
        self._changes.append(list(change))
        self._new_queued += queued
        self._new_known += known

    @property
    def has_changes(self) -> bool:
        """True if there are changes that only Redis can keep."""
        return bool(self._changes)

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to send at the moment."""
        return not self._changes and not self._ends.to_tell()

    def learn(self, figures: FrontierFigures) -> None:
        """Store the figures of an answer."""
        if figures.dropped > self.figures.dropped:
            logger.warning(
                "%d records in Redis cannot have been written by a worker of this crawl and were"
                " dropped. Who else can write to it?",
                figures.dropped,
            )
        self.figures = figures

    def send(self, *calls: Call) -> Any:
        """Send all changes, the ends that are on disk and the calls in one round trip.

        Return the answer to the last of them: a word, the figures and more. If the server does
        not answer, raise AwayError; everything is then sent again by the next call.
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
    """Return the change that reports the end of a URL."""
    fingerprint, host, state, outcome = end
    return ["end", pack_fingerprint(fingerprint), host, site_of(host), int(state), outcome]
