"""One crawl on 1, 2 and 4 workers with a shared frontier, against sites that answer slowly.

Workers, Redis and the sites run on one machine. Each worker may have few requests in flight and
each answer takes its time, so that waiting and not the machine is the limit: the speed-up is then
that of more machines. The figures are differences between two moments, when 15% and 85% of the
pages have been requested, so that start and end are left out.

    python -m benchmarks.workers
    python -m benchmarks.workers --workers 1 --workers 3 --latency 0.5
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from tests.support.fleet import PREFIX, Fleet
from tests.support.many_sites import ManySites, serve_sites
from tests.support.redis_server import RedisServer, serve_redis

SETTINGS = {
    "BILINGUAL_SCORER": "adaptive",
    "BILINGUAL_CHECKPOINT_SECONDS": 1.0,
    "BILINGUAL_LEASE_SECONDS": 30,
    "CONCURRENT_REQUESTS": 4,
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 2,
    "LOG_LEVEL": "WARNING",
}
FROM, TO = 0.15, 0.85


class Moment(NamedTuple):
    """The cost up to a moment."""

    time: float
    pages: int
    worker_cpu: float
    redis_cpu: float
    calls: int
    trips: int
    traffic: int


def moment(sites: ManySites, fleet: Fleet, redis: RedisServer) -> Moment:
    client = redis.client
    stats, cpu = client.info("stats"), client.info("cpu")
    scripts = client.info("commandstats").get("cmdstat_evalsha", {"calls": 0})
    processes = [psutil.Process(worker.pid) for worker in fleet.workers.values()]
    return Moment(
        time.perf_counter(),
        len(sites.pages()),
        sum(sum(process.cpu_times()[:2]) for process in processes),
        cpu["used_cpu_user"] + cpu["used_cpu_sys"],
        scripts["calls"],
        stats.get("total_reads_processed", 0),
        stats["total_net_input_bytes"] + stats["total_net_output_bytes"],
    )


def measure(workers: int, site_count: int, articles: int, latency: float) -> dict[str, float]:
    with (
        tempfile.TemporaryDirectory() as name,
        serve_sites(site_count, articles, latency) as sites,
        serve_redis() as redis,
    ):
        fleet = Fleet(Path(name) / "run", sites, redis, SETTINGS)
        try:
            for number in range(workers):
                fleet.start(f"worker-{number}")
            first, last = (wait_until(share, sites, fleet, redis) for share in (FROM, TO))
            fleet.wait(120)
        finally:
            fleet.end()
        memory = redis.client.info("memory")["used_memory"]
        known = int(redis.client.hget(f"{{{PREFIX}}}:counts", "known") or 0)
    pages, seconds = last.pages - first.pages, last.time - first.time
    return {
        "workers": workers,
        "pages": pages,
        "pages_a_second": pages / seconds,
        "worker_cpu_ms": 1000 * (last.worker_cpu - first.worker_cpu) / pages,
        "redis_cpu_ms": 1000 * (last.redis_cpu - first.redis_cpu) / pages,
        "scripts_a_page": (last.calls - first.calls) / pages,
        "trips_a_page": (last.trips - first.trips) / pages,
        "traffic_a_page": (last.traffic - first.traffic) / pages,
        "redis_bytes_a_url": memory / known,
    }


def wait_until(share: float, sites: ManySites, fleet: Fleet, redis: RedisServer) -> Moment:
    wanted, until = share * len(sites.urls), time.monotonic() + 300
    while len(sites.pages()) < wanted:
        if time.monotonic() > until:
            raise SystemExit("the crawl does not get on")
        time.sleep(0.1)
    return moment(sites, fleet, redis)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--workers", type=int, action="append")
    parser.add_argument("--sites", type=int, default=24)
    parser.add_argument("--articles", type=int, default=14, help="pairs of pages of each site")
    parser.add_argument("--latency", type=float, default=1.0, help="seconds of an answer")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = []
    print(
        "| workers | pages/s | relative | CPU of a worker, ms a page | CPU of Redis, ms a page"
        " | scripts a page | round trips a page | KB a page to and from Redis |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for workers in given.workers or [1, 2, 4]:
        row = measure(workers, given.sites, given.articles, given.latency)
        rows.append(row)
        print(
            f"| {workers} | {row['pages_a_second']:.1f}"
            f" | {row['pages_a_second'] / rows[0]['pages_a_second']:.2f}"
            f" | {row['worker_cpu_ms']:.1f} | {row['redis_cpu_ms']:.2f}"
            f" | {row['scripts_a_page']:.1f} | {row['trips_a_page']:.1f}"
            f" | {row['traffic_a_page'] / 1000:.1f} |",
            flush=True,
        )
    if given.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
