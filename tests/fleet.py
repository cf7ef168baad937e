"""Workers of one crawl as real processes, and what happens to them."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from tests.crawls import FAST, ROOT
from tests.many_sites import ManySites
from tests.redis_server import RedisServer

PREFIX = "bilingual:spa-eus"
SETTINGS = {
    "AUTOTHROTTLE_ENABLED": 0,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "BILINGUAL_SCORER": "breadth_first",
    "BILINGUAL_CHECKPOINT_SECONDS": 0.2,
    "BILINGUAL_LEASE_SECONDS": 6,
    "LOG_LEVEL": "INFO",
}
Log = Sequence[tuple[float, str, str]]


class Fleet:
    """Workers by name, each started as a user would start it."""

    def __init__(
        self, folder: Path, sites: ManySites, redis: RedisServer, settings: dict[str, Any]
    ) -> None:
        self.folder = folder
        self.redis = redis
        self._settings = FAST | SETTINGS | {"BILINGUAL_FRONTIER": redis.url} | settings
        self._seeds = ",".join(sites.seeds)
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def start(self, name: str) -> None:
        """Start a worker, for the first time or again."""
        command = [sys.executable, "-m", "scrapy", "crawl", "bilingual"]
        command += ["-a", "langs=spa-eus", "-a", f"seeds={self._seeds}"]
        command += ["-a", f"output={self.folder}", "-s", f"BILINGUAL_WORKER={name}"]
        for setting, value in self._settings.items():
            command += ["-s", f"{setting}={value}"]
        with self._log(name).open("ab") as log:
            self.workers[name] = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def kill(self, name: str) -> int:
        """Kill a worker; how many URLs it had in flight is told."""
        worker = self.workers[name]
        worker.send_signal(signal.SIGSTOP)
        in_flight: int = self.redis.client.zcard(f"{{{PREFIX}}}:flight:{name}")
        worker.kill()
        worker.wait()
        return in_flight

    def wait(self, seconds: float) -> None:
        """Wait until every worker has ended by itself, and well."""
        until = time.monotonic() + seconds
        for name, worker in self.workers.items():
            try:
                status = worker.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise AssertionError(f"{name} does not end:\n{self.said(name)}") from None
            assert status == 0, self.said(name)

    def cpu_seconds(self) -> float:
        """What all workers that have ended cost together."""
        usage = os.times()
        return usage.children_user + usage.children_system

    def said(self, name: str) -> str:
        """The end of what a worker printed."""
        return self._log(name).read_text(errors="replace")[-4000:]

    def end(self) -> None:
        """End what is left of it."""
        for worker in self.workers.values():
            if worker.poll() is None:
                worker.kill()
            worker.wait()

    def _log(self, name: str) -> Path:
        return self.folder.with_name(f"{self.folder.name}-{name}.log")


def kill_at_random(
    fleet: Fleet, sites: ManySites, *, kills: int, pages_apart: int, seed: int, linger: float
) -> int:
    """Kill workers while pages come in; the sum of what was in flight at the kills.

    Every fourth one is started again only after its lease has ended, so that others take over.
    """
    random, in_flight = Random(seed), 0
    for number in range(kills):
        wait_for_pages(sites, random.randint(1, 2 * pages_apart))
        name = random.choice(sorted(fleet.workers))
        in_flight += fleet.kill(name)
        if number % 4 == 3:
            time.sleep(linger)
        fleet.start(name)
    return in_flight


def wait_for_pages(sites: ManySites, more: int, seconds: float = 60) -> None:
    """Wait until so many more pages were asked for."""
    wanted, until = len(sites.requests()) + more, time.monotonic() + seconds
    while len(sites.requests()) < wanted:
        assert time.monotonic() < until, "no page is asked for any more"
        time.sleep(0.05)


def shortest_distances(log: Log) -> dict[str, float]:
    """The least time between two requests to each host."""
    times: defaultdict[str, list[float]] = defaultdict(list)
    for at, host, _ in log:
        times[host].append(at)
    return {
        host: min(b - a for a, b in pairwise(each)) for host, each in times.items() if len(each) > 1
    }


def fetched_again(log: Log) -> int:
    """How many requests were for a page that had been asked for before."""
    return sum(count - 1 for count in Counter((host, path) for _, host, path in log).values())


def merge(run: Path, into: Path) -> dict[str, Any]:
    """Run scrapy merge; its account."""
    command = [sys.executable, "-m", "scrapy", "merge", str(run), "--into", str(into), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    account: dict[str, Any] = json.loads(done.stdout)
    return account
