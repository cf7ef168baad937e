"""Start the sample site and the hostile server in processes of their own.

Both helpers are context managers that need no pytest; the server is gone when the block
is left, however it is left.
"""

import contextlib
import json
import select
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support import processes
from tests.support.processes import HANG, wait_until

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class RunningServer:
    """A server in a subprocess: where it is, and what it was asked for."""

    url: str
    process: subprocess.Popen

    def log(self) -> list[dict]:
        """All requests so far, in order: {"path": ..., "time": seconds since the epoch}."""
        with urllib.request.urlopen(f"{self.url}__log__", timeout=HANG) as response:
            return json.load(response)

    def paths(self) -> list[str]:
        """The paths asked for so far, in order, without robots.txt."""
        return [entry["path"] for entry in self.log() if entry["path"] != "/robots.txt"]

    def hold(self, after: int) -> None:
        """Answer so many more requests, without robots.txt, and hold all others until `release`."""
        self._tell(f"__hold__?after={after}")

    def release(self) -> None:
        """Answer everything, what was held too."""
        self._tell("__release__")

    def _tell(self, what: str) -> None:
        with urllib.request.urlopen(self.url + what, timeout=HANG) as response:
            response.read()

    def wait_for_requests(self, more: int, crawler: subprocess.Popen) -> None:
        """Wait until a crawl has asked for so many more pages; it cannot go much further."""
        self.hold(after=more)
        wanted = len(self.paths()) + more
        wait_until(lambda: len(self.paths()) >= wanted, crawler)


@contextlib.contextmanager
def serve_demo(pages: int = 0, delay: float = 0.0) -> Iterator[RunningServer]:
    """The sample site with `pages` generated article pairs and `delay` seconds an answer."""
    with _serve("demo.server", "--pages", str(pages), "--delay", str(delay)) as server:
        yield server


@contextlib.contextmanager
def serve_hostile(slow_seconds: float = 90.0) -> Iterator[RunningServer]:
    """The hostile server; its slow answers end after `slow_seconds`."""
    with _serve("tests.support.hostile", "--slow-seconds", str(slow_seconds)) as server:
        yield server


@contextlib.contextmanager
def serve_web(
    sites: int, seed: int = 0, share: float = 0.08, delay: float = 0.0, closed: str = ""
) -> Iterator[RunningServer]:
    """The synthetic web, at an address that answers for all of its hosts as a proxy does."""
    options: dict[str, object] = {
        "--sites": sites,
        "--seed": seed,
        "--share": share,
        "--delay": delay,
    }
    options |= {"--closed": closed} if closed else {}
    given = [str(part) for option in options.items() for part in option]
    with _serve("tests.support.synthetic_web.server", *given) as server:
        yield server


@contextlib.contextmanager
def _serve(module: str, *options: str) -> Iterator[RunningServer]:
    command = [sys.executable, "-m", module, "--port", "0", *options]
    with processes.started(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as process:
        yield RunningServer(_first_line(process), process)


def _first_line(process: subprocess.Popen[str]) -> str:
    """The URL that a server prints when it listens; a server that dies is an error."""
    ready, _, _ = select.select([process.stdout], [], [], HANG)
    line = process.stdout.readline().strip() if ready else ""
    if not line.startswith("http://"):
        raise RuntimeError(f"{process.args!r} did not start: it said {line!r}")
    return line
