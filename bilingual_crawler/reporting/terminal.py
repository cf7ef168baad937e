"""Untrusted text on a terminal: shown, never interpreted."""

import math
from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

DIM, STRONG, GOOD, WARN = "dim", "bold", "green", "yellow"
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def plain(text: str) -> str:
    """Return text without what a terminal would interpret: escapes, line ends, bidi marks."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(each if each.isprintable() else _REPLACEMENT for each in text)


def shown(text: str, style: str = "") -> Text:
    """Return text for a display, without markup, that is cut rather than wrapped."""
    return Text(plain(text), style=style, no_wrap=True, overflow="ellipsis")


def score_text(score: float) -> str:
    """Return a priority for a person; seeds come before every number."""
    return "seed" if math.isinf(score) else f"{score:.2f}"


def duration(seconds: float) -> str:
    """Return seconds as on a clock: 1:02:03 or 2:03."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def grid(rows: Iterable[tuple[Text, ...]], *, right: frozenset[int] = frozenset()) -> Table:
    """Return a table without lines; the columns in `right` are right-aligned."""
    table = Table.grid(padding=(0, 2))
    rows = list(rows)
    for number in range(max(map(len, rows), default=0)):
        table.add_column(justify="right" if number in right else "left")
    for row in rows:
        table.add_row(*row)
    return table
