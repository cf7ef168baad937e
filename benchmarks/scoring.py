"""The cost of scoring per page, for each scorer, beside fetching, parsing and pairing.

The same local site is crawled once per scorer, each time in its own process on one core, with the
server in another. Scoring is the CPU time of the scoring thread; the total is that of the process
from the first request to the last page, without loading the models.

    python -m benchmarks.scoring                 the table of docs/experiments/benchmarks.md
    python -m benchmarks.scoring --pages 200 --scorers smart rules
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.utils.project import get_project_settings

from benchmarks.crawl import SETTINGS
from bilingual_crawler.config.settings import SCORERS
from bilingual_crawler.spiders.bilingual import BilingualSpider
from tests.support.servers import serve_demo

ROOT = Path(__file__).parent.parent


class Clock:
    """The CPU time of this process between the first request and the end."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def start(self) -> None:
        self.seconds = -time.process_time()

    def stop(self) -> None:
        self.seconds += time.process_time()


def crawl_here(scorer: str, url: str, folder: str, limit: int) -> dict[str, float]:
    """Crawl in this process and return the cost."""
    settings = get_project_settings()
    ours = {
        "BILINGUAL_ALLOW_PRIVATE": True,
        "BILINGUAL_PROGRESS": "off",
        "BILINGUAL_SCORER": scorer,
        "CLOSESPIDER_PAGECOUNT": limit,
    }
    settings.setdict(SETTINGS | ours, priority="cmdline")
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(BilingualSpider)
    clock = Clock()
    crawler.signals.connect(clock.start, signal=signals.spider_opened)
    crawler.signals.connect(clock.stop, signal=signals.spider_closed)
    process.crawl(crawler, langs="spa-eus", seeds=url, output=folder)
    process.start()
    stats = crawler.stats.get_stats()
    return {
        "pages": stats["bilingual/pages"],
        "links": stats["bilingual/links/scored"],
        "scoring": stats["bilingual/scoring/microseconds"] / 1e6,
        "whole": clock.seconds,
    }


def crawl(scorer: str, url: str, limit: int) -> dict[str, float]:
    """Crawl in a separate process on one core and return the cost."""
    with tempfile.TemporaryDirectory() as name:
        given = [scorer, url, str(Path(name) / "out"), str(limit)]
        command = [sys.executable, "-m", "benchmarks.scoring", "--here", *given]
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(cores)})
        try:
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        finally:
            os.sched_setaffinity(0, cores)
    if done.returncode:
        raise SystemExit(f"{scorer} failed:\n{done.stderr}")
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--pages", type=int, default=500, help="article pairs of the site")
    parser.add_argument("--scorers", nargs="+", default=list(SCORERS))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--here", nargs=4, help=argparse.SUPPRESS)
    parsed = parser.parse_args()
    if parsed.here:
        scorer, url, folder, limit = parsed.here
        print(json.dumps(crawl_here(scorer, url, folder, int(limit))))
        return
    rows = {}
    print(
        "| scorer | pages | links judged a page | scoring, ms a page | µs a link | all, ms a page |"
    )
    print("|---|---:|---:|---:|---:|---:|")
    with serve_demo(pages=parsed.pages) as server:
        for scorer in parsed.scorers:
            rows[scorer] = row = crawl(scorer, server.url, parsed.pages * 2)
            pages = row["pages"]
            print(
                f"| {scorer} | {pages:,.0f} | {row['links'] / pages:.1f}"
                f" | {row['scoring'] / pages * 1e3:.2f} | {row['scoring'] / row['links'] * 1e6:.0f}"
                f" | {row['whole'] / pages * 1e3:.1f} |",
                flush=True,
            )
    if parsed.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
