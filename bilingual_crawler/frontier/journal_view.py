"""The frontier in the folder of a crawl, as of the last checkpoint.

The journal does not know which URLs are in flight: after a kill they are queued. It is read
without a lock, so that a running crawl is not disturbed; only `requeue_failed` locks the folder.
"""

import math
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.view import (
    DONE,
    FAILED,
    WAITING,
    Host,
    Status,
    Url,
    UrlSelection,
)
from bilingual_crawler.store.folder import JOURNAL
from bilingual_crawler.store.journal import Journal, is_locked, open_read_only
from bilingual_crawler.store.journal_tables import JournaledRows

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
