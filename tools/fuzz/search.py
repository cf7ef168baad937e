"""Search for inputs that break a promise, in processes, and save what is found."""

import base64
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.fuzz.child import CURRENT

ROOT = Path(__file__).parents[2]
MOST_FINDINGS = 10
"""Different findings after which a target is abandoned."""
SLOW_FACTOR = 10
"""How many times the planned time a process may take, in case the machine is busy."""
START_SECONDS = 120
_PLACE = re.compile(r"\(([^()]*)\)$")


@dataclass(frozen=True)
class Finding:
    """An input that breaks a promise."""

    target: str
    seed: int
    number: int
    problem: str
    data: bytes

    @property
    def kind(self) -> str:
        """What distinguishes it from others: the error and its place, or how the process ended."""
        place = _PLACE.search(self.problem)
        return self.problem.partition(":")[0] + place[1] if place else self.problem[:4]

    def write(self, folder: Path) -> Path:
        """Write the input to a file, and return its path."""
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{self.target}-{self.seed}-{self.number}.input"
        file.write_bytes(self.data)
        return file


@dataclass
class Search:
    """Searches one target until the time is up or the inputs are used up."""

    target: str
    seed: int
    seconds: float
    inputs: int
    tried: int = 0

    def findings(self) -> Iterator[Finding]:
        """Yield the findings, one of each kind."""
        kinds: set[str] = set()
        until = time.monotonic() + self.seconds
        with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
            is_done = False
            while not is_done and len(kinds) < MOST_FINDINGS and time.monotonic() < until:
                found, is_done = self._run(Path(name), until - time.monotonic())
                for each in found:
                    if each.kind not in kinds:
                        kinds.add(each.kind)
                        yield each

    def _run(self, folder: Path, seconds: float) -> tuple[list[Finding], bool]:
        """Run one process; return its findings, and whether it finished."""
        numbers = (self.seed, self.tried, self.inputs, seconds)
        module = [sys.executable, "-m", "tools.fuzz.child", self.target]
        process = subprocess.Popen(  # noqa: S603 - our own module
            [*module, *map(str, numbers), str(folder)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            printed, _ = process.communicate(timeout=SLOW_FACTOR * seconds + START_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            printed, _ = process.communicate()
        found: list[Finding] = []
        for line in printed.splitlines():
            fields = json.loads(line)
            if "next" in fields:
                self.tried = fields["next"]
                return found, True
            data = base64.b64decode(fields["data"])
            found.append(Finding(self.target, self.seed, fields["number"], fields["problem"], data))
        return [*found, self._last(folder, process.returncode)], False

    def _last(self, folder: Path, status: int) -> Finding:
        """Return the input that ended the process; the search continues after it."""
        current = folder / CURRENT
        if not current.exists():
            raise RuntimeError(f"The target {self.target} cannot be run (status {status}).")
        written = current.read_bytes()
        number = int.from_bytes(written[:8], "big")
        self.tried = number + 1
        how = signal.Signals(-status).name if status < 0 else f"status {status}"
        problem = f"ends the process ({how})"
        return Finding(self.target, self.seed, number, problem, written[8:])
