"""`python -m tools.fuzz`: look for inputs that break a promise; status 1 if there are any."""

import argparse
import sys
from pathlib import Path

from tools.fuzz.child import check, limit_memory
from tools.fuzz.search import Finding, Search
from tools.fuzz.targets import TARGETS

SECONDS = 180.0
NO_LIMIT = 1 << 60


def main() -> int:
    """Run the search and print the findings."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz", description=(__doc__ or "").partition(": ")[2]
    )
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for all targets together")
    parser.add_argument("--inputs", type=int, default=NO_LIMIT, help="maximum inputs per target")
    parser.add_argument("--target", action="append", choices=sorted(TARGETS), help="only this one")
    parser.add_argument("--seed", type=int, default=1, help="other seeds make other inputs (1)")
    parser.add_argument(
        "--findings", type=Path, default=Path("fuzz-findings"), help="folder for the findings"
    )
    parser.add_argument("--replay", type=Path, metavar="FILE", help="read one input of --target")
    given = parser.parse_args()
    names = given.target or list(TARGETS)
    if given.replay:
        return _replay(names, given.replay)
    found: list[Finding] = []
    for name in names:
        search = Search(name, given.seed, given.seconds / len(names), given.inputs)
        for finding in search.findings():
            file = finding.write(given.findings)
            print(
                f"{name}: {finding.problem}\n  python -m tools.fuzz --target {name} --replay {file}"
            )
            found.append(finding)
        print(f"{name}: {search.tried:,} inputs", flush=True)
    return 1 if found else 0


def _replay(names: list[str], file: Path) -> int:
    problem = ""
    for name in names:
        target = TARGETS[name]
        for example in target.grammar.examples:
            check(target, example)
        limit_memory()
        problem = check(target, file.read_bytes())
        print(f"{name}: {problem or 'nothing is wrong with this input'}", flush=True)
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main())
