"""Ended URLs on their way to Redis: told only when what they gave is on this worker's disk.

A URL that Redis thinks is done will never be fetched again. So its end waits for the
checkpoint that holds its document, and the links of its page go first. The checkpoint also
keeps the ends that Redis has not confirmed: a worker that is killed in between tells them
when it is started again, and fetches nothing twice.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from bilingual_crawler.frontier.entry import State
from bilingual_crawler.store.journal import Journal, Statement

SCHEMA = """
CREATE TABLE IF NOT EXISTS untold_ends (
    fingerprint INTEGER PRIMARY KEY, host TEXT NOT NULL, state INTEGER NOT NULL,
    outcome TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS outcomes (outcome TEXT PRIMARY KEY, number INTEGER NOT NULL)
    WITHOUT ROWID;
"""
INSERT = "INSERT OR REPLACE INTO untold_ends VALUES (?, ?, ?, ?)"
DELETE = "DELETE FROM untold_ends WHERE fingerprint = ?"
COUNT = "INSERT OR REPLACE INTO outcomes VALUES (?, ?)"


class End(NamedTuple):
    """How a URL ended."""

    fingerprint: int
    host: str
    state: State
    outcome: str


class Ends:
    """The ends that Redis does not know yet, and how many of which kind this worker had.

    `links_are_told` says whether the links of all pages that ended have reached Redis.
    """

    def __init__(self, journal: Journal, links_are_told: Callable[[], bool]) -> None:
        self._journal = journal
        self._links_are_told = links_are_told
        journal.define(SCHEMA)
        rows = journal.read("SELECT fingerprint, host, state, outcome FROM untold_ends")
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

    def add(self, end: End) -> None:
        """A URL has ended; what it gave is part of the next checkpoint."""
        self._fresh.append(end)
        self._untold[end.fingerprint] = end
        self.outcomes[end.outcome] += 1

    def forget(self, outcome: str) -> None:
        """A URL that had ended so is queued again."""
        if self.outcomes[outcome] > 0:
            self.outcomes[outcome] -= 1

    def withdraw(self, fingerprint: int) -> End | None:
        """Take an end back that Redis does not know yet: its URL is to be fetched again."""
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
        """Rows for the journal: the ends that are told as soon as they are on disk."""
        told = self._links_are_told()
        fresh = self._fresh if told else []
        if told:
            self._fresh = []
            self._written.append((self._journal.begun, fresh))
        confirmed, self._confirmed = self._confirmed, []
        counts = [
            (outcome, number)
            for outcome, number in self.outcomes.items()
            if self._counted.get(outcome) != number
        ]
        self._counted.update(counts)
        return [
            (DELETE, [(fingerprint,) for fingerprint in confirmed]),
            (INSERT, [(fp, host, int(state), outcome) for fp, host, state, outcome in fresh]),
            (COUNT, counts),
        ]

    def to_tell(self) -> list[End]:
        """The ends that are on disk; those that the server takes are to be confirmed."""
        while self._written and self._written[0][0] <= self._journal.committed:
            self._durable += self._written.popleft()[1]
        return self._durable

    def confirm(self, number: int) -> None:
        """The server knows the first so many of them."""
        confirmed = [end.fingerprint for end in self._durable[:number]]
        self._confirmed += confirmed
        for fingerprint in confirmed:
            self._untold.pop(fingerprint, None)
        del self._durable[:number]

    def get(self, fingerprint: int) -> End | None:
        """How a URL ended of which Redis does not know it yet."""
        return self._untold.get(fingerprint)
