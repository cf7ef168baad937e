"""A frontier seen from outside, for display: waiting URLs, those in flight, and outcomes.

There is one implementation per place of a frontier: the journal in the folder of a crawl
(`journal_view.py`) and Redis (`shared/view.py`).
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from bilingual_crawler.errors import ConfigurationError

WAITING, IN_FLIGHT, DONE, FAILED = "waiting", "in_flight", "done", "failed"
STATES = (WAITING, IN_FLIGHT, DONE, FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Url:
    """A URL of the crawl; of one that is done, Redis keeps only the fingerprint.

    A seed has no score, because it comes before everything else.
    """

    fingerprint: int
    url: str | None
    host: str
    state: str
    score: float | None = None
    attempts: int = 0
    """The number of earlier attempts."""
    outcome: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the URL as `scrapy frontier export` writes it."""
        number = self.fingerprint.to_bytes(8, "big", signed=True).hex()
        return asdict(self) | {"fingerprint": number}


@dataclass(slots=True, kw_only=True)
class Host:
    """The URLs of a host, counted by state; None is unknown to this frontier."""

    host: str
    waiting: int = 0
    in_flight: int | None = None
    done: int = 0
    failed: int = 0
    next_allowed: float | None = None
    """Seconds until the next request is allowed; 0 if it is now."""
    holder: str = ""
    """The worker that holds its site."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A worker process."""

    name: str
    sites: int
    in_flight: int
    seconds_left: float
    """Until its lease ends, unless it is renewed; negative if it has ended."""
    oldest: float | None = None
    """Seconds since its oldest URL in flight was handed out."""


@dataclass(slots=True, kw_only=True)
class Status:
    """All URLs, counted; None is unknown to this frontier."""

    place: str
    is_running: bool
    hosts: int = 0
    waiting: int = 0
    in_flight: int | None = None
    over_budget: int | None = None
    """Waiting URLs of hosts whose budget is spent."""
    done: int = 0
    failed: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    workers: list[Worker] | None = None
    sites_held: int | None = None
    memory_bytes: int | None = None


class UrlSelection(NamedTuple):
    """Selects URLs; a rule that is not given excludes nothing."""

    outcomes: frozenset[str] = frozenset()
    host: str = ""
    pattern: re.Pattern[str] | None = None

    def means(self, url: str, host: str, outcome: str | None) -> bool:
        """Return True if a URL is selected."""
        return (
            (not self.outcomes or outcome in self.outcomes)
            and (not self.host or host == self.host)
            and (self.pattern is None or self.pattern.search(url) is not None)
        )


class FrontierView(Protocol):
    """A look at a frontier, running or not, that does not disturb it."""

    errors: tuple[type[Exception], ...]
    """The exceptions of a place that can no longer be read."""

    def status(self) -> Status:
        """Return the counts."""

    def top(self, most: int) -> list[Url]:
        """Return the best waiting URLs, the best first."""

    def hosts(self) -> Iterator[Host]:
        """Yield every host, in no order."""

    def urls(self) -> Iterator[Url]:
        """Yield every URL, in no order."""

    def requeue_failed(self, selection: UrlSelection) -> int:
        """Queue failed URLs again and return their number. This changes the frontier."""

    def free_worker(self, name: str) -> int:
        """Take back all URLs of a dead worker and return their number."""

    def close(self) -> None:
        """Close the frontier."""


SCHEMES = ("redis://", "rediss://", "unix://")


def open_view(place: str, prefix: str = "") -> FrontierView:
    """Open the frontier in the folder of a crawl, or at an address of Redis.

    `prefix` selects one of several crawls in the same Redis.
    """
    if not place.startswith(SCHEMES):
        from bilingual_crawler.frontier.journal_view import JournalView  # noqa: PLC0415 - no cycle

        return JournalView(Path(place))
    try:
        from bilingual_crawler.frontier.shared.view import open_shared_view  # noqa: PLC0415 - an extra
    except ImportError:
        raise ConfigurationError(
            f"A frontier in Redis ({SCHEMES[0]}...) needs the package redis, which is not "
            "installed.",
            "Install it with pip install 'bilingual-crawler[redis]'.",
        ) from None
    return open_shared_view(place, prefix)
