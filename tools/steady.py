"""Run all tests several times in a row on a busy machine: `python -m tools.steady`.

A test that passes only on an idle machine fails sooner or later on somebody else's. Busy loops
take the processors meanwhile; the first run that fails ends it all, and its output is shown.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from types import FrameType

ROOT = Path(__file__).parents[1]
TESTS = ["make", "tests"]
LOOP = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"
"""A loop that ends with whoever started it, even if that is killed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests; 1 if a run failed."""
    parser = argparse.ArgumentParser(prog="python -m tools.steady", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs in a row (default: 5)")
    parser.add_argument("--loops", type=int, default=4, help="busy loops (default: 4)")
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, help="what to run (default: make tests)"
    )
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _terminated)
    with busy(options.loops):
        for number in range(1, options.runs + 1):
            if not passes(options.command or TESTS, f"run {number} of {options.runs}"):
                return 1
    print(f"All {options.runs} runs passed beside {options.loops} busy loops.")
    return 0


@contextlib.contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keep so many processes busy for the length of a block."""
    with contextlib.ExitStack() as running:
        for _ in range(loops):
            process = running.enter_context(subprocess.Popen([sys.executable, "-c", LOOP]))  # noqa: S603 - ours
            running.callback(process.kill)
        yield


def passes(command: Sequence[str], name: str) -> bool:
    """Run a command and print a line about it; its output too, if it fails."""
    begun = time.monotonic()
    with TemporaryFile("w+", errors="replace") as output:
        status = _status(command, output.fileno())
        seconds = time.monotonic() - begun
        output.seek(0)
        lines = output.read().splitlines()
    verdict = "failed" if status else "passed"
    counts = "; ".join(line.strip("= ") for line in lines if " passed" in line or " failed" in line)
    print(f"{name}: {verdict} in {seconds:.0f} s ({counts})", flush=True)
    if status:
        print(*lines, sep="\n")
    return status == 0


def _status(command: Sequence[str], output: int) -> int:
    """Run a command in a group of its own, which is ended whatever happens here."""
    process = subprocess.Popen(  # noqa: S603 - what the user typed
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        start_new_session=True,
    )  # fmt: skip
    try:
        return process.wait()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)


def _terminated(number: int, _frame: FrameType | None) -> None:
    """End by an exception, so that the loops are ended too."""
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
