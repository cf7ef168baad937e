"""What `scrapy export` and `scrapy import` have in common: a bar, and an account at the end."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

if TYPE_CHECKING:
    from bilingual_crawler.export.account import Account


def one_argument(args: list[str], what: str) -> str:
    """The one argument."""
    if len(args) != 1:
        raise UsageError(f"name {what}")
    return args[0]


@contextmanager
def progress_bar(words: str) -> Iterator[Callable[[float], None]]:
    """A bar on a terminal, to be told the share that is done."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (TextColumn(words), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(words, total=1.0)
        yield lambda share: bar.update(task, completed=share)


def print_account(account: "Account", target: str) -> None:
    """What was written, what was left out and why, what was changed."""
    from bilingual_crawler.reporting.terminal import plain

    written = ", ".join(f"{count:,} {what}" for what, count in account.written.items())
    lines = [f"{written or 'nothing'} written to {target}"]
    lines += [f"  {count:,} left out: {why}" for why, count in account.left_out.most_common()]
    lines += [f"  {count:,} {what}" for what, count in account.changed.most_common()]
    if damaged := account.damage.lines:
        skipped = "line" if damaged == 1 else "lines"
        lines.append(f"  {damaged:,} damaged {skipped} skipped, first {account.damage.first}")
    sys.stdout.write("".join(f"{plain(line)}\n" for line in lines))
