"""The frontier in Redis: memory per million URLs, and its speed beside the embedded one.

A separate server is started for the measurement, with an append-only file as crawls use it. URLs
are like those of a crawl: many hosts, each URL with another priority, pushed in pages of 50 links.
Some are then popped and marked as done one by one as a worker does, with a round trip each and one
checkpoint per second. The rest is marked as done in batches, to see what remains of a URL. The µs
are CPU time of the worker and of the server, so that a busy machine does not change them much. Both
frontiers run in one process, one after the other.

    python -m benchmarks.redis_frontier                 the table of docs/experiments/scaling.md
    python -m benchmarks.redis_frontier --urls 100000 --hosts 100
"""

import argparse
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from bilingual_crawler.frontier.entry import CrawlFrontier, State
from bilingual_crawler.frontier.journaled import JournaledFrontier
from bilingual_crawler.frontier.shared.frontier import RedisFrontier
from bilingual_crawler.frontier.shared.link import RedisScripts
from bilingual_crawler.frontier.shared.outbox import End
from bilingual_crawler.frontier.shared.sites import Lease
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.urls.fingerprint import url_fingerprint

LINKS = 50
PAYLOAD = b"\x81\xa4meta\x81\xa5depth\x03"


class Server:
    def __init__(self, folder: Path) -> None:
        socket = folder / "redis.sock"
        command = ["redis-server", "--port", "0", "--unixsocket", str(socket)]
        command += ["--dir", str(folder), "--save", "", "--appendonly", "yes"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.client = Redis.from_url(f"unix://{socket}")
        for _ in range(500):
            try:
                self.client.ping()
                break
            except RedisError:
                time.sleep(0.02)

    def memory(self) -> int:
        return int(self.client.info("memory")["used_memory_dataset"])

    def seconds(self) -> float:
        cpu = self.client.info("cpu")
        return float(cpu["used_cpu_sys"]) + float(cpu["used_cpu_user"])

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=60)


def urls(number: int, hosts: int) -> Iterator[tuple[str, str, float]]:
    rng = random.Random(1)
    for at in range(number):
        host = f"www.site-{at % hosts}.example"
        yield f"https://{host}/es/noticias/{at}/una-pagina.html", host, rng.random()


def push_all(frontier: CrawlFrontier, journal: Journal, number: int, hosts: int) -> None:
    saved = time.perf_counter()
    for at, (url, host, priority) in enumerate(urls(number, hosts)):
        frontier.push(url_fingerprint(url), url, host, priority, PAYLOAD)
        if at % LINKS == LINKS - 1:
            frontier.keep_up()
            if time.perf_counter() - saved > 1:
                journal.checkpoint()
                saved = time.perf_counter()
    frontier.keep_up()


def pop_some(frontier: CrawlFrontier, journal: Journal, most: int) -> None:
    saved = time.perf_counter()
    for _ in range(most):
        entry = frontier.pop(time.monotonic())
        assert entry is not None
        frontier.end(entry.fingerprint, State.DONE, "stored")
        if time.perf_counter() - saved > 1:
            journal.checkpoint()
            saved = time.perf_counter()


def end_all(frontier: RedisFrontier, journal: Journal, number: int, hosts: int) -> None:
    """Mark all queued URLs as done, like a worker that lost its lease after fetching them."""
    for at, (url, host, _) in enumerate(urls(number, hosts)):
        fingerprint = url_fingerprint(url)
        if frontier.state_of(fingerprint) is State.QUEUED:
            frontier.ends.add(End(fingerprint, host, State.DONE, "stored"))
        if at % 5000 == 0 or at == number - 1:
            journal.checkpoint(wait=True)
            frontier.keep_up()


def timed(work: Callable[[], None], number: int, server: Server | None) -> tuple[float, float]:
    """Return the CPU time of this process and of the server, in µs per URL."""
    ours, theirs = time.process_time(), server.seconds() if server else 0.0
    work()
    ours, theirs = time.process_time() - ours, (server.seconds() if server else 0.0) - theirs
    return 1e6 * ours / number, 1e6 * theirs / number


def measure_embedded(number: int, hosts: int, pops: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        journal = Journal(Path(name) / "crawl.sqlite")
        frontier = JournaledFrontier(journal)
        push, _ = timed(lambda: push_all(frontier, journal, number, hosts), number, None)
        pop, _ = timed(lambda: pop_some(frontier, journal, pops), pops, None)
        journal.close()
    print(f"| embedded | {hosts:,} | {push:.0f} | | {pop:.0f} | | | |", flush=True)


def measure_redis(number: int, hosts: int, pops: int) -> None:
    with tempfile.TemporaryDirectory(prefix="redis-") as name:
        server = Server(Path(name))
        try:
            journal = Journal(Path(name) / "crawl.sqlite")
            empty = server.memory()
            link = RedisScripts(server.client, "bench", "one")
            frontier = RedisFrontier(link, journal, lease=Lease(3600.0, hosts))
            push = timed(lambda: push_all(frontier, journal, number, hosts), number, server)
            queued = (server.memory() - empty) / number
            pop = timed(lambda: pop_some(frontier, journal, pops), pops, server)
            end_all(frontier, journal, number, hosts)
            assert not len(frontier)
            ended = (server.memory() - empty) / number
            frontier.close()
            journal.close()
            print(
                f"| Redis | {hosts:,} | {push[0]:.0f} | {push[1]:.0f} | {pop[0]:.0f} |"
                f" {pop[1]:.0f} | {queued:.0f} | {ended:.0f} |",
                flush=True,
            )
        finally:
            server.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--pops", type=int, default=20_000)
    parser.add_argument("--hosts", type=int, nargs="+", default=[10, 10_000])
    options = parser.parse_args()
    if shutil.which("redis-server") is None:
        print("skipped: there is no redis-server here")
        return
    print("| frontier | hosts | push µs | server µs | pop µs | server µs | B queued | B ended |")
    print("|---|---|---|---|---|---|---|---|")
    for hosts in options.hosts:
        measure_embedded(options.urls, hosts, options.pops)
        measure_redis(options.urls, hosts, options.pops)


if __name__ == "__main__":
    main()
