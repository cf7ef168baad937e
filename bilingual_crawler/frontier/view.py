"""A frontier seen from outside, for display: waiting URLs, those in flight, and outcomes.

There is one implementation per place of a frontier: Redis (`shared/view.py`) and, here, the journal
in the folder of a crawl, as of the last checkpoint. The journal does not know which URLs are in
flight: after a kill they are queued. It is read without a lock, so that a running crawl is not
disturbed; only `requeue_failed` locks the folder.
"""

import math
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.store.folder import JOURNAL
from bilingual_crawler.store.journal import Journal, is_locked, open_read_only
from bilingual_crawler.store.journal_tables import JournaledRows

WAITING, IN_FLIGHT, DONE, FAILED = "waiting", "in_flight", "done", "failed"
STATES = (WAITING, IN_FLIGHT, DONE, FAILED)

WORDS = {State.QUEUED: WAITING, State.LEASED: WAITING, State.DONE: DONE, State.FAILED: FAILED}
COLUMNS = "fingerprint, url, host, state, priority, attempts, outcome"
OURS = (
    "state IN (0, 1, 2, 3) AND typeof(priority) = 'real' AND typeof(attempts) = 'integer'"
    " AND typeof(url) = 'text' AND typeof(host) = 'text' AND typeof(outcome) IN ('text', 'null')"
)
"""True of every row that a crawl writes; the journal may come from someone else."""
AGAIN = (
    "UPDATE urls SET state = 0, outcome = NULL, attempts = 0, not_before = 0 WHERE fingerprint = ?"
)
UNFINISHED = "UPDATE facts SET value = 'no' WHERE name = 'finished'"


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


class Amount(NamedTuple):
    """The number of URLs of a host with a state and an outcome."""

    host: str
    state: State
    outcome: str | None
    number: int


class JournalView:
    """The view of the table of URLs in a journal."""

    errors: tuple[type[Exception], ...] = (sqlite3.DatabaseError,)

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._journal = folder / JOURNAL
        if not self._journal.is_file():
            raise ConfigurationError(
                f"There is no crawl in {folder} (no {JOURNAL}): name the folder given as "
                "-a output=DIR, or the Redis with the frontier, as redis://HOST:PORT/DB."
            )
        self._held = ExitStack()
        self._connection = self._held.enter_context(open_read_only(self._journal))
        self._check()

    def _check(self) -> None:
        try:
            tables = {
                name for (name,) in self._connection.execute("SELECT name FROM sqlite_master")
            }
            own = "urls" in tables and self._connection.execute("SELECT 1 FROM urls").fetchone()
        except sqlite3.DatabaseError as error:
            self.close()
            raise ConfigurationError(f"{self._journal} cannot be read: {error}.") from error
        if not own and "untold_ends" in tables:
            self.close()
            raise ConfigurationError(
                f"The crawl of {self._folder} has its frontier in Redis: write its address, the "
                "value of BILINGUAL_FRONTIER."
            )
        if "urls" not in tables:
            self.close()
            raise ConfigurationError(f"The crawl of {self._folder} has not begun yet.")

    def close(self) -> None:
        """Close the journal."""
        self._held.close()

    def status(self) -> Status:
        """Return the counts of the last checkpoint."""
        status = Status(place=str(self._folder), is_running=is_locked(self._journal), hosts=0)
        hosts = set()
        for host, state, outcome, number in amounts(self._connection):
            hosts.add(host)
            setattr(status, WORDS[state], getattr(status, WORDS[state]) + number)
            if outcome is not None:
                status.outcomes[outcome] += number
        status.hosts = len(hosts)
        return status

    def top(self, most: int) -> list[Url]:
        """Return the best waiting URLs."""
        return best(self._connection, most)

    def hosts(self) -> Iterator[Host]:
        """Return every host."""
        found: dict[str, Host] = {}
        for host, state, _, number in amounts(self._connection):
            each = found.setdefault(host, Host(host=host))
            setattr(each, WORDS[state], getattr(each, WORDS[state]) + number)
        return iter(found.values())

    def urls(self) -> Iterator[Url]:
        """Yield every URL, in the order of fingerprints."""
        every = f"SELECT {COLUMNS} FROM urls WHERE {OURS}"  # noqa: S608 - our own words
        for row in self._connection.execute(every):
            yield _url(row)

    def requeue_failed(self, selection: UrlSelection) -> int:
        """Queue failed URLs again, for the next run of the crawl."""
        with closing(Journal(self._journal)) as journal:
            failed = journal.read(
                f"SELECT fingerprint, url, host, outcome FROM urls WHERE state = ? AND {OURS}",  # noqa: S608
                (int(State.FAILED),),
            )
            chosen = [
                (fingerprint,)
                for fingerprint, url, host, outcome in failed
                if selection.means(url, host, outcome)
            ]
            if chosen:
                rows = JournaledRows(journal)
                rows.add(AGAIN, *chosen)
                rows.add(UNFINISHED, ())
        return len(chosen)

    def free_worker(self, name: str) -> int:
        """Raise an error: there are no other workers."""
        raise ConfigurationError(
            f"The frontier of {self._folder} has one worker, and {name} cannot be freed: start the "
            "crawl again, which takes up what it had in flight."
        )


def amounts(connection: sqlite3.Connection) -> Iterator[Amount]:
    """Yield the URLs of a journal by host, state and outcome: about a second per million."""
    for host, state, outcome, number in connection.execute(
        f"SELECT host, state, outcome, COUNT(*) FROM urls WHERE {OURS}"  # noqa: S608
        " GROUP BY host, state, outcome"
    ):
        yield Amount(host, State(state), outcome, number)


def best(connection: sqlite3.Connection, most: int) -> list[Url]:
    """Return the best waiting URLs of a journal."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM urls WHERE state < ? AND {OURS}"  # noqa: S608 - our own words
        " ORDER BY priority DESC, sequence LIMIT ?",
        (int(State.DONE), most),
    )
    return [_url(row) for row in rows]


def _url(row: tuple[Any, ...]) -> Url:
    fingerprint, url, host, state, priority, attempts, outcome = row
    word = WORDS[State(state)]
    return Url(
        fingerprint=fingerprint,
        url=url,
        host=host,
        state=word,
        score=priority if word == WAITING and math.isfinite(priority) else None,
        attempts=attempts,
        outcome=outcome,
    )


SCHEMES = ("redis://", "rediss://", "unix://")


def open_view(place: str, prefix: str = "") -> FrontierView:
    """Open the frontier in the folder of a crawl, or at an address of Redis.

    `prefix` selects one of several crawls in the same Redis.
    """
    if not place.startswith(SCHEMES):
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
