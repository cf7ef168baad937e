"""The progress of a crawl: its figures, its speed, both in one line, and the live display.

The display is a few lines on the terminal that are redrawn four times per second. Scrapy's log
would disrupt it. So the log goes to a file, and only what a user must see (warnings, and the
reaction to Ctrl-C) is printed above the display.
"""

import atexit
import logging
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TextIO, TypeVar

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from bilingual_crawler.reporting.counts import Yield
from bilingual_crawler.reporting.forecast import CrawlForecast
from bilingual_crawler.reporting.summary import Ending, summary
from bilingual_crawler.reporting.tally import Point, sparkline
from bilingual_crawler.reporting.terminal import (
    DIM,
    GOOD,
    STRONG,
    WARN,
    duration,
    grid,
    plain,
    score_text,
    shown,
)

RECENT_SECONDS = 30.0
SHARE_OF_TIME = 0.01
NO_PACE, LEAST_PACE = "0.0/s", 0.05

T = TypeVar("T")

BAR_WIDTH = 24
SIGNAL_LOGGER = "scrapy.crawler"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress(Yield):
    """What is shown while a crawl runs."""

    pages_a_second: float = 0.0
    answers_a_second: float = 0.0
    """All responses per second, redirects and errors too."""
    waiting: int = 0
    other_pages: int = 0
    """Pages in other languages."""
    curve: Sequence[Point] = ()
    """The yield curve."""
    best: tuple[str, float] | None = None
    """The best waiting URL and its score."""
    last_pair: tuple[str, str] | None = None
    forecast: CrawlForecast | None = None
    """What the crawl will give; None in a crawl that looks for no pairs."""
    seconds: float = 0.0

    @property
    def pace(self) -> str:
        """The speed; without pages it says what comes instead, so that it does not look hung."""
        pages = f"{self.pages_a_second:.1f}/s"
        if pages == NO_PACE and self.answers_a_second >= LEAST_PACE:
            return f"{pages}, {self.answers_a_second:.1f} redirects and errors/s"
        return pages

    @property
    def languages(self) -> dict[str, int]:
        """Documents by language; the wanted languages come first and are always there."""
        wanted = {code: self.documents.get(code, 0) for code in self.langs.codes}
        return wanted | {code: n for code, n in self.documents.items() if code not in wanted}


def progress_line(progress: Progress) -> str:
    """Return the progress as one line for a log."""
    languages = ", ".join(f"{code} {number}" for code, number in progress.languages.items())
    line = f"{progress.pages} pages ({progress.pace}), {progress.waiting} waiting"
    if progress.sites is not None:
        line += f", {progress.sites}"
    if progress.harvests:
        line += (
            f", {languages}, {progress.harvested} {progress.harvest}"
            f" ({progress.per_100_pages:.1f} per 100 pages)"
        )
    if progress.forecast is not None and progress.forecast.total is not None:
        line += f", forecast {progress.forecast}"
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


class LiveDisplay:
    """The display on a terminal, from `start` to `stop`."""

    seconds = 0.25
    active = False
    """Whether a crawl of this process has the terminal."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.console = Console(file=stream, stderr=stream is None, highlight=False)
        self._handler = ConsoleHandler(self.console)
        self._live = Live(
            console=self.console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=sys.stdout.isatty(),
            redirect_stderr=stream is None,
            vertical_overflow="crop",
        )
        LiveDisplay.active = True
        logging.root.addHandler(self._handler)

    def start(self) -> None:
        """Take the terminal; the cursor is restored however the process ends."""
        atexit.register(self.stop)
        self._handler.setLevel(logging.INFO)
        self._live.start()

    def update(self, progress: Progress) -> None:
        """Redraw the display."""
        self._live.update(render(progress), refresh=True)

    def stop(self) -> None:
        """Remove the display and release the terminal."""
        atexit.unregister(self.stop)
        self._live.stop()

    def end(self, ending: Ending) -> None:
        """Print the summary in place of the display."""
        logging.root.removeHandler(self._handler)
        LiveDisplay.active = False
        self.console.print(summary(ending), crop=False)


class ConsoleHandler(logging.Handler):
    """Prints urgent log records above the display: warnings, and the reaction to Ctrl-C."""

    def __init__(self, console: Console) -> None:
        super().__init__(logging.WARNING)
        self._console = console

    def filter(self, record: logging.LogRecord) -> bool:
        """Let warnings pass, and Scrapy's messages about signals."""
        urgent = record.levelno >= logging.WARNING or record.name == SIGNAL_LOGGER
        return urgent and bool(super().filter(record))

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record as plain text; tracebacks are for the log file."""
        try:
            message = f"{record.levelname}: {record.getMessage()}"
            if record.exc_info:
                message += " (the log has the details)"
            lines = (plain(line) for line in message.split("\n"))
            style = WARN if record.levelno >= logging.WARNING else ""
            self._console.print(Text("\n".join(lines), style=style), soft_wrap=True)
        except Exception:  # noqa: BLE001 - as every handler of the standard library does
            self.handleError(record)


def render(progress: Progress) -> RenderableType:
    """Return the display; its last line is left free for what the user types."""
    languages = [_languages(progress)] if progress.harvests else []
    return Group(_headline(progress), *languages, _urls(progress), Text())


def _headline(progress: Progress) -> Table:
    parts: list[str | tuple[str, str]] = [
        (f"{progress.pages:,}", STRONG),
        " pages ",
        (progress.pace, DIM),
        "   ",
        (f"{progress.waiting:,}", STRONG),
        " waiting   ",
    ]
    if progress.sites is not None:
        parts += [(str(progress.sites), f"{STRONG} {GOOD}"), "   "]
    if progress.harvests:
        parts += [
            (f"{progress.harvested:,}", f"{STRONG} {GOOD}"),
            f" {progress.harvest} ",
            (f"{progress.per_100_pages:.1f} per 100 pages", DIM),
        ]
    row = Table.grid(padding=(0, 2), expand=True)
    row.add_column(ratio=1)
    row.add_column(justify="right")
    figures = Text.assemble(*parts, no_wrap=True, overflow="ellipsis")
    row.add_row(shown(progress.langs.names, STRONG), shown(duration(progress.seconds)))
    row.add_row(figures)
    return row


def _languages(progress: Progress) -> Table:
    numbers = progress.languages
    if progress.other_pages:
        numbers["other"] = progress.other_pages
    total = max(sum(numbers.values()), 1)
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    table.add_column(justify="right")
    for name, number in numbers.items():
        style = GOOD if name in progress.langs else DIM
        bar = ProgressBar(
            total=total, completed=number, width=BAR_WIDTH, complete_style=style,
            finished_style=style,
        )  # fmt: skip
        table.add_row(shown(name), shown(f"{number:,}"), bar, shown(f"{number / total:.0%}", DIM))
    return table


def _urls(progress: Progress) -> Table:
    rows = []
    if line := sparkline(progress.curve, BAR_WIDTH):
        rows.append((shown("yield", DIM), shown(f"{line}  {progress.harvest} over pages", GOOD)))
    if progress.forecast is not None:
        rows.append((shown("forecast", DIM), shown(str(progress.forecast))))
    if progress.best is not None:
        url, score = progress.best
        rows.append((shown("next", DIM), shown(f"{score_text(score)}  {url}")))
    for label, url in zip(("last pair", ""), progress.last_pair or (), strict=False):
        rows.append((shown(label, DIM), shown(url)))
    return grid(rows)
