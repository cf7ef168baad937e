"""How far one Redis carries a crawl: simulated up to 1,000 workers and a billion URLs.

A thousand machines are not at hand, but the cost of a page for a worker and for the server can be
measured with few (`benchmarks.workers`, `benchmarks.redis_frontier`, `benchmarks.merging`; the
constants below are from there). A simulated worker works on a page, then asks Redis and waits for
the answer, again and again; Redis answers one request at a time, in order of arrival. That is what
the real ones do. The simulation goes event by event; beside it is the exact solution of the same
queue with random times (mean value analysis), which must nearly agree, or the simulation is wrong.

    python -m benchmarks.scaling_model
    python -m benchmarks.scaling_model --plot docs/images/scaling.png
    python -m benchmarks.scaling_model --page-cpu 0.0109 --redis-cpu 0.00068
"""

import argparse
from heapq import heapify, heapreplace
from pathlib import Path
from random import Random
from typing import NamedTuple

WORKERS = (1, 4, 16, 64, 128, 256, 512, 1000)
SERVERS = (1, 8, 64)
PAGES_EACH = 300
BILLION = 10**9
GIGABYTE = 1e9
DAY = 86_400


class Constants(NamedTuple):
    """What was measured on two shared cores; seconds and bytes."""

    page_cpu: float = 0.0081
    """CPU time of a worker per page (benchmarks.workers)."""
    trips: float = 1.9
    """Round trips per page (benchmarks.workers)."""
    redis_cpu: float = 0.00046
    """CPU time of Redis per page (benchmarks.workers, without its idling)."""
    network: float = 0.0005
    """A round trip within a data centre, without the work of Redis; assumed."""
    waiting_bytes: float = 267.0
    """Memory of Redis per waiting URL (benchmarks.redis_frontier)."""
    ended_bytes: float = 80.0
    """Memory of Redis per finished URL (benchmarks.redis_frontier)."""
    merge_cpu: float = 0.00147
    """CPU time of scrapy merge per page (benchmarks.merging)."""
    merge_bytes: float = 10_900.0
    """Memory of scrapy merge per page (benchmarks.merging)."""
    delay: float = 1.0
    """Seconds between two requests to a host (DOWNLOAD_DELAY)."""


class Load(NamedTuple):
    """The throughput of some number of workers."""

    pages_a_second: float
    redis_busy: float
    wait: float
    """Seconds that a worker waits for Redis per page."""


def simulate(workers: int, known: Constants, servers: int = 1, seed: int = 1) -> Load:
    """Simulate every request of every worker, in the order in which they reach a server.

    Each server has its share of the sites and of the workers. Work on a page takes the measured
    mean, plus or minus up to half, so that the workers do not run in lockstep.
    """
    random = Random(seed)
    answer = known.redis_cpu / known.trips
    think = known.page_cpu / known.trips
    each = max(1, workers // servers)
    asking = [(random.random() * think, worker) for worker in range(each)]
    heapify(asking)
    free_at = waited = now = 0.0
    questions = int(each * PAGES_EACH * known.trips)
    for _ in range(questions):
        now, worker = asking[0]
        free_at = max(now + known.network / 2, free_at) + answer
        back = free_at + known.network / 2
        waited += back - now
        heapreplace(asking, (back + think * random.uniform(0.5, 1.5), worker))
    pages = questions / known.trips
    rate = pages / now * workers / each
    return Load(rate, min(1.0, questions * answer / now), waited / pages)


def solve(workers: int, known: Constants) -> float:
    """Return the exact pages per second of the same queue with random times (MVA)."""
    answer = known.redis_cpu / known.trips
    outside = known.page_cpu / known.trips + known.network
    queue = rate = 0.0
    for number in range(1, workers + 1):
        stay = answer * (1 + queue)
        rate = number / (outside + stay)
        queue = rate * stay
    return rate / known.trips


def most_useful(known: Constants) -> float:
    """Return how many workers keep one Redis busy if none ever waits for another."""
    alone = known.page_cpu + known.trips * known.network + known.redis_cpu
    return alone / known.redis_cpu


def print_workers(known: Constants) -> None:
    """Print the throughput of one Redis with more and more workers."""
    print("| workers | pages/s | of what they could | exact queue | Redis busy | wait, ms a page |")
    print("|---:|---:|---:|---:|---:|---:|")
    alone = simulate(1, known).pages_a_second
    for workers in WORKERS:
        load = simulate(workers, known)
        print(
            f"| {workers:,} | {load.pages_a_second:,.0f}"
            f" | {load.pages_a_second / (alone * workers):.0%} | {solve(workers, known):,.0f}"
            f" | {load.redis_busy:.0%} | {1000 * load.wait:.1f} |"
        )


def print_billion(known: Constants) -> None:
    """Print a thousand workers with a billion URLs on one server and on several."""
    workers = WORKERS[-1]
    print(
        "| Redis servers | pages/s | days for a billion pages | memory of each at the end, GB"
        " | and if half of the URLs wait, GB | hosts needed |"
    )
    print("|---:|---:|---:|---:|---:|---:|")
    for servers in SERVERS:
        load = simulate(workers, known, servers)
        ended = BILLION * known.ended_bytes / servers / GIGABYTE
        half = (ended + BILLION * known.waiting_bytes / servers / GIGABYTE) / 2
        print(
            f"| {servers} | {load.pages_a_second:,.0f}"
            f" | {BILLION / load.pages_a_second / DAY:.1f} | {ended:,.0f} | {half:,.0f}"
            f" | {load.pages_a_second * known.delay:,.0f} |"
        )


def print_merge(known: Constants) -> None:
    """Print the cost of one merge."""
    print("| pages in one merge | hours of one core | memory, GB |")
    print("|---:|---:|---:|")
    for pages in (10**6, 10**7, 10**8, BILLION):
        hours, memory = pages * known.merge_cpu / 3600, pages * known.merge_bytes / GIGABYTE
        print(f"| {pages:,} | {hours:,.1f} | {memory:,.0f} |")


def plot(known: Constants, path: Path) -> None:
    """Plot pages per second over workers, for one server and for several."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - heavy
    from matplotlib.figure import Figure  # noqa: PLC0415 - heavy

    figure = Figure(figsize=(7, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    alone = simulate(1, known).pages_a_second
    axes.plot(WORKERS, [alone * each for each in WORKERS], "k:", label="if nobody waited")
    for servers in SERVERS:
        used = [each for each in WORKERS if each >= servers]
        rates = [simulate(each, known, servers).pages_a_second for each in used]
        axes.plot(used, rates, "o-", label=f"{servers} Redis server{'s' * (servers > 1)}")
    axes.set(xscale="log", yscale="log", xlabel="workers", ylabel="pages a second")
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--plot", type=Path, metavar="FILE")
    usual = Constants()
    parser.add_argument("--page-cpu", type=float, default=usual.page_cpu, metavar="SECONDS")
    parser.add_argument("--redis-cpu", type=float, default=usual.redis_cpu, metavar="SECONDS")
    given = parser.parse_args()
    known = usual._replace(page_cpu=given.page_cpu, redis_cpu=given.redis_cpu)
    for name, value in known._asdict().items():
        print(f"{name} = {value:g}")
    print(f"\nOne Redis is busy with {most_useful(known):.0f} workers.\n")
    for table in (print_workers, print_billion, print_merge):
        table(known)
        print()
    if given.plot:
        plot(known, given.plot)


if __name__ == "__main__":
    main()
