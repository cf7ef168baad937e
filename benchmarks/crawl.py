"""The whole crawler next to a bare Scrapy spider that only extracts and follows links.

Both crawl the same local site with the same concurrency and no delay, one after the other, each in
its own process; the server is a third process. Pages per second of CPU time show what one core can
do, whatever else the machine is doing. All modules are compiled before, as after an installation.

A recorded site is served over HTTP by a proxy that knows only this site. Both crawl it to the end
or to the limit; bare Scrapy follows every link on the host.

    python -m benchmarks.crawl               the table of docs/experiments/benchmarks.md
    python -m benchmarks.crawl --pages 200 --pages 1000
    python -m benchmarks.crawl --recorded iti-ca --recorded httpd-manual --limit 900
    python -m benchmarks.crawl --rounds 5 --other FOLDER    beside another version's checkout
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from benchmarks.peers import SiteServer, served
from benchmarks.recorded_pairs import SHARED
from bilingual_crawler.lab.replay.gold import ENDING, largest_pairs, read_gold
from bilingual_crawler.lab.replay.recording import Recording
from bilingual_crawler.lab.replay.site import RecordedSite
from tests.support.servers import serve_demo

ROOT = Path(__file__).parent.parent

BARE = """
import scrapy
from scrapy.linkextractors import LinkExtractor


class Bare(scrapy.Spider):
    name = "bare"
    extractor = LinkExtractor()

    def parse(self, response):
        for link in self.extractor.extract_links(response):
            if link.url.startswith(self.root) and "calendario" not in link.url:
                yield scrapy.Request(link.url)
"""
SETTINGS = {
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": 0,
    "DEPTH_LIMIT": 0,
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": 0,
    "ROBOTSTXT_OBEY": 1,
}


def options(settings: dict[str, object]) -> list[str]:
    return [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]


class Target(NamedTuple):
    """A site to crawl: where it is, how many pages at most, and how many were requested so far."""

    name: str
    url: str
    langs: str
    limit: int
    requested: Callable[[], int]
    environment: Mapping[str, str] = {}

    @property
    def root(self) -> str:
        """The scheme and host of the site."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"


def bare(target: Target, folder: Path) -> list[str]:
    file = folder / "bare.py"
    own = f'name = "bare"\n    start_urls = ["{target.url}"]\n    root = "{target.root}"'
    file.write_text(BARE.replace('name = "bare"', own))
    settings = SETTINGS | {"CLOSESPIDER_PAGECOUNT": target.limit}
    return [sys.executable, "-m", "scrapy", "runspider", str(file), *options(settings)]


def ours(target: Target, folder: Path) -> list[str]:
    settings = SETTINGS | {
        "BILINGUAL_ALLOW_PRIVATE": 1,
        "BILINGUAL_PROGRESS": "off",
        "CLOSESPIDER_PAGECOUNT": target.limit,
    }
    given = {"langs": target.langs, "seeds": target.url, "output": folder / "out"}
    arguments = [part for name, value in given.items() for part in ("-a", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "crawl", "bilingual", *arguments]
    return [*command, *options(settings)]


@contextmanager
def demo(pairs: int) -> Iterator[Target]:
    """Serve the sample site with that many generated article pairs."""
    with serve_demo(pages=pairs) as server:
        yield Target("demo", server.url, "spa-eus", pairs * 2, lambda: len(server.paths()))


@contextmanager
def recorded(name: str, limit: int) -> Iterator[Target]:
    """Serve a recorded site from memory through a proxy."""
    warc = SHARED / "sites" / f"{name}.warc.gz"
    langs = next(iter(largest_pairs(read_gold(warc.with_name(name + ENDING)))))
    recording = Recording(warc)
    with served(RecordedSite(recording, ()), recording.homes()[0]) as server:
        server.remember()
        proxy = f"http://127.0.0.1:{server.server_port}"
        yield Target(
            name, home_of(server, recording), langs, limit, lambda: len(server.order),
            {"http_proxy": proxy},
        )  # fmt: skip


def home_of(server: SiteServer, recording: Recording) -> str:
    """Return the home page as the peers see it, without TLS."""
    return server.plain(recording.homes()[0].encode()).decode()


def run(name: str, command: list[str], target: Target, cwd: Path, cache: Path) -> dict[str, float]:
    """Run a crawl on one core, and return its cost as the kernel reports it."""
    environment = {**os.environ, **target.environment, "PYTHONPYCACHEPREFIX": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    asked = target.requested()
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=cwd, env=environment)
    os.sched_setaffinity(0, cores)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status:
        raise SystemExit(f"{name} failed: {' '.join(command)}")
    pages = target.requested() - asked
    cpu = usage.ru_utime + usage.ru_stime
    return {"pages": pages, "wall": seconds, "cpu": cpu, "memory": usage.ru_maxrss / 1024}


def compare(
    target: Target, others: list[Path], rounds: int, cache: Path
) -> list[dict[str, object]]:
    """Crawl in turn with bare Scrapy, with this version, and with others; keep the medians."""
    results: defaultdict[str, list[dict[str, float]]] = defaultdict(list)
    for again in range(rounds + 1):
        for shown, cwd, command in (
            ("bare Scrapy", ROOT, bare),
            ("bilingual-crawler", ROOT, ours),
            *((str(other), other, ours) for other in others),
        ):
            with tempfile.TemporaryDirectory() as name:
                short = target._replace(limit=1) if again == 0 else target  # compiles modules
                result = run(shown, command(short, Path(name)), target, cwd, cache)
            if again:
                results[shown].append(result)
                cost = 1e3 * result["cpu"] / result["pages"]
                print(f"{shown}: {cost:.2f} ms of CPU time per page", file=sys.stderr, flush=True)
    base = None
    rows: list[dict[str, object]] = []
    for shown, each in results.items():
        middle = {key: statistics.median(one[key] for one in each) for key in each[0]}
        per_cpu = statistics.median(one["pages"] / one["cpu"] for one in each)
        base = base or per_cpu
        rows.append({"site": target.name, "crawler": shown, "per_cpu": per_cpu, **middle})
        print(
            f"| {target.name} | {shown} | {middle['pages']:,.0f}"
            f" | {middle['pages'] / middle['wall']:.0f} | {per_cpu:.0f}"
            f" | {middle['memory']:.0f} | {per_cpu / base:.2f} |",
            flush=True,
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--pages", type=int, action="append", help="article pairs of the site")
    parser.add_argument(
        "--recorded", action="append", default=[], help="a site in BILINGUAL_SHARED"
    )
    parser.add_argument("--limit", type=int, default=1_000, help="pages of a recorded site")
    parser.add_argument("--rounds", type=int, default=1, help="take the medians of so many")
    parser.add_argument("--other", type=Path, action="append", default=[], help="another checkout")
    parser.add_argument("--json", action="store_true")
    parsed = parser.parse_args()
    print("| site | crawler | pages | pages/s | pages per CPU second | memory, MB | relative |")
    print("|---|---|---:|---:|---:|---:|---:|")
    sites = [recorded(name, parsed.limit) for name in parsed.recorded]
    if not sites or parsed.pages:
        sites += [demo(pairs) for pairs in parsed.pages or [500, 2000]]
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as cache:
        for site in sites:
            with site as target:
                rows += compare(target, parsed.other, parsed.rounds, Path(cache))
    if parsed.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
