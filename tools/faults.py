"""Crawl with four workers while one after another is killed, twenty times: `make faults`.

The workers, Redis and the sites are real processes. Redis is killed once and restarted from its
append-only file, and once it does not answer for ten seconds. At the end every page must be stored,
none twice, and no site may have logged requests in too quick succession. The table is the one in
docs/experiments/scaling.md; the exit status is 1 if a promise was broken.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.support.fleet import Faults, broken_promises, crawl_with_faults

TOLD = {
    "pages": "pages that can be reached",
    "lost": "of them not stored after the merge",
    "stored_twice": "stored twice after the merge",
    "kills": "kills of workers",
    "in_flight_at_kills": "URLs in flight at these moments",
    "revived": "workers that came while Redis was away, said so and were started again",
    "fetched_again": "pages asked for again",
    "in_two_folders": "of them in the folders of two workers, joined by the merge",
    "pairs": "true pairs found",
    "pairs_missing": "true pairs missing",
    "wrong_pairs": "wrong pairs",
}


def main() -> int:
    """Run the crawl, print the figures, and check the promises."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--kills", type=int, default=Faults().kills)
    parser.add_argument("--seed", type=int, default=Faults().seed)
    given = parser.parse_args()
    faults = Faults(kills=given.kills, seed=given.seed)
    print(f"{faults}\n", flush=True)
    with tempfile.TemporaryDirectory() as name:
        figures = crawl_with_faults(Path(name), faults)
    _print(figures, faults)
    broken = broken_promises(figures, faults)
    print("\n".join(["", *broken]) if broken else "\nAll promises were kept.")
    return 1 if broken else 0


def _print(figures: dict[str, Any], faults: Faults) -> None:
    print("| what | |")
    print("|---|---:|")
    for name, words in TOLD.items():
        print(f"| {words} | {figures[name]:,} |")
    print(f"| delay between two requests to a host, s | {faults.delay:.2f} |")
    print(f"| shortest distance that a host saw, s | {figures['shortest_distance']:.3f} |")
    print(f"| shortest when a host changed hands, s | {figures['shortest_at_handover']:.3f} |")
    print(f"| seconds | {figures['seconds']:.0f} |")


if __name__ == "__main__":
    sys.exit(main())
