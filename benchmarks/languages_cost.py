"""Processor time per page of a crawl for two to ten languages: reading pages, and pairing them.

The pages of a recorded site come in the order of its WARC file. For each number of languages those
are taken that have the most pages. Only pages in these languages are counted, and everything that
happens to a page after it was fetched: it is read, kept, paired, and settled at the end.

    python -m benchmarks.languages_cost [SITE ...]
"""

import argparse
import time
from collections import Counter

from benchmarks.clusters import paired
from benchmarks.recorded_pairs import SHARED, documents
from bilingual_crawler.languages import parse_parallel

NUMBERS = (2, 3, 5, 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("sites", nargs="*", default=["omegat", "antennapod"])
    print("| site | languages | pages | pairs | read, ms | paired, ms | together, of two |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for site in parser.parse_args().sites:
        started = time.process_time()
        pages = list(documents(SHARED / "sites" / f"{site}.warc.gz"))
        reading = 1000 * (time.process_time() - started) / len(pages)
        counts = Counter(page.language for page in pages if page.language)
        of_two = 0.0
        for number in NUMBERS:
            codes = [code for code, _ in counts.most_common(number)]
            some = [page for page in pages if page.language in codes]
            found = paired(some, parse_parallel(",".join(codes)))
            each = 1000 * found.seconds / len(some)
            of_two = of_two or reading + each
            pairs = sum(map(len, found.pairs.values()))
            print(
                f"| {site} | {len(codes)} | {len(some):,} | {pairs:,} | {reading:.1f}"
                f" | {each:.1f} | {(reading + each) / of_two:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
