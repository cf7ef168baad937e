"""Processes that tests start: none outlives the test or the fixture that started it.

`start` is subprocess.Popen for tests. The process leads a group of its own, so that ending it
ends whatever it has started as well. tests/conftest.py ends what a test has left running, and
fails when something is running that nobody knows of.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil

from tests.support import forked

HANG = 300.0
"""Seconds after which something hangs: far more than it takes on the busiest machine."""
POLL = 0.02
MARK = "BILINGUAL_TEST_RUN"
"""An environment variable that all descendants of a test run inherit."""
SETPRIV = shutil.which("setpriv")
HELPERS = ("resource_tracker", "multiprocessing.forkserver", "exec(eval(sys.stdin.readline()))")
"""Processes that end with the tests: Python's own, and the workers of pytest-xdist."""

_started: list[subprocess.Popen[Any]] = []


def start(command: Sequence[str | Path], **options: Any) -> subprocess.Popen[Any]:
    """Start a process in a group of its own; it dies with this one, where the system can do that.

    A test need not end it: that happens when the test is over, however it ends.
    """
    words = [*map(str, command)]
    process: subprocess.Popen[Any]
    if forked.can_fork(words, **options):
        process = forked.Forked(words, **options)
    else:
        prefix = [SETPRIV, "--pdeathsig", "KILL", "--"] if SETPRIV else []
        process = subprocess.Popen([*prefix, *words], start_new_session=True, **options)
    _started.append(process)
    return process


def run(
    command: Sequence[str | Path],
    *,
    capture_output: bool = False,
    check: bool = False,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """Run a process to its end, as subprocess.run does; it is ended when it hangs."""
    if capture_output:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if (typed := options.pop("input", None)) is not None:
        options["stdin"] = subprocess.PIPE
    process = start(command, **options)
    try:
        printed, complaints = process.communicate(typed, timeout=HANG)
    finally:
        end(process)
    done = subprocess.CompletedProcess(process.args, process.returncode, printed, complaints)
    if check:
        done.check_returncode()
    return done


@contextlib.contextmanager
def started(command: Sequence[str | Path], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """A process for the length of a block, for fixtures that many tests share."""
    process = start(command, **options)
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[Any]) -> None:
    """Kill a process and all that it has started, whatever state it is in."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(HANG)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError, ValueError):
                pipe.close()
    with contextlib.suppress(ValueError):
        _started.remove(process)


def known() -> list[subprocess.Popen[Any]]:
    """The processes that were started and not ended here; some may have ended by themselves."""
    return list(_started)


def end_all(but: Iterable[subprocess.Popen[Any]] = ()) -> None:
    """End every process that `start` has started, but these."""
    spared = {id(process) for process in but}
    for process in known():
        if id(process) not in spared:
            end(process)


def wait_until(
    condition: Callable[[], Any],
    process: subprocess.Popen[Any] | None = None,
    seconds: float = HANG,
) -> Any:
    """Wait until a condition holds and return its value; the process must keep running."""
    until = time.monotonic() + seconds
    while not (found := condition()):
        if process is not None and process.poll() is not None:
            printed = process.stdout.read() if process.stdout else ""
            raise AssertionError(f"{process.args!r} ended with {process.returncode}:\n{printed}")
        assert time.monotonic() < until, f"nothing came in {seconds} s"
        time.sleep(POLL)
    return found


def descendants() -> dict[int, psutil.Process]:
    """All processes that come from this one, by their number, but helpers."""
    children = psutil.Process().children(recursive=True)
    servers = forked.servers()
    return {each.pid: each for each in children if each.pid not in servers and not _is_helper(each)}


def of_run(name: str) -> list[psutil.Process]:
    """All processes that a test run has started, orphans too, but this one.

    A process that is just becoming another program has no environment for a moment, so all are
    looked at twice.
    """
    found: dict[int, psutil.Process] = {}
    for _ in range(2):
        for each in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if each.pid != os.getpid() and each.environ().get(MARK) == name:
                    found[each.pid] = each
        time.sleep(POLL)
    return [each for each in found.values() if not _is_helper(each)]


def kill(left: Iterable[psutil.Process]) -> list[str]:
    """Kill processes that should not be there; their command lines."""
    said = []
    for each in left:
        with contextlib.suppress(psutil.Error):
            if each.status() != psutil.STATUS_ZOMBIE:
                said.append(" ".join(each.cmdline())[:300])
                each.kill()
    return said


def _is_helper(process: psutil.Process) -> bool:
    try:
        words = " ".join(process.cmdline())
    except psutil.Error:
        return True
    return not words or any(name in words for name in HELPERS)
