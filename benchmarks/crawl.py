"""The whole crawler next to a bare Scrapy spider that only extracts and follows links.

Both crawl the same local site with the same concurrency and no delay, one after the other, each in
its own process; the server is a third process. Pages per second of CPU time show what one core can
do, whatever else the machine is doing.

    python -m benchmarks.crawl               the table of docs/experiments/benchmarks.md
    python -m benchmarks.crawl --pages 200 --pages 1000
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.support.servers import RunningServer, serve_demo

BARE = """
import scrapy
from scrapy.linkextractors import LinkExtractor


class Bare(scrapy.Spider):
    name = "bare"
    extractor = LinkExtractor()

    def parse(self, response):
        for link in self.extractor.extract_links(response):
            if link.url.startswith(self.start_urls[0]) and "calendario" not in link.url:
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


def bare(url: str, folder: Path, limit: int) -> list[str]:
    file = folder / "bare.py"
    file.write_text(BARE.replace('name = "bare"', f'name = "bare"\n    start_urls = ["{url}"]'))
    settings = SETTINGS | {"CLOSESPIDER_PAGECOUNT": limit}
    return [sys.executable, "-m", "scrapy", "runspider", str(file), *options(settings)]


def ours(url: str, folder: Path, limit: int, *extra: str) -> list[str]:
    settings = SETTINGS | {
        "BILINGUAL_ALLOW_PRIVATE": 1,
        "BILINGUAL_PROGRESS": "off",
        "CLOSESPIDER_PAGECOUNT": limit,
    }
    arguments = ["-a", "langs=spa-eus", "-a", f"seeds={url}", "-a", f"output={folder / 'out'}"]
    command = [sys.executable, "-m", "scrapy", "crawl", "bilingual", *arguments]
    return [*command, *options(settings), *extra]


def run(name: str, command: list[str], server: RunningServer, cwd: Path) -> dict[str, float]:
    """Run a crawl on one core, and return its cost as the kernel reports it."""
    asked = len(server.paths())
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=cwd)
    os.sched_setaffinity(0, cores)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status:
        raise SystemExit(f"{name} failed: {' '.join(command)}")
    pages = len(server.paths()) - asked
    cpu = usage.ru_utime + usage.ru_stime
    return {"pages": pages, "wall": seconds, "cpu": cpu, "memory": usage.ru_maxrss / 1024}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--pages", type=int, action="append", help="article pairs of the site")
    parser.add_argument("--json", action="store_true")
    parsed = parser.parse_args()
    root = Path(__file__).parent.parent
    rows = []
    print("| crawler | pages | pages/s | pages per CPU second | memory, MB | relative |")
    print("|---|---:|---:|---:|---:|---:|")
    for pairs in parsed.pages or [500, 2000]:
        limit = pairs * 2
        with serve_demo(pages=pairs) as server, tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            base = None
            for shown, command in (
                ("bare Scrapy", bare(server.url, folder, limit)),
                ("bilingual-crawler", ours(server.url, folder, limit)),
            ):
                result = run(shown, command, server, root)
                per_cpu = result["pages"] / result["cpu"]
                base = base or per_cpu
                rows.append({"crawler": shown, "per_cpu": per_cpu, **result})
                print(
                    f"| {shown} | {result['pages']:,} | {result['pages'] / result['wall']:.0f}"
                    f" | {per_cpu:.0f} | {result['memory']:.0f} | {per_cpu / base:.2f} |",
                    flush=True,
                )
    if parsed.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
