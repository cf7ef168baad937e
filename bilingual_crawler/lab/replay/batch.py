"""Several replays at once, in processes that make the same choices in every run.

Python hashes text differently in each process, so sets have another order. The processes that
replay are therefore started with a fixed hash seed.
"""

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing.sharedctypes import Synchronized
from typing import Any

from scrapy.settings import Settings

from bilingual_crawler.config.settings import SCORERS
from bilingual_crawler.crawl.wiring import COMPONENTS, SCHEDULER
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.replay.measure import Job, Measured, measure

LOOK_SECONDS = 0.2
HASH_SEED = "PYTHONHASHSEED"
_counter: "Synchronized[int] | None" = None


def replay_all(
    jobs: Sequence[Job],
    *,
    processes: int = 1,
    seed: int = 0,
    progress: Callable[[int], None] = lambda _: None,
) -> Iterator[Measured | ConfigurationError]:
    """Yield the result of each job, in order, or the error of a site that cannot be replayed.

    `progress` is called from time to time with the number of finished crawls.
    """
    context = multiprocessing.get_context("spawn")
    counter = context.Value("i", 0)
    at_once = max(1, processes // len(jobs))
    with (
        _hash_seed(seed),
        ProcessPoolExecutor(
            min(processes, len(jobs)), context, initializer=_prepare, initargs=(counter,)
        ) as pool,
    ):
        futures = [pool.submit(_measure, job, at_once) for job in jobs]
        try:
            for future in futures:
                _wait_for(future, lambda: progress(counter.value))
                yield _result(future)
        finally:
            for future in futures:
                future.cancel()


def _wait_for(future: "Future[Measured]", look: Callable[[], None]) -> None:
    while not wait([future], LOOK_SECONDS, FIRST_COMPLETED).done:
        look()
    look()


def _result(future: "Future[Measured]") -> Measured | ConfigurationError:
    try:
        return future.result()
    except ConfigurationError as error:
        return error
    except BrokenProcessPool:
        return ConfigurationError("A process of the replay was killed: is there enough memory?")


@contextmanager
def _hash_seed(seed: int) -> Iterator[None]:
    """Give the processes that are started in the block this hash seed."""
    before = os.environ.get(HASH_SEED)
    os.environ[HASH_SEED] = str(seed)
    try:
        yield
    finally:
        if before is None:
            del os.environ[HASH_SEED]
        else:
            os.environ[HASH_SEED] = before


def _prepare(counter: "Synchronized[int]") -> None:
    """Import everything that a crawl needs once; its processes are forked from this one."""
    global _counter  # noqa: PLW0603 - a pool process has no other place for it
    _counter = counter
    for path in sorted(_components()):
        with suppress(ImportError):  # the crawl that needs it reports it
            import_module(path.rpartition(".")[0])


def _components() -> set[str]:
    found: set[Any] = {SCHEDULER, "twisted.internet.asyncioreactor.AsyncioSelectorReactor"}
    usual = Settings()
    for name, ours in COMPONENTS.items():
        found |= {*usual.get(f"{name}_BASE", {}), *ours, *ours.values()}
    found |= set(SCORERS.values())
    return {path for path in found if isinstance(path, str) and "." in path}


def _measure(job: Job, at_once: int) -> Measured:
    if job.simulate:
        from bilingual_crawler.lab.simulation.measure import simulate  # noqa: PLC0415 - imports us

        return simulate(job, _count)
    return measure(job, at_once, _count)


def _count() -> None:
    if _counter is not None:
        with _counter.get_lock():
            _counter.value += 1
