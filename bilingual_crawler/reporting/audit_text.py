"""An audit on a terminal: a question with both texts side by side, and what the answers say."""

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from bilingual_crawler.reporting.terminal import DIM, GOOD, STRONG, WARN, plain

KEYS = {
    "p": "parallel",
    "b": "borderline",
    "w": "wrong",
    "s": "skip",
    "u": "undo",
    "q": "quit",
}
"""The keys of an audit and what they do."""


def question_view(
    texts: tuple[str, str], languages: tuple[str, str], urls: tuple[str, str], about: str
) -> RenderableType:
    """Return a sentence pair to be judged; the texts are untrusted and only shown."""
    table = Table(box=box.SIMPLE_HEAD, expand=True, header_style=DIM, padding=(0, 1))
    for language in languages:
        table.add_column(plain(language), ratio=1, overflow="fold")
    table.add_row(*(Text(plain(text), style=STRONG) for text in texts))
    table.add_row(*(Text(plain(url), style=DIM) for url in urls))
    return Panel(table, title=plain(about), title_align="left", border_style=DIM)


def keys_line() -> Text:
    """Return the keys that may be typed."""
    parts = [((f"[{key}]", f"{STRONG} {GOOD}"), f" {name}   ") for key, name in KEYS.items()]
    return Text.assemble(*(piece for part in parts for piece in part))


def progress_line(answers: int, planned: int, estimate: str, *, enough: bool) -> Text:
    """Return how far the audit is: answers, what they say, and the most that may be needed."""
    told = f"{answers:,} read of at most {planned:,}"
    if answers:
        told += f", parallel {estimate}"
    return Text(told, style=GOOD if enough else WARN)


def result_view(lines: list[str]) -> RenderableType:
    """Return the end of an audit."""
    return Group(*(Text(plain(line)) for line in lines))
