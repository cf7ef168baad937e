"""How often pages of recorded, ordinary sites are taken for pages that need JavaScript.

    BILINGUAL_SHARED=folder-with-sites python -m benchmarks.scripted_signs

The folder holds `sites/NAME.warc.gz` and `sites/NAME.gold.tsv`. Up to 400 pages per site are read,
for the two most frequent language pairs of the gold list. These sites were recorded without a
browser and their pages have their text, so look at every URL that is printed: its language switch
is a script, or it is a false alarm.
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
    """Return the most frequent language pairs of a site's gold list."""
    rows = [line.rstrip("\n").split("\t") for line in path.open(encoding="utf-8")]
    counts = Counter((min(row[2:4]), max(row[2:4])) for row in rows)
    return [pair for pair, _ in counts.most_common(MOST_PAIRS)]


def count(path: Path) -> Counter[str]:
    """Count the signs of one site, and print the pages that have some."""
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
