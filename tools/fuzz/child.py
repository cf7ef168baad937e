"""A process that feeds inputs to one target, with limits: `python -m tools.fuzz.child`.

The current input is kept in a file, so that it is known even if it kills the process. Other broken
promises are printed, one JSON object per line.
"""

import base64
import contextlib
import json
import math
import resource
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

from tools.fuzz.inputs import numbered
from tools.fuzz.targets import TARGETS, Target

SECONDS = 1.0
"""Processor time that an input may take."""
KILL_SECONDS = 20
"""Processor time after which the process is killed, since the input hangs it."""
MEMORY = 1_000_000_000
"""Bytes that all inputs together may take, beyond what the program itself needs."""
CURRENT = "current"


def main(name: str, seed: int, *, first: int, last: int, seconds: float, folder: Path) -> None:
    """Read the inputs from one number to another, or until the time is up."""
    target = TARGETS[name]
    for example in target.grammar.examples:  # what is loaded once does not count
        check(target, example)
    limit_memory()
    until = time.monotonic() + seconds
    current = folder / CURRENT
    for number, data in numbered(target.grammar, seed, name, first):
        if number >= last or time.monotonic() > until:
            print(json.dumps({"next": number}), flush=True)
            return
        current.write_bytes(number.to_bytes(8, "big") + data)
        problem = check(target, data)
        if problem:
            found = {"number": number, "problem": problem, "data": base64.b64encode(data).decode()}
            print(json.dumps(found), flush=True)


def limit_memory() -> None:
    """Limit the memory to what the process has now plus what inputs may take."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def check(target: Target, data: bytes) -> str:
    """Read an input; return the broken promise, or an empty string."""
    spent = 0.0
    for _ in range(2):  # a second try, in case garbage collection made it slow
        began = time.process_time()
        try:
            with killed_at(math.ceil(began) + KILL_SECONDS):
                target.read(data)
        except target.errors:
            pass
        except Exception as error:  # noqa: BLE001 - this is what the search is for
            return _told(error)
        spent = time.process_time() - began
        if spent <= SECONDS:
            return ""
    return f"took {spent:.1f} s of processor time, more than {SECONDS:g}"


@contextlib.contextmanager
def killed_at(seconds: int) -> Iterator[None]:
    """Let the system kill this process if it has had so much processor time before the end."""
    usual = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, usual)


def _told(error: Exception) -> str:
    """Describe an error and where it was raised, the same in every run."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}, line {place.lineno}, in {place.name}"
    return f"{type(error).__name__}: {str(error)[:200]} ({where})"


if __name__ == "__main__":
    given = sys.argv[1:]
    main(
        given[0],
        int(given[1]),
        first=int(given[2]),
        last=int(given[3]),
        seconds=float(given[4]),
        folder=Path(given[5]),
    )
