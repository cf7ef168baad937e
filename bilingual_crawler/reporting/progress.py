"""How a crawl is getting on: the figures, how fast it goes now, and one line of it."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from bilingual_crawler.reporting.counts import Yield
from bilingual_crawler.reporting.terminal import plain, score_text
from bilingual_crawler.reporting.yields import Point

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
    """How much was harvested after how many pages."""
    best: tuple[str, float] | None = None
    """The best waiting URL and its score."""
    last_pair: tuple[str, str] | None = None
    seconds: float = 0.0

    @property
    def languages(self) -> dict[str, int]:
        """Documents by language, those that are wanted first and always there."""
        wanted = {code: self.documents.get(code, 0) for code in self.langs.codes}
        return wanted | {code: n for code, n in self.documents.items() if code not in wanted}


def progress_line(progress: Progress) -> str:
    """The progress in one line of a log."""
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
    """How many pages a second, of late."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._past: deque[tuple[float, int]] = deque([(clock(), 0)])

    def at(self, pages: int) -> float:
        """The mean over the last half minute, now that there are so many pages."""
        now = self._clock()
        past = self._past
        while len(past) > 1 and past[1][0] <= now - RECENT_SECONDS:
            past.popleft()
        then, before = past[0]
        past.append((now, pages))
        return (pages - before) / (now - then) if now > then else 0.0


class Throttled(Generic[T]):
    """Something that costs time to find out, asked for only now and then.

    A large crawl makes some figures costly. They are found anew after `seconds` at the
    earliest, and so seldom that they take a hundredth of the time.
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
        """The value, at most as old as promised."""
        begin = self._clock()
        if begin >= self._next:
            self._value = self._find()
            end = self._clock()
            self._next = begin + max(self._seconds, (end - begin) / SHARE_OF_TIME)
        return self._value
