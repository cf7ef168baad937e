"""Workers of one crawl as real processes, and what happens to them."""

import json
import math
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.support import processes
from tests.support.crawling import FAST, ROOT, documents, pairs
from tests.support.many_sites import Asked, ManySites, serve_sites
from tests.support.processes import HANG
from tests.support.redis_server import RedisServer, serve_redis

PREFIX = "bilingual:spa-eus"
REFUSED = ("Redis has stopped answering", "There is no Redis at")
SETTINGS = {
    "AUTOTHROTTLE_ENABLED": 0,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "BILINGUAL_SCORER": "breadth_first",
    "BILINGUAL_CHECKPOINT_SECONDS": 0.2,
    "BILINGUAL_LEASE_SECONDS": 6,
    "LOG_LEVEL": "INFO",
}


class Fleet:
    """Workers by name, each started as a user would start it."""

    def __init__(
        self, folder: Path, sites: ManySites, redis: RedisServer, settings: dict[str, Any]
    ) -> None:
        self.folder = folder
        self.redis = redis
        self._settings = FAST | SETTINGS | {"BILINGUAL_FRONTIER": redis.url} | settings
        self._seeds = ",".join(sites.seeds)
        self._starts = self.revived = 0
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def start(self, name: str) -> None:
        """Start a worker, for the first time or again."""
        command = [sys.executable, "-m", "scrapy", "crawl", "bilingual"]
        command += ["-a", "langs=spa-eus", "-a", f"seeds={self._seeds}"]
        command += ["-a", f"output={self.folder}", "-s", f"BILINGUAL_WORKER={name}"]
        self._starts += 1
        command += ["-s", f"USER_AGENT={name} started as number {self._starts}"]
        for setting, value in self._settings.items():
            command += ["-s", f"{setting}={value}"]
        with self._log(name).open("ab") as log:
            self.workers[name] = processes.start(
                command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def kill(self, name: str) -> int:
        """Kill a worker; return how many URLs it had in flight."""
        worker = self.workers[name]
        worker.send_signal(signal.SIGSTOP)
        in_flight: int = self.redis.client.zcard(f"{{{PREFIX}}}:flight:{name}")
        processes.end(worker)
        return in_flight

    def revive(self) -> None:
        """Start workers again that came when Redis was away, as a process manager would."""
        for name, worker in self.workers.items():
            if worker.poll() and any(words in self.said(name)[-300:] for words in REFUSED):
                self.revived += 1
                self.start(name)

    def wait(self, seconds: float) -> None:
        """Wait until every worker has ended by itself, and well."""
        until = time.monotonic() + seconds
        while running := [name for name, worker in self.workers.items() if worker.poll() is None]:
            assert time.monotonic() < until, f"{running[0]} does not end:\n{self.said(running[0])}"
            self.revive()
            time.sleep(0.1)
        for name, worker in self.workers.items():
            assert worker.returncode == 0, self.said(name)

    def said(self, name: str) -> str:
        """The end of what a worker printed."""
        return self._log(name).read_text(errors="replace")[-4000:]

    def end(self) -> None:
        """End what is left of it."""
        for worker in self.workers.values():
            processes.end(worker)

    def _log(self, name: str) -> Path:
        return self.folder.with_name(f"{self.folder.name}-{name}.log")


class Faults(NamedTuple):
    """What happens to a crawl on several workers."""

    workers: int = 4
    sites: int = 16
    articles: int = 30
    """Pairs of pages of each site."""
    kills: int = 20
    stall: float = 10.0
    """Seconds for which Redis does not answer."""
    lease: float = 12.0
    delay: float = 0.5
    latency: float = 0.05
    seed: int = 20261117


def crawl_with_faults(folder: Path, faults: Faults) -> dict[str, Any]:
    """A whole crawl during which things break, merged at the end; the figures of it.

    Workers are killed at random moments and started again. A third of the way Redis is killed
    and started again with what it has on disk, at two thirds it does not answer for a while.
    """
    with (
        serve_sites(faults.sites, faults.articles, faults.latency) as sites,
        serve_redis() as redis,
    ):
        settings = {"DOWNLOAD_DELAY": faults.delay, "BILINGUAL_LEASE_SECONDS": faults.lease}
        fleet = Fleet(folder / "run", sites, redis, settings)
        started = time.monotonic()
        try:
            for number in range(faults.workers):
                fleet.start(f"worker-{number}")
            in_flight = _break_things(fleet, sites, faults)
            fleet.wait(2 * HANG)
        finally:
            fleet.end()
        seconds = time.monotonic() - started
        account = merge(folder / "run", folder / "all")
        return _figures(folder / "all", sites, account) | {
            "kills": faults.kills,
            "in_flight_at_kills": in_flight,
            "revived": fleet.revived,
            "seconds": seconds,
        }


def _break_things(fleet: Fleet, sites: ManySites, faults: Faults) -> int:
    """Kill, restart, hold up; return how many URLs were in flight at the kills.

    Every eighth worker that is killed is started again only after its lease has ended, so that
    others take its sites over.
    """
    random, in_flight = Random(faults.seed), 0
    apart = len(sites.urls) // (faults.kills + 2)
    wait_for_pages(fleet, sites, 1)
    for number in range(faults.kills):
        wait_for_pages(fleet, sites, random.randint(1, apart))
        if number == faults.kills // 3:
            fleet.redis.stop()
            fleet.redis.start()
        if number == 2 * faults.kills // 3:
            with fleet.redis.held_up():
                time.sleep(faults.stall)
        name = random.choice(sorted(fleet.workers))
        in_flight += fleet.kill(name)
        if number % 8 == 3:
            time.sleep(faults.lease)
        fleet.start(name)
    return in_flight


def _figures(merged: Path, sites: ManySites, account: dict[str, Any]) -> dict[str, Any]:
    log, pages = sites.log(), sites.pages()
    stored = [document["url"] for document in documents(merged)]
    found = {(pair["url1"], pair["url2"]) for pair in pairs(merged)}
    return {
        "pages": len(sites.urls),
        "lost": len(sites.urls - set(stored)),
        "stored_twice": len(stored) - len(set(stored)),
        "fetched_again": fetched_again(pages),
        "in_two_folders": account["repeated_pages"],
        "pairs": len(found & sites.pairs),
        "pairs_missing": len(sites.pairs - found),
        "wrong_pairs": len(found - sites.pairs),
        "shortest_distance": shortest_distance(log),
        "shortest_at_handover": shortest_distance(log, of_two_workers=True),
    }


def wait_for_pages(fleet: Fleet, sites: ManySites, more: int, seconds: float = HANG) -> None:
    """Wait until so many more pages were asked for."""
    wanted, until = len(sites.pages()) + more, time.monotonic() + seconds
    while (asked := len(sites.pages())) < wanted:
        fleet.revive()
        ended = [name for name, worker in fleet.workers.items() if worker.poll() is not None]
        assert not ended, f"{ended} ended at {asked} pages:\n{fleet.said(ended[0])}"
        assert time.monotonic() < until, f"only {asked} pages were asked for"
        time.sleep(0.05)


def shortest_distance(log: Sequence[Asked], *, of_two_workers: bool = False) -> float:
    """The least time between two requests to one host, of all or of different processes.

    It is never measured too short: what kept the server from reading the first one is added.
    """
    of_host: defaultdict[str, list[Asked]] = defaultdict(list)
    for each in sorted(log):
        of_host[each.host].append(each)
    return min(
        (
            second.time - first.since
            for asked in of_host.values()
            for first, second in pairwise(asked)
            if not of_two_workers or first.who != second.who
        ),
        default=math.inf,
    )


def fetched_again(log: Sequence[Asked]) -> int:
    """How many requests were for a page that had been asked for before."""
    return sum(count - 1 for count in Counter((each.host, each.path) for each in log).values())


def merge(run: Path, into: Path) -> dict[str, Any]:
    """Run scrapy merge; its account."""
    command = [sys.executable, "-m", "scrapy", "merge", str(run), "--into", str(into), "--json"]
    done = processes.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    account: dict[str, Any] = json.loads(done.stdout)
    return account


def broken_promises(figures: dict[str, Any], faults: Faults) -> list[str]:
    """What should not have happened, in sentences.

    The delay is measured where requests arrive. On a busy machine the one may take longer from
    there to here than the next, so a tenth of the delay is allowed for that.
    """
    closest, at_handover = figures["shortest_distance"], figures["shortest_at_handover"]
    again, in_flight = figures["fetched_again"], figures["in_flight_at_kills"]
    checks = {
        f"{figures['lost']} pages are lost.": figures["lost"] == 0,
        f"{figures['stored_twice']} pages are stored twice.": figures["stored_twice"] == 0,
        f"{again} pages were fetched again, and {in_flight} were in flight.": again <= in_flight,
        f"{figures['pairs_missing']} pairs are missing.": figures["pairs_missing"] == 0,
        f"{figures['wrong_pairs']} pairs are wrong.": figures["wrong_pairs"] == 0,
        f"A process asked a host twice in {closest:.3f} s.": closest >= 0.9 * faults.delay,
        f"Two asked a host within {at_handover:.3f} s.": at_handover >= faults.delay,
    }
    return [sentence for sentence, kept in checks.items() if not kept]
