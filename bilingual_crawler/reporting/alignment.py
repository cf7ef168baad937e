"""What `scrapy align` shows: a bar while it works, and counts.

`python -m bilingual_crawler.reporting.alignment CRAWL_DIR` aligns a folder in a process of its
own, at a low priority; a crawl starts it at its end.
"""

import json
import os
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bilingual_crawler.alignment.language_models import LanguageModelFiles
from bilingual_crawler.alignment.two_passes import AlignmentCounts, align_folder
from bilingual_crawler.languages import ParallelLanguages
from bilingual_crawler.pairing.embeddings import load_encoder
from bilingual_crawler.reporting.bars import stage_bar
from bilingual_crawler.reporting.terminal import plain
from bilingual_crawler.store.sentence_pair import SENTENCES

NICENESS = 15


def align_with_bar(
    folder: Path,
    out: Path | None,
    embeddings: str,
    *,
    as_json: bool,
    langs: ParallelLanguages | None = None,
    models: LanguageModelFiles | None = None,
) -> None:
    """Align a folder; print counts to standard output and a bar to standard error."""
    encoder = load_encoder(embeddings) if embeddings else None
    file = out or folder / SENTENCES
    began = time.monotonic()
    with stage_bar() as watch:
        counts = align_folder(folder, file, encoder, watch, langs, models=models)
    seconds = time.monotonic() - began
    if as_json:
        fields = counts.to_dict() | {"seconds": round(seconds, 2), "file": str(file)}
        sys.stdout.write(json.dumps(fields, ensure_ascii=False) + "\n")
    else:
        print_counts(counts, file, seconds)


def print_counts(counts: AlignmentCounts, file: Path, seconds: float) -> None:
    """Print the counts for a person."""
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
        console.print(
            f"{counts.too_large_documents:,} documents were left out: they are too large."
        )
    if counts.is_unfinished:
        console.print("The crawl's files end in the middle of a line: is it still running?")
    sentences = counts.sentences1 + counts.sentences2
    rate = f"{sentences / max(seconds, 1e-9):,.0f} sentences per second"
    console.print(plain(f"{file}: {seconds:.1f} s, {rate}"), soft_wrap=True)


def main() -> None:
    """Align the folder in the first argument, and print the counts as JSON."""
    os.nice(NICENESS)
    align_with_bar(Path(sys.argv[1]), None, "", as_json=True)


if __name__ == "__main__":
    main()
