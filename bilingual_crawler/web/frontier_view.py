"""What the journal of a crawl says about its URLs, seen from outside while it is written."""

import contextlib
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.journal_view import amounts, best
from bilingual_crawler.outcomes import Outcome
from bilingual_crawler.reporting import yields
from bilingual_crawler.store.journal import open_read_only
from bilingual_crawler.urls.hosts import site_of

BEST_SHOWN = 15


class WaitingUrl(NamedTuple):
    """A URL that is to be fetched; seeds have no score."""

    url: str
    score: float | None


@dataclass(slots=True)
class SiteUrls:
    """How the URLs of a site stand."""

    pages: int = 0
    failed: int = 0
    waiting: int = 0


@dataclass(slots=True)
class FrontierOverview:
    """All URLs of a crawl, counted."""

    sites: dict[str, SiteUrls] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    waiting: int = 0
    best: list[WaitingUrl] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    """Pages whose lines are still in the files, though the crawl has found better ones."""


class LiveFigures(NamedTuple):
    """What is cheap to ask at any moment: sums over all runs, and the yield curve."""

    tally: Mapping[str, int]
    curve: list[yields.Point]


def frontier_view(journal: Path) -> FrontierOverview:
    """Count the URLs of a crawl; it looks at every one, a second or so a million."""
    view = FrontierOverview()
    sites: defaultdict[str, SiteUrls] = defaultdict(SiteUrls)
    with _quiet(), open_read_only(journal) as connection:
        for host, state, outcome, number in amounts(connection):
            site = sites[site_of(host)]
            if outcome is not None:
                view.outcomes[outcome] += number
            if state in {State.QUEUED, State.LEASED}:
                site.waiting += number
                view.waiting += number
            elif state == State.FAILED:
                site.failed += number
            elif outcome != Outcome.REDIRECTED:
                site.pages += number
        view.best = [WaitingUrl(str(each.url), each.score) for each in best(connection, BEST_SHOWN)]
    with _quiet(), open_read_only(journal) as connection:  # there are pages without URLs: Redis
        view.given_up = [
            url for (url,) in connection.execute("SELECT url FROM pages WHERE written AND NOT kept")
        ]
    view.sites = dict(sites)
    return view


def live_figures(journal: Path) -> LiveFigures:
    """The sums and the curve of the last checkpoint; nothing of a journal that is not there."""
    tally: dict[str, int] = {}
    points: list[Any] = []
    with _quiet(), open_read_only(journal) as connection:
        tally = dict(connection.execute("SELECT name, amount FROM tally"))
        saved = connection.execute(
            "SELECT value FROM facts WHERE name = ?", (yields.FACT,)
        ).fetchone()
        points = json.loads(saved[0])[1] if saved else []
    return LiveFigures(tally, [(pages, pairs) for pages, pairs in points])


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """A journal that is missing, just being made or held up has nothing to say now."""
    with contextlib.suppress(sqlite3.DatabaseError):
        yield
