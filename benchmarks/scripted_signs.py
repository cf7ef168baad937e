"""How often pages of recorded, ordinary sites are taken for pages that need JavaScript.

    BILINGUAL_SHARED=folder-with-sites python -m benchmarks.scripted_signs

The folder holds `sites/NAME.warc.gz` and `sites/NAME.gold.tsv`. Each page, 400 of a site at
most, is read for the two language pairs that most of the gold pairs are in. These sites were
recorded without a browser and their pages have their text, so every URL that is printed wants to
be looked at: its language switch is a script, or it is a false alarm.
"""

import sys
from collections import Counter
from itertools import islice
from pathlib import Path

from benchmarks.recorded_pairs import SHARED
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.lab.replay.recording import Recording

MOST_PAGES = 400
MOST_PAIRS = 2


def pairs_of(path: Path) -> list[tuple[str, str]]:
    """The language pairs that most gold pairs of a site are in."""
    rows = [line.rstrip("\n").split("\t") for line in path.open(encoding="utf-8")]
    counts = Counter((min(row[2:4]), max(row[2:4])) for row in rows)
    return [pair for pair, _ in counts.most_common(MOST_PAIRS)]


def count(path: Path) -> Counter[str]:
    """The signs of one site; the pages that have some are printed."""
    recording = Recording(path)
    pairs = pairs_of(path.with_name(path.name.replace(".warc.gz", ".gold.tsv")))
    counts: Counter[str] = Counter()
    for url in islice(recording.pages, MOST_PAGES):
        answer = recording.answer(url)
        if answer is None:
            continue
        kind = answer.header("Content-Type")
        for pair in pairs:
            found = build_document(url, answer.body, content_type=kind, hints=pair).needs_scripts
            counts.update({"readings": 1, found or "none": 1})
            if found:
                print(f"{found}: {url} ({'-'.join(pair)})")
    return counts


def main() -> None:
    total: Counter[str] = Counter()
    rows = ["| site | readings | text | switch |", "|---|---:|---:|---:|"]
    for path in sorted((SHARED / "sites").glob("*.warc.gz")):
        counts = count(path)
        total += counts
        name = path.name.removesuffix(".warc.gz")
        rows.append(f"| {name} | {counts['readings']} | {counts['text']} | {counts['switch']} |")
    if len(rows) == 2:
        sys.exit(f"There are no recorded sites in {SHARED / 'sites'}.")
    rows.append(f"| all | {total['readings']} | {total['text']} | {total['switch']} |")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
