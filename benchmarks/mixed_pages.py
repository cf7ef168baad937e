"""Which pages of recorded sites are split into two documents, and which are marked.

    BILINGUAL_SHARED=folder-with-sites python -m benchmarks.mixed_pages

The folder holds `sites/NAME.warc.gz`. A page is tried for each two of the languages that it has
a share of. Nearly all pages of these sites are in one language or half translated, so every URL
that is printed wants to be looked at: it is a page in two languages, or a mistake.
"""

import os
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path

from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.mixed import split_mixed
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.replay.recording import Recording

SHARED = Path(os.environ.get("BILINGUAL_SHARED", Path(__file__).parents[2] / "shared"))
HEADERS = ("site", "pages", "in two languages", "split", "machine-translated", "with a service")


def count(path: Path) -> Counter[str]:
    """The counts of one site; the pages that are split are printed."""
    recording = Recording(path)
    counts: Counter[str] = Counter()
    for url in recording.pages:
        answer = recording.answer(url)
        if answer is None:
            continue
        document = build_document(url, answer.body, content_type=answer.header("Content-Type"))
        pairs = [
            LanguagePair.parse("-".join(codes))
            for codes in combinations([code for code, _ in document.language_shares], 2)
        ]
        split = [str(pair) for pair in pairs if split_mixed(document, pair) is not None]
        labels = {each.language for each in document.paragraphs} - {None}
        counts.update(
            {
                "pages": 1,
                "in two languages": len(labels) > 1,
                "split": bool(split),
                "machine-translated": bool(document.machine_translated),
                "with a service": bool(document.translation_service),
            }
        )
        if split:
            print(f"split: {url} ({', '.join(split)})")
    return counts


def main() -> None:
    """Print a row a site and their sum."""
    paths = sorted((SHARED / "sites").glob("*.warc.gz"))
    if not paths:
        sys.exit(f"There are no recorded sites in {SHARED / 'sites'}: set BILINGUAL_SHARED.")
    total: Counter[str] = Counter()
    rows = []
    for path in paths:
        counts = count(path)
        total += counts
        rows.append((path.name.partition(".")[0], counts))
    for name, counts in [(HEADERS[0], None), *rows, ("all", total)]:
        cells = HEADERS[1:] if counts is None else [str(counts[each]) for each in HEADERS[1:]]
        print(f"{name:20}", *(f"{cell:>18}" for cell in cells))


if __name__ == "__main__":
    main()
