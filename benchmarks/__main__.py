"""Run every benchmark, one after the other, and print the tables of docs/experiments/benchmarks.md.

make bench
python -m benchmarks crawl frontier      some of them
python -m benchmarks replay_sites peers  the slow ones, on recorded sites
"""

import argparse
import subprocess
import sys

from benchmarks.recorded_pairs import SHARED

LOCAL = (
    *("crawl", "scoring", "frontier", "redis_frontier", "dedup", "congruence", "pairing"),
    *("inference", "splitters", "alignment", "export", "search", "bootstrap", "rendering"),
    *("merging", "workers", "scaling_model", "common_crawl"),
)
RECORDED = (
    *("boilerplate", "recorded_pairs", "mixed_pages", "seed_systems", "pair_detection"),
    "scripted_signs",
)
LONG = ("cluster", "replay_sites", "peers", "seed_systems", "site_detector")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", choices=[*LOCAL, *RECORDED, *LONG], default=[])
    names = parser.parse_args().names or [*LOCAL, *RECORDED]
    for name in names:
        print(f"\n## {name}\n", flush=True)
        if name not in LOCAL and not (SHARED / "sites").is_dir():
            print("skipped: no recorded sites; name their folder in BILINGUAL_SHARED")
            continue
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode:
            sys.exit(f"benchmarks.{name} failed")


if __name__ == "__main__":
    main()
