"""The progress of a crawl: its figures, its speed, and both in one line."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from bilingual_crawler.reporting.counts import Yield
from bilingual_crawler.reporting.tally import Point
from bilingual_crawler.reporting.terminal import plain, score_text

RECENT_SECONDS = 30.0
SHARE_OF_TIME = 0.01

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress(Yield):
    """What is shown while a crawl runs."""

    pages_a_second: float = 0.0
    waiting: int = 0
    other_pages: int = 0
    """Pages in other languages."""
    curve: Sequence[Point] = ()
    """The yield curve."""
    best: tuple[str, float] | None = None
    """The best waiting URL and its score."""
    last_pair: tuple[str, str] | None = None
    seconds: float = 0.0

    @property
    def languages(self) -> dict[str, int]:
        """Documents by language; the wanted languages come first and are always there."""
        wanted = {code: self.documents.get(code, 0) for code in self.langs.codes}
        return wanted | {code: n for code, n in self.documents.items() if code not in wanted}


def progress_line(progress: Progress) -> str:
    """Return the progress as one line for a log."""
    languages = ", ".join(f"{code} {number}" for code, number in progress.languages.items())
    line = f"{progress.pages} pages ({progress.pages_a_second:.1f}/s), {progress.waiting} waiting"
    if progress.sites is not None:
        line += f", {progress.sites}"
    if progress.harvests:
        line += (
            f", {languages}, {progress.harvested} {progress.harvest}"
            f" ({progress.per_100_pages:.1f} per 100 pages)"
        )
    if progress.best is None:
        return line
    url, score = progress.best
    return f"{line}, best waiting {plain(url)} ({score_text(score)})"


class Pace:
    """Pages per second over the last half minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._past: deque[tuple[float, int]] = deque([(clock(), 0)])

    def at(self, pages: int) -> float:
        """Return the current speed, given the number of pages so far."""
        now = self._clock()
        past = self._past
        while len(past) > 1 and past[1][0] <= now - RECENT_SECONDS:
            past.popleft()
        then, before = past[0]
        past.append((now, pages))
        return (pages - before) / (now - then) if now > then else 0.0


class Throttled(Generic[T]):
    """A value that is expensive to compute, refreshed only now and then.

    Some figures are expensive in a large crawl. They are computed again after `seconds` at the
    earliest, and so rarely that they take a hundredth of the time.
    """

    def __init__(
        self, find: Callable[[], T], seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._find = find
        self._seconds = seconds
        self._clock = clock
        self._next = float("-inf")
        self._value: T

    def __call__(self) -> T:
        """Return the value, computed again if it is due."""
        begin = self._clock()
        if begin >= self._next:
            self._value = self._find()
            end = self._clock()
            self._next = begin + max(self._seconds, (end - begin) / SHARE_OF_TIME)
        return self._value
