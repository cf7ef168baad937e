"""A bar on the terminal while inputs are read: bytes, pages, pairs."""

import time
from collections.abc import Iterable
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

REFRESH = 0.1


class ReadingBar:
    """Shows how far reading is; on anything but a terminal it shows nothing."""

    def __init__(self, console: Console, sizes: Iterable[int | None]) -> None:
        known = list(sizes)
        total = None if None in known else sum(each or 0 for each in known)
        self._bar = Progress(
            BarColumn(),
            DownloadColumn(),
            TextColumn("{task.fields[pages]:,} pages  {task.fields[pairs]:,} pairs"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
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
        """So many more bytes were read."""
        self._bytes += count
        self._show()

    def found(self, pages: int, pairs: int) -> None:
        """So many pages and pairs there are by now."""
        self._pages, self._pairs = pages, pairs
        self._show()

    def _show(self) -> None:
        now = time.monotonic()
        if now - self._shown >= REFRESH:
            self._shown = now
            self._bar.update(
                self._task, completed=self._bytes, pages=self._pages, pairs=self._pairs
            )
