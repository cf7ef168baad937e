"""Run every benchmark, one after the other, and print the tables of docs/benchmarks.md.

make bench
python -m benchmarks crawl frontier      some of them
"""

import argparse
import subprocess
import sys

from benchmarks.recorded_pairs import SHARED

LOCAL = ("crawl", "frontier", "dedup", "inference")
RECORDED = ("boilerplate", "recorded_pairs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", choices=[*LOCAL, *RECORDED], default=[])
    names = parser.parse_args().names or [*LOCAL, *RECORDED]
    for name in names:
        print(f"\n## {name}\n", flush=True)
        if name in RECORDED and not (SHARED / "sites").is_dir():
            print("skipped: no recorded sites; name their folder in BILINGUAL_SHARED")
            continue
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode:
            sys.exit(f"benchmarks.{name} failed")


if __name__ == "__main__":
    main()
