"""The yield curve of a crawl: how many pairs (or documents) there were after how many pages.

At most `MOST_POINTS` points are kept, whatever the length of the crawl: when there are more,
every second one goes and the distance between them doubles. They are saved with every
checkpoint, so that the curve of a crawl that was stopped goes on.
"""

import json
from collections.abc import Iterable, Sequence

from bilingual_crawler.store.journal import Journal, Statement

MOST_POINTS = 100
FACT = "yield"
BLOCKS = "▁▂▃▄▅▆▇█"

Point = tuple[int, int]
"""(pages, pairs), or (pages, documents) in a crawl of one language."""


class YieldCurve:
    """Points of the curve, evenly spaced; `changes` hands them to the journal."""

    def __init__(self, journal: Journal) -> None:
        self._step = 1
        self._points: list[Point] = []
        self._changed = False
        saved = journal.fact(FACT)
        if saved:
            self._step, points = json.loads(saved)
            self._points = [(pages, pairs) for pages, pairs in points]
        journal.attach(self)

    def add(self, pages: int, pairs: int) -> None:
        """Tell how many pairs there are, now that there are so many pages."""
        if pages % self._step:
            return
        self._points.append((pages, pairs))
        self._changed = True
        if len(self._points) >= MOST_POINTS:
            self._step *= 2
            self._points = [point for point in self._points if not point[0] % self._step]

    def up_to(self, pages: int, pairs: int) -> list[Point]:
        """The curve with its end, as things stand."""
        earlier = [point for point in self._points if point[0] < pages]
        return [*earlier, (pages, pairs)] if pages else []

    def changes(self) -> Iterable[Statement]:
        """The points, if there are new ones."""
        if not self._changed:
            return []
        self._changed = False
        points = json.dumps([self._step, self._points], separators=(",", ":"))
        return [("INSERT OR REPLACE INTO facts VALUES (?, ?)", [(FACT, points)])]


def sparkline(points: Sequence[Point], width: int) -> str:
    """A curve as a line of blocks, from the first page to the last; "" without pairs."""
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
