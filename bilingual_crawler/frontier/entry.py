"""The entries of a frontier, and the protocol of all frontiers."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

MAX_URL = 1 << 16
"""Maximum number of characters of a URL in any frontier."""


class State(IntEnum):
    """The state of a URL. A leased one has been handed out and has not ended yet."""

    QUEUED = 0
    LEASED = 1
    DONE = 2
    FAILED = 3


class Pushed(IntEnum):
    """The result of a push."""

    NEW = 0
    RAISED = 1
    KNOWN = 2


@dataclass(slots=True, eq=False)
class Entry:
    """A URL that is queued or leased; of an ended one only the fingerprint is kept."""

    fingerprint: int
    url: str
    host: str
    priority: float
    sequence: int
    payload: bytes | None
    state: State = State.QUEUED
    attempts: int = 0
    ready_at: float = 0.0


HostGate = Callable[[str, int, float], float | None]
"""(host, number of its leased URLs, now) -> the time from which one more may be sent.

Now or earlier: at once. Infinity: not before one of them has ended, or `Frontier.recheck`.
None: never in this run, because its budget is spent.
"""


class Frontier(Protocol):
    """One entry per URL; the best URL of a host that may be sent now comes out first.

    Times are seconds of the monotonic clock. Among equal priorities the URL that was pushed
    first comes first.
    """

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
        """Insert a URL, or raise its priority if it is queued at a lower one.

        A URL that is leased or has ended stays as it is unless `again` is given.
        """

    def pop(self, now: float) -> Entry | None:
        """Lease the best URL that may be sent now."""

    def end(self, fingerprint: int, state: State, outcome: str) -> None:
        """End a leased URL, which is done or has failed; `outcome` is a word for how."""

    def retry(self, fingerprint: int, ready_at: float, payload: bytes | None) -> None:
        """Put a leased URL back into the queue, not to be sent before `ready_at`."""

    def state_of(self, fingerprint: int) -> State | None:
        """Return the state of a URL; None if it was never pushed."""

    def raise_priority(self, fingerprint: int, priority: float) -> bool:
        """Raise the priority of a queued URL; return True if it was lower."""

    def set_priority(self, fingerprint: int, priority: float) -> bool:
        """Set the priority of a queued URL; return True if that changed anything."""

    def recheck(self, host: str) -> None:
        """Ask the gate again about a host that it had closed without a time."""

    def wake_at(self) -> float | None:
        """Return the next time at which `pop` may have a URL; None if unknown."""

    def top(self, most: int) -> list[Entry]:
        """Return the best waiting URLs, for display, whether or not their hosts are free."""

    def queued(self) -> Iterator[Entry]:
        """Yield every waiting URL, in no order."""

    def __len__(self) -> int:
        """Return how many URLs are queued, without those of hosts whose budget is spent."""

    def __contains__(self, fingerprint: int) -> bool:
        """Return True if a URL was ever pushed, as far as is known here."""

    def prefetch(self, urls: Iterable[tuple[int, str]]) -> None:
        """Prepare for questions about URLs, given by fingerprint and host."""

    @property
    def known(self) -> int:
        """The number of URLs that were ever pushed."""

    @property
    def shelved(self) -> int:
        """The number of URLs that wait for a run with a larger budget."""

    @property
    def hosts(self) -> list[str]:
        """Every host that has or had a waiting URL."""

    @property
    def outcomes(self) -> Counter[str]:
        """The outcomes of the URLs that this process knows."""


class CrawlFrontier(Frontier, Protocol):
    """The frontier of a running crawl, which may be shared with other processes."""

    @property
    def dropped(self) -> int:
        """The number of records that no crawl can have written."""

    @property
    def keep_up_seconds(self) -> float:
        """The interval at which to call `keep_up`; 0 is never."""

    def keep_up(self) -> None:
        """Send changes to other processes, and a sign of life."""

    def pending(self) -> bool:
        """Return True if there is anything to hand out, now or later."""

    def end_site(self, site: str) -> None:
        """Have all processes stop crawling a site."""

    def close(self) -> None:
        """Make everything durable, and release what other processes may need."""
