"""Sums over all runs of a crawl and its yield curve, saved with every checkpoint.

Scrapy's stats start at zero with every run. The counts of earlier runs are in the journal, so
that the sums belong to the same moment as the frontier and the files, even after a kill.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from bilingual_crawler.store.journal import Journal, Statement

SCHEMA = """
CREATE TABLE IF NOT EXISTS tally (name TEXT PRIMARY KEY, amount INTEGER NOT NULL) WITHOUT ROWID;
"""
OURS = "bilingual/"
URLS = "bilingual/urls/"
"""How URLs ended: not summed here because the frontier remembers it."""
SCRAPYS = frozenset(
    {
        "downloader/request_count",
        "downloader/response_count",
        "downloader/response_bytes",
        "retry/count",
    }
)
MILLISECONDS = "milliseconds"
RUNS = "runs"
MAX_POINTS = 100
YIELD = "yield"
"""The fact in the journal that holds the yield curve."""
BLOCKS = "▁▂▃▄▅▆▇█"

Point = tuple[int, int]
"""(pages, pairs), or (pages, documents) in a crawl of one language."""


class Tally:
    """The sums of all runs; `stats` returns Scrapy's stats of this run."""

    def __init__(self, journal: Journal, stats: Callable[[], Mapping[str, Any]]) -> None:
        self._stats = stats
        self._begun = time.monotonic()
        journal.define(SCHEMA)
        self._earlier: Counter[str] = Counter(dict(journal.read("SELECT name, amount FROM tally")))
        self._saved = dict(self._earlier)
        journal.attach(self)

    def totals(self) -> Counter[str]:
        """Return every sum up to now."""
        return self._earlier + self.this_run()

    def this_run(self) -> Counter[str]:
        """Return what this run has added."""
        run = Counter(dict(_amounts(self._stats())))
        run[RUNS] = 1
        run[MILLISECONDS] = round(1000 * (time.monotonic() - self._begun))
        return run

    def changes(self) -> Iterable[Statement]:
        """Return the sums that have grown since the last checkpoint."""
        totals = self.totals()
        rows = [row for row in totals.items() if self._saved.get(row[0]) != row[1]]
        self._saved = dict(totals)
        return [("INSERT OR REPLACE INTO tally VALUES (?, ?)", rows)]


def under(totals: Mapping[str, int], prefix: str) -> dict[str, int]:
    """Return the sums whose names start with `prefix`, without the prefix, largest first."""
    found = {
        name.removeprefix(prefix): amount
        for name, amount in totals.items()
        if name.startswith(prefix)
    }
    return largest_first(found)


def largest_first(amounts: Mapping[str, int]) -> dict[str, int]:
    """Return the amounts sorted for a reader."""
    return dict(sorted(amounts.items(), key=lambda item: (-item[1], item[0])))


def _amounts(stats: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, int]]:
    """Yield the numbers to sum; those in nested tables get the name of their table as prefix."""
    for key, value in stats.items():
        name = f"{prefix}{key}"
        if name not in SCRAPYS and (not name.startswith(OURS) or name.startswith(URLS)):
            continue
        if isinstance(value, dict):
            yield from _amounts(value, f"{name}/")
        elif isinstance(value, int):
            yield name, value


class YieldCurve:
    """The yield curve of a crawl: how many pairs (or documents) there were after how many pages.

    It has at most `MAX_POINTS` points, however long the crawl is: when there are more, every
    second point is dropped and the distance between them doubles.
    """

    def __init__(self, journal: Journal) -> None:
        self._step = 1
        self._points: list[Point] = []
        self._changed = False
        saved = journal.fact(YIELD)
        if saved:
            self._step, points = json.loads(saved)
            self._points = [(pages, pairs) for pages, pairs in points]
        journal.attach(self)

    def add(self, pages: int, pairs: int) -> None:
        """Add a point if it is due."""
        if pages % self._step:
            return
        self._points.append((pages, pairs))
        self._changed = True
        if len(self._points) >= MAX_POINTS:
            self._step *= 2
            self._points = [point for point in self._points if not point[0] % self._step]

    def up_to(self, pages: int, pairs: int) -> list[Point]:
        """Return the curve up to now."""
        earlier = [point for point in self._points if point[0] < pages]
        return [*earlier, (pages, pairs)] if pages else []

    def changes(self) -> Iterable[Statement]:
        """Return the points for the journal, if there are new ones."""
        if not self._changed:
            return []
        self._changed = False
        points = json.dumps([self._step, self._points], separators=(",", ":"))
        return [("INSERT OR REPLACE INTO facts VALUES (?, ?)", [(YIELD, points)])]


def sparkline(points: Sequence[Point], width: int) -> str:
    """Return a curve as a line of block characters; "" without pairs."""
    if not points or not points[-1][1]:
        return ""
    pages = points[-1][0]
    width = min(width, pages)
    highest = max(pairs for _, pairs in points)
    blocks = []
    at = value = 0
    for column in range(1, width + 1):
        while at < len(points) and points[at][0] * width <= column * pages:
            value = points[at][1]
            at += 1
        blocks.append(BLOCKS[(len(BLOCKS) - 1) * value // highest])
    return "".join(blocks)
