"""What the frontier knows of a URL, and what any frontier promises."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

MAX_URL = 1 << 16
"""Characters of the longest URL that any frontier takes."""


class State(IntEnum):
    """Where a URL stands. A lease is a queued URL that somebody is working on."""

    QUEUED = 0
    LEASED = 1
    DONE = 2
    FAILED = 3


class Pushed(IntEnum):
    """What became of a push."""

    NEW = 0
    RAISED = 1
    KNOWN = 2


@dataclass(slots=True, eq=False)
class Entry:
    """A URL that is waited for or worked on; what has ended keeps its fingerprint only."""

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
"""(host, URLs of it being worked on, now) -> the time from which one more may be sent.

Now or earlier: at once. Infinity: not before one of them has ended or `Frontier.recheck`.
None: never in this run, its budget is spent.
"""


class Frontier(Protocol):
    """One row a URL; the best URL of a host that may be asked now comes out first.

    Times are seconds of the monotonic clock. Among equal priorities the URL that was
    pushed first comes first.
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
        """A leased URL is done or has failed; `outcome` says in a word how."""

    def retry(self, fingerprint: int, ready_at: float, payload: bytes | None) -> None:
        """A leased URL goes back to the queue and is not sent before `ready_at`."""

    def state_of(self, fingerprint: int) -> State | None:
        """Where a URL stands; None if it was never pushed."""

    def raise_priority(self, fingerprint: int, priority: float) -> bool:
        """Raise a queued URL; whether it was lower is told."""

    def set_priority(self, fingerprint: int, priority: float) -> bool:
        """Raise or lower a queued URL; whether anything changed is told."""

    def recheck(self, host: str) -> None:
        """Ask the gate again for a host that it had closed without a time."""

    def wake_at(self) -> float | None:
        """The next moment at which `pop` may have more to give; None if none is known."""

    def top(self, most: int) -> list[Entry]:
        """The best waiting URLs, whether or not their hosts are free, for people to see."""

    def queued(self) -> Iterator[Entry]:
        """Every waiting URL, in no order."""

    def __len__(self) -> int:
        """How many URLs are queued, those of hosts whose budget is spent left out."""

    def __contains__(self, fingerprint: int) -> bool:
        """Whether a URL was ever pushed, as far as is known here."""

    def prefetch(self, urls: Iterable[tuple[int, str]]) -> None:
        """Make ready to be asked about URLs, given by fingerprint and host."""

    @property
    def known(self) -> int:
        """How many URLs were ever pushed."""

    @property
    def shelved(self) -> int:
        """How many URLs wait for a run with a larger budget."""

    @property
    def hosts(self) -> list[str]:
        """Every host that has or had a waiting URL."""

    @property
    def outcomes(self) -> Counter[str]:
        """How the URLs ended, of which this process knows."""


class CrawlFrontier(Frontier, Protocol):
    """The frontier of a running crawl, which may be shared with other processes."""

    @property
    def dropped(self) -> int:
        """How many records were found that no crawl can have written."""

    @property
    def keep_up_seconds(self) -> float:
        """How often `keep_up` is to be called; 0 is never."""

    def keep_up(self) -> None:
        """Tell others what they must know, and that this process lives."""

    def pending(self) -> bool:
        """Whether there is, or may come, anything to hand out."""

    def end_site(self, site: str) -> None:
        """Let all processes know that nothing more is wanted of a site."""

    def close(self) -> None:
        """Make everything durable and let others go on."""
