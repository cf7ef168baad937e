"""When each page was fetched, what its server said about its version, and how often it changed.

Every page of a crawl has a row, so that any crawl can be revisited later. A page that is due is
asked for with what its server said about the last version (RFC 9110, section 13), and it comes the
earlier, the likelier it has changed.

Changes of web pages are taken for a Poisson process, as is usual (Cho and Garcia-Molina, Estimating
Frequency of Change, 2003). Its rate is the mean of a gamma distribution: what was seen of the page,
and half a change that stands for what is usual. That is taken from Last-Modified, if the server
sends it: a page that had not changed for three years when it was fetched is not expected to change
within a month.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from bilingual_crawler.frontier.entry import MAX_URL, State
from bilingual_crawler.outcomes import OPT_OUTS, Outcome
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.store.journal_tables import JournaledRows
from bilingual_crawler.urls.fingerprint import url_fingerprint

SCHEMA = """
CREATE TABLE IF NOT EXISTS visits (
    fingerprint INTEGER PRIMARY KEY,
    depth INTEGER NOT NULL,
    first REAL NOT NULL,
    latest REAL NOT NULL,
    visits INTEGER NOT NULL,
    changes INTEGER NOT NULL,
    changed REAL NOT NULL,
    etag TEXT NOT NULL,
    modified TEXT NOT NULL,
    modified_at REAL NOT NULL,
    digest BLOB NOT NULL
);
"""
FETCHED = """
INSERT INTO visits VALUES (?, ?, ?, ?, 1, 0, 0, ?, ?, ?, ?)
ON CONFLICT (fingerprint) DO UPDATE SET
    changes = changes + (digest != excluded.digest),
    changed = CASE WHEN digest != excluded.digest THEN excluded.latest ELSE changed END,
    depth = excluded.depth, latest = excluded.latest, visits = visits + 1, etag = excluded.etag,
    modified = excluded.modified, modified_at = excluded.modified_at, digest = excluded.digest
"""
NOT_MODIFIED = "UPDATE visits SET latest = ?, visits = visits + 1 WHERE fingerprint = ?"
DUE = """
SELECT u.fingerprint, u.url, u.host, u.outcome, coalesce(v.depth, 0), coalesce(v.first, 0.0),
    coalesce(v.latest, 0.0), coalesce(v.visits, 1), coalesce(v.changes, 0), coalesce(v.etag, ''),
    coalesce(v.modified, ''), coalesce(v.modified_at, 0.0)
FROM urls u LEFT JOIN visits v USING (fingerprint)
WHERE u.state = ? AND coalesce(v.latest, 0.0) <= ?
"""
TYPES = (int, str, str, str, int, float, float, int, int, str, str, float)
NOT_PAGES = frozenset(OPT_OUTS) | {Outcome.REDIRECTED, Outcome.EXAMINED}
"""Outcomes of URLs that are not visited again: no pages of their own, or withheld."""
DAY = 86_400.0
USUAL_DAYS = 180
"""The mean time between two changes of a page of which nothing is known."""
MOST_VALIDATOR = 256
"""Characters of an ETag or a date that are kept."""
WORTH_PAIRED, WORTH_STORED, WORTH_OTHER = 1.0, 0.5, 0.25
"""What a change is worth: of half a pair, of another document, of a page that only gives links."""


@dataclass(frozen=True, slots=True)
class Version:
    """What a server says about the version of a page that it sends."""

    etag: str = ""
    modified: str = ""
    modified_at: float = 0.0
    """Last-Modified in seconds since 1970; 0 if unknown."""

    def headers(self) -> dict[str, str]:
        """Return the headers that ask for the page only if it has changed."""
        asked = {"If-None-Match": self.etag, "If-Modified-Since": self.modified}
        return {name: value for name, value in asked.items() if value}


def validator(text: str) -> str:
    """Return a header that may be sent back as it is; "" for one that may not."""
    is_safe = len(text) <= MOST_VALIDATOR and text.isascii() and text.isprintable()
    return text.strip() if is_safe else ""


class DuePage(NamedTuple):
    """A page that it is time to visit again."""

    fingerprint: int
    url: str
    host: str
    outcome: str
    depth: int
    first: float
    latest: float
    visits: int
    changes: int
    version: Version

    def chance(self, now: float) -> float:
        """Return the probability that the page has changed since it was last fetched."""
        age = self.latest - self.version.modified_at
        usual = max(age, DAY) if self.version.modified_at else USUAL_DAYS * DAY
        watched = self.latest - self.first
        rate = (self.changes + 0.5) / (watched + 0.5 * usual)
        return 1.0 - math.exp(-rate * max(now - self.latest, 0.0))

    def priority(self, now: float, *, is_paired: bool) -> float:
        """Return the place of the page among all that wait, from 0 to 1."""
        stored = WORTH_STORED if self.outcome == Outcome.STORED else WORTH_OTHER
        return self.chance(now) * (WORTH_PAIRED if is_paired else stored)


class Visits:
    """The visits to every page, in the journal only."""

    def __init__(self, journal: Journal) -> None:
        journal.define(SCHEMA)
        self._journal = journal
        self._rows = JournaledRows(journal)

    def fetched(
        self, fingerprint: int, *, at: float, depth: int, version: Version, digest: bytes
    ) -> None:
        """Record that a page was fetched."""
        told = version.etag, version.modified, version.modified_at
        self._rows.add(FETCHED, (fingerprint, depth, at, at, *told, digest))

    def not_modified(self, fingerprint: int, at: float) -> None:
        """Record that a page is as it was."""
        self._rows.add(NOT_MODIFIED, (at, fingerprint))

    def has_changed(self, fingerprint: int, digest: bytes) -> bool:
        """Return True if a page is known and had another text when it was last fetched."""
        found = self._journal.read(
            "SELECT digest FROM visits WHERE fingerprint = ?", (fingerprint,)
        )
        row = next(iter(found), None)
        return row is not None and row[0] != digest

    def due(self, before: float) -> Iterator[DuePage]:
        """Yield the pages that were last fetched before a time.

        Of a page that an earlier version of the crawler fetched, the time is unknown: it is due.
        The variants of a URL are not asked for alone.
        """
        for row in self._journal.read(DUE, (int(State.DONE), before)):
            if len(row) != len(TYPES) or not all(map(_has_type, row, TYPES)):
                continue
            *page, etag, modified, modified_at = row
            version = Version(validator(etag), validator(modified), modified_at)
            due = DuePage._make((*page, version))
            if due.outcome in NOT_PAGES or len(due.url) > MAX_URL:
                continue
            if due.fingerprint == url_fingerprint(due.url):
                yield due

    def since(self, urls: Iterator[str] | list[str], begin: float) -> dict[str, bool | None]:
        """Return for some pages whether they have changed since a time; None: not visited since."""
        found: dict[str, bool | None] = {}
        for url in urls:
            rows = self._journal.read(
                "SELECT latest, changed FROM visits WHERE fingerprint = ?", (url_fingerprint(url),)
            )
            latest, changed = next(iter(rows), (0.0, 0.0))
            found[url] = changed >= begin if latest >= begin else None
        return found


def _has_type(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and (not isinstance(value, float) or math.isfinite(value))
