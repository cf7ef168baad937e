"""The frontier next to Scrapy's own queues: pushes and pops per second, and memory.

The measurements run one after the other, each in its own process. A push takes a `Request` and
queues it (including fingerprint, duplicate check and encoding); a pop returns a `Request` again.
Ours also marks every popped URL as done, and writes its journal in the background; Scrapy's disk
queue is that of JOBDIR. Times are CPU seconds of the whole process, including the journal's thread,
so that a busy machine does not change them much.
Scrapy keeps one queue per host and priority, so it gets only ten priorities; ours gets a different
one for every URL.

    python -m benchmarks.frontier            the table of docs/experiments/benchmarks.md
    python -m benchmarks.frontier --sizes 10000 100000
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from scrapy import Request, Spider
from scrapy.core.scheduler import Scheduler
from scrapy.http import Response
from scrapy.utils.test import get_crawler
from twisted.python.failure import Failure

from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.crawl.requests import decode, encode
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.journaled import JournaledFrontier
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.urls.fingerprint import request_fingerprint
from bilingual_crawler.urls.hosts import host_of

CHUNK = 20_000
SECONDS = 60
"""A slower queue is measured on the URLs that it returned within this time."""


class BenchSpider(Spider):
    name = "bench"

    def parse(self, response: Response) -> None:
        """Never called."""

    def failed(self, failure: Failure) -> None:
        """Never called."""


class Ours:
    def __init__(self, folder: Path) -> None:
        self.spider = BenchSpider()
        self.journal = Journal(folder / "crawl.sqlite")
        self.frontier = JournaledFrontier(self.journal)
        self.saved = time.monotonic()

    def push(self, request: Request) -> None:
        url = request.url
        self.frontier.push(
            request_fingerprint(url, request.method, request.body),
            url,
            host_of(url),
            RequestState.of(request).score or 0.0,
            encode(request, self.spider),
        )
        self.save()

    def pop(self) -> Request | None:
        entry = self.frontier.pop(time.monotonic())
        if entry is None:
            return None
        request = decode(entry.url, entry.payload, self.spider)
        self.frontier.end(entry.fingerprint, State.DONE, "stored")
        self.save()
        return request

    def save(self) -> None:
        now = time.monotonic()
        if now - self.saved > 1:
            self.journal.checkpoint()
            self.saved = now

    def close(self) -> None:
        self.journal.close()


class Scrapys:
    def __init__(self, folder: Path | None) -> None:
        settings = {"JOBDIR": str(folder)} if folder else {}
        crawler: Any = get_crawler(BenchSpider, settings)
        self.spider = crawler.spider = BenchSpider.from_crawler(crawler)
        crawler.engine = SimpleNamespace(downloader=SimpleNamespace(slots={}, active=set()))
        crawler.engine.downloader.get_slot_key = lambda request: host_of(request.url)
        self.scheduler = Scheduler.from_crawler(crawler)
        self.scheduler.open(crawler.spider)

    def push(self, request: Request) -> None:
        self.scheduler.enqueue_request(request)

    def pop(self) -> Request | None:
        return self.scheduler.next_request()

    def close(self) -> None:
        self.scheduler.close("finished")


def requests(queue: Ours | Scrapys, size: int, hosts: int) -> Iterator[Request]:
    """Yield requests as a crawl makes them: parse callback, depth, a score or ten priorities."""
    rng = random.Random(1)
    spider = queue.spider
    for number in range(size):
        score = rng.random()
        yield Request(
            f"https://www.site-{number % hosts}.example/es/noticias/{number}/una-pagina.html",
            callback=spider.parse,
            errback=spider.failed,
            meta={"depth": number % 7, **RequestState(score=score).as_meta()},
            priority=0 if isinstance(queue, Ours) else int(score * 10),
        )


def measure(kind: str, size: int, hosts: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        queue = Ours(folder) if kind == "ours" else Scrapys(folder if kind == "disk" else None)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        pushing = 0.0
        source = requests(queue, size, hosts)
        for _ in range(0, size, CHUNK):
            chunk = [request for _, request in zip(range(min(CHUNK, size)), source, strict=False)]
            started = time.process_time()
            for request in chunk:
                queue.push(request)
            pushing += time.process_time() - started
        del chunk
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        started, popped = time.process_time(), 0
        while queue.pop() is not None:
            popped += 1
            if popped % 100 == 0 and time.process_time() - started > SECONDS:
                break
        popping = time.process_time() - started
        queue.close()
    return {"push": size / pushing, "pop": popped / popping, "memory": memory / 1024}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 2_000_000])
    parser.add_argument("--hosts", type=int, nargs="+", default=[1, 10_000])
    parser.add_argument("--scrapy-up-to", type=int, default=100_000, metavar="URLS")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        kind, size, hosts = options.one
        print(json.dumps(measure(kind, int(size), int(hosts))))
        return
    print("| queue | URLs | hosts | pushes/CPU s | pops/CPU s | CPU µs a URL | memory, MB |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    names = {"ours": "ours", "disk": "Scrapy, JOBDIR", "memory": "Scrapy, memory"}
    for hosts in options.hosts:
        for size in options.sizes:
            for kind, shown in names.items():
                if kind != "ours" and size > options.scrapy_up_to:
                    continue
                command = [sys.executable, "-m", "benchmarks.frontier"]
                command += ["--one", kind, str(size), str(hosts)]
                run = subprocess.run(command, capture_output=True, text=True, check=False)
                if run.returncode:
                    why = run.stderr.strip().splitlines()[-1][:60]
                    print(f"| {shown} | {size:,} | {hosts:,} | failed: {why} | | | |")
                    continue
                r = json.loads(run.stdout.splitlines()[-1])
                both = 1e6 / r["push"] + 1e6 / r["pop"]
                print(
                    f"| {shown} | {size:,} | {hosts:,} | {r['push']:,.0f} | {r['pop']:,.0f}"
                    f" | {both:.0f} | {r['memory']:,.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
