"""The embedded frontier: in memory, with a SQLite journal.

SQLite as the queue itself costs ten to twenty times as much as the heaps. So it only keeps one
row per URL, written in batches, from which the heaps are rebuilt at the start. Leases are not
written, so that a leased URL is a queued one again after a crash.
"""

import logging
import math
import time
from collections.abc import Iterable
from sys import intern
from typing import Any

from bilingual_crawler.frontier.entry import MAX_URL, Entry, HostGate, Pushed, State
from bilingual_crawler.frontier.memory import MemoryFrontier, always_open
from bilingual_crawler.store.journal import Journal, Statement

logger = logging.getLogger(__name__)

ENDED = (State.DONE, State.FAILED)
LONGEST_WAIT = 86_400.0
"""Seconds that a URL may wait for another attempt after a restart."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS urls (
    fingerprint INTEGER PRIMARY KEY,
    state INTEGER NOT NULL,
    priority REAL NOT NULL,
    sequence INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    not_before REAL NOT NULL,
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    payload BLOB,
    outcome TEXT
);
"""
INSERT = "INSERT OR REPLACE INTO urls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
END = "UPDATE urls SET state = ?, outcome = ?, payload = NULL WHERE fingerprint = ?"
CHANGE = (
    "UPDATE urls SET priority = ?, attempts = ?, not_before = ?, payload = ? WHERE fingerprint = ?"
)


class JournaledFrontier(MemoryFrontier):
    """A `MemoryFrontier` whose changes are all part of the next checkpoint.

    No other process shares it, so `keep_up` has nothing to do.
    """

    keep_up_seconds = 0.0

    def __init__(self, journal: Journal, gate: HostGate = always_open) -> None:
        super().__init__(gate)
        self._unsaved: set[int] = set()
        self._changed: set[int] = set()
        self._endings: dict[int, tuple[Entry, State, str]] = {}
        self.pages_of_host: dict[str, int] = {}
        self.dropped = 0
        journal.define(SCHEMA)
        self._load(journal)
        journal.attach(self)

    def push(
        self,
        fingerprint: int,
        url: str,
        host: str,
        priority: float,
        payload: bytes | None = None,
        *,
        again: bool = False,
    ) -> Pushed:
        """Insert a URL, or raise its priority if it is queued at a lower one."""
        pushed = super().push(fingerprint, url, host, priority, payload, again=again)
        if pushed is Pushed.NEW:
            self._unsaved.add(fingerprint)
            self._endings.pop(fingerprint, None)
        return pushed

    def set_priority(self, fingerprint: int, priority: float) -> bool:
        """Set the priority of a queued URL; return True if that changed anything."""
        changed = super().set_priority(fingerprint, priority)
        if changed:
            self._changed.add(fingerprint)
        return changed

    def end(self, fingerprint: int, state: State, outcome: str) -> None:
        """End a leased URL, which is done or has failed; `outcome` is a word for how."""
        entry = self._entries[fingerprint]
        super().end(fingerprint, state, outcome)
        self._endings[fingerprint] = (entry, state, outcome)

    def retry(self, fingerprint: int, ready_at: float, payload: bytes | None) -> None:
        """Put a leased URL back into the queue, not to be sent before `ready_at`."""
        super().retry(fingerprint, ready_at, payload)
        self._changed.add(fingerprint)

    def keep_up(self) -> None:
        """Do nothing: the journal asks for changes by itself."""

    def end_site(self, site: str) -> None:
        """Do nothing: the gate and the facts of the crawl know."""

    def close(self) -> None:
        """Do nothing: the folder of the crawl closes the journal."""

    def changes(self) -> Iterable[Statement]:
        """Return rows for the journal: what is new, what changed, what has ended."""
        wall = time.time() - time.monotonic()
        inserts, endings, changed = [], [], []
        for fingerprint in self._unsaved:
            ended = self._endings.pop(fingerprint, None)
            if ended is not None:
                inserts.append(_row(ended[0], wall, ended[1], ended[2]))
            else:
                inserts.append(_row(self._entries[fingerprint], wall))
        for fingerprint, (_, state, outcome) in self._endings.items():
            endings.append((int(state), outcome, fingerprint))
        for fingerprint in self._changed - self._unsaved - self._endings.keys():
            entry = self._entries[fingerprint]
            not_before = entry.ready_at and entry.ready_at + wall
            changed.append((entry.priority, entry.attempts, not_before, entry.payload, fingerprint))
        self._unsaved.clear()
        self._changed.clear()
        self._endings.clear()
        return [(INSERT, inserts), (END, endings), (CHANGE, changed)]

    def _load(self, journal: Journal) -> None:
        """Rebuild the heaps; of ended URLs keep the fingerprint and the outcome."""
        now, wall = time.monotonic(), time.time()
        columns = "fingerprint, priority, sequence, attempts, not_before, url, host, payload"
        queued = f"SELECT {columns} FROM urls WHERE state < 2 ORDER BY sequence"  # noqa: S608
        for row in journal.read(queued):
            if not _is_queued_row(row):
                self.dropped += 1
                continue
            fingerprint, priority, sequence, attempts, not_before, url, host, payload = row
            payload = self._share(payload)
            entry = Entry(fingerprint, url, intern(host), priority, sequence, payload)
            entry.attempts = attempts
            self._entries[fingerprint] = entry
            if not_before > wall:
                self._delay(entry, now + min(not_before - wall, LONGEST_WAIT))
            else:
                self._enqueue(entry)
        ended = "SELECT fingerprint, state, outcome FROM urls WHERE state > 1"
        for fingerprint, state, outcome in journal.read(ended):
            if _has_types((fingerprint, outcome), (int, str)) and state in ENDED:
                self._note_end(fingerprint, State(state), intern(outcome))
            else:
                self.dropped += 1
        if self.dropped:
            logger.warning(
                "%s has %d rows that are not URLs of a crawl: they are left out",
                journal.path,
                self.dropped,
            )
        self.pages_of_host = dict(
            journal.read("SELECT host, COUNT(*) FROM urls WHERE state = 2 GROUP BY host")
        )
        latest = "SELECT MAX(sequence) FROM urls WHERE typeof(sequence) = 'integer'"
        for (sequence,) in journal.read(latest):
            self._sequence = sequence or 0


def _is_queued_row(row: tuple[Any, ...]) -> bool:
    """Return True if a row is a waiting URL: SQLite allows any value in any column."""
    _, priority, *_, not_before, url, _, _ = row
    types = (int, float, int, int, float, str, str, bytes | None)
    return (
        _has_types(row, types)
        and not math.isnan(priority)
        and math.isfinite(not_before)
        and len(url) <= MAX_URL
    )


def _has_types(values: Iterable[Any], types: Iterable[Any]) -> bool:
    return all(isinstance(value, kind) for value, kind in zip(values, types, strict=True))


def _row(
    entry: Entry, wall: float, state: State = State.QUEUED, outcome: str | None = None
) -> tuple[object, ...]:
    """Return the row of a URL; a leased one is saved as queued, an ended one needs no payload."""
    return (
        entry.fingerprint,
        int(state),
        entry.priority,
        entry.sequence,
        entry.attempts,
        entry.ready_at and entry.ready_at + wall,
        entry.url,
        entry.host,
        entry.payload if state is State.QUEUED else None,
        outcome,
    )
