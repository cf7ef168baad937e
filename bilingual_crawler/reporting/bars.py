"""Progress bars on standard error; nothing is shown where that is not a terminal."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

REFRESH_SECONDS = 0.1


def _bar(console: Console, *columns: ProgressColumn) -> Progress:
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


@contextmanager
def share_bar(label: str) -> Iterator[Callable[[float], None]]:
    """Show a bar; yield a function that takes the share that is done."""
    columns = (TextColumn(label), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with _bar(Console(stderr=True), *columns) as bar:
        task = bar.add_task(label, total=1.0)
        yield lambda share: bar.update(task, completed=share)


@contextmanager
def stage_bar() -> Iterator[Callable[[str, int, int], None]]:
    """Show one bar for several stages; yield a function that takes stage, done and total.

    A total of 0 is unknown: the count is shown in place of the percentage.
    """
    columns = (
        TextColumn("{task.description:12}"),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
    )
    with _bar(Console(stderr=True), *columns) as bar:
        task = bar.add_task("", total=None, count="")
        current, shown = "", 0.0

        def watch(stage: str, done: int, total: int) -> None:
            nonlocal current, shown
            now = time.monotonic()
            if stage == current and now < shown + REFRESH_SECONDS:
                return
            current, shown = stage, now
            count = f"{done / total:.0%}" if total else f"{done:,}"
            bar.update(task, description=stage, completed=done, total=total or None, count=count)

        yield watch


class ReadingBar:
    """Shows how far reading is: bytes, pages, pairs."""

    def __init__(self, console: Console, sizes: Iterable[int | None]) -> None:
        known = list(sizes)
        total = None if None in known else sum(each or 0 for each in known)
        self._bar = _bar(
            console,
            BarColumn(),
            DownloadColumn(),
            TextColumn("{task.fields[pages]:,} pages  {task.fields[pairs]:,} pairs"),
            TimeElapsedColumn(),
        )
        self._task = self._bar.add_task("", total=total, pages=0, pairs=0)
        self._bytes = self._pages = self._pairs = 0
        self._shown = 0.0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def read(self, count: int) -> None:
        """Add the number of bytes that were read."""
        self._bytes += count
        self._show()

    def found(self, pages: int, pairs: int) -> None:
        """Set the number of pages and pairs."""
        self._pages, self._pairs = pages, pairs
        self._show()

    def _show(self) -> None:
        now = time.monotonic()
        if now - self._shown >= REFRESH_SECONDS:
            self._shown = now
            self._bar.update(
                self._task, completed=self._bytes, pages=self._pages, pairs=self._pairs
            )


class TrainingBar:
    """Shows loss, dev macro F1 and the remaining time."""

    def __init__(self, console: Console) -> None:
        self._bar = Progress(
            TextColumn("epoch {task.fields[epoch]}"),
            BarColumn(),
            TextColumn("loss {task.fields[loss]:.3f}  dev macro F1 {task.fields[score]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]} left"),
            console=console,
        )
        self._task = self._bar.add_task("", epoch="1", loss=0.0, score="-", left="?")
        self._start = time.monotonic()
        self._first: int | None = None

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, progress: Any, schedule: Any) -> None:
        """Update the bar; a resumed run is timed from where it resumed."""
        if self._first is None:
            self._first = progress.done - 1
        total = max(1, progress.steps) * schedule.epochs
        done = max(1, progress.done - self._first)
        left = (time.monotonic() - self._start) / done * max(0, total - progress.done)
        self._bar.update(
            self._task,
            total=total,
            completed=progress.done,
            epoch=f"{min(progress.epoch + 1, schedule.epochs)}/{schedule.epochs}",
            loss=progress.loss,
            score="-" if progress.best < 0 else f"{progress.score:.4f} (best {progress.best:.4f})",
            left=f"at most {left / 60:.0f} min",
        )
