"""What `scrapy align` shows: a bar while it works, and counts.

python -m bilingual_crawler.reporting.alignment CRAWL_DIR

aligns a folder in a process of its own, at a low priority: what a crawl starts.
"""

import json
import os
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from bilingual_crawler.alignment.two_passes import AlignmentCounts, align_folder
from bilingual_crawler.pairing.embeddings import load_encoder
from bilingual_crawler.reporting.terminal import plain
from bilingual_crawler.store.sentence_pair import SENTENCES

NICENESS = 15
OFTEN = 0.1
"""Seconds between two looks at the bar."""


class _Bar:
    """One bar, begun anew for each stage."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=None)
        self._stage = ""
        self._shown = 0.0

    def __call__(self, stage: str, done: int, size: int) -> None:
        now = time.monotonic()
        if stage != self._stage:
            self._stage = stage
            self._progress.reset(self._task, description=stage, total=size)
        elif now - self._shown < OFTEN:
            return
        self._shown = now
        self._progress.update(self._task, completed=done)


def align_with_bar(folder: Path, out: Path | None, embeddings: str, *, as_json: bool) -> None:
    """Align a folder; counts go to standard output, the bar to standard error."""
    encoder = load_encoder(embeddings) if embeddings else None
    file = out or folder / SENTENCES
    began = time.monotonic()
    columns = (TextColumn("{task.description:12}"), BarColumn(), TaskProgressColumn())
    console = Console(stderr=True)
    with Progress(
        *columns,
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        counts = align_folder(folder, file, encoder, _Bar(progress))
    seconds = time.monotonic() - began
    if as_json:
        told = counts.to_dict() | {"seconds": round(seconds, 2), "file": str(file)}
        sys.stdout.write(json.dumps(told, ensure_ascii=False) + "\n")
    else:
        print_counts(counts, file, seconds)


def print_counts(counts: AlignmentCounts, file: Path, seconds: float) -> None:
    """The counts as people read them."""
    console = Console(highlight=False, markup=False)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right")
    table.add_row("document pairs", f"{counts.document_pairs:,}")
    table.add_row("sentences", f"{counts.sentences1:,} + {counts.sentences2:,}")
    table.add_row("sentence pairs", f"{counts.sentence_pairs:,}")
    table.add_row("kept", f"{counts.kept:,}")
    for rule, number in counts.dropped.most_common():
        table.add_row(f"dropped: {rule}", f"{number:,}")
    console.print(table)
    if counts.unreadable_lines:
        console.print(f"{counts.unreadable_lines:,} lines of the crawl could not be read.")
    if counts.too_large_documents:
        console.print(f"{counts.too_large_documents:,} documents are too large, and left out.")
    if counts.is_unfinished:
        console.print("The crawl's files end in the middle of a line: is it still running?")
    sentences = counts.sentences1 + counts.sentences2
    rate = f"{sentences / max(seconds, 1e-9):,.0f} sentences a second"
    console.print(plain(f"{file}: {seconds:.1f} s, {rate}"), soft_wrap=True)


def main() -> None:
    """Align the folder that is named, and print the counts as JSON."""
    os.nice(NICENESS)
    align_with_bar(Path(sys.argv[1]), None, "", as_json=True)


if __name__ == "__main__":
    main()
