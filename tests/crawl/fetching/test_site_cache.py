"""What is kept of sites has a limit, and is fetched once for all who wait for it."""

import asyncio

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.threads import blockingCallFromThread

from bilingual_crawler.crawl.fetching.site_files import (
    ENTRY_BYTES,
    Kept,
    LeastRecentlyUsed,
    SiteCache,
)
from tests.support.fetching import running_reactor


def test_what_was_used_longest_ago_is_forgotten_first():
    kept: LeastRecentlyUsed[str, str] = LeastRecentlyUsed(3 * (ENTRY_BYTES + 10))
    for name in ("a", "b", "c"):
        kept.put(name, name.upper(), 10)
    assert kept.get("a") == "A"
    kept.put("d", "D", 10)
    assert [kept.get(name) for name in ("a", "b", "c", "d")] == ["A", None, "C", "D"]


def test_the_size_of_what_is_kept_has_a_limit():
    kept: LeastRecentlyUsed[str, bytes] = LeastRecentlyUsed(1_000_000)
    for number in range(100_000):
        kept.put(f"host{number}", b"", number % 7)
        assert kept.size <= 1_000_000
    assert len(kept) < 2_000


def test_a_value_that_is_put_again_counts_once():
    kept: LeastRecentlyUsed[str, int] = LeastRecentlyUsed(10_000)
    for _ in range(50):
        kept.put("a", 1, 100)
    assert (len(kept), kept.size) == (1, 100 + ENTRY_BYTES)


def in_the_reactor(coroutine):
    def run():
        return Deferred.fromFuture(asyncio.ensure_future(coroutine))

    return blockingCallFromThread(running_reactor(), run)


def fetcher(fetched, value, seconds=60.0):
    async def fetch():
        fetched.append(value)
        await asyncio.sleep(0)
        return Kept(value, 1, seconds)

    return fetch


def test_all_who_wait_share_one_fetch():
    fetched: list[int] = []

    async def ask():
        cache: SiteCache[str, int] = SiteCache(1_000)
        asking = (cache.get("site", fetcher(fetched, number)) for number in range(20))
        return await asyncio.gather(*asking)

    assert in_the_reactor(ask()) == [0] * 20
    assert fetched == [0]


def test_a_value_that_holds_no_longer_is_fetched_again():
    fetched: list[int] = []

    async def ask():
        cache: SiteCache[str, int] = SiteCache(1_000)
        await cache.get("site", fetcher(fetched, 1, seconds=0.0))
        return await cache.get("site", fetcher(fetched, 2))

    assert in_the_reactor(ask()) == 2
    assert fetched == [1, 2]


def test_a_fetch_that_fails_leaves_it_to_the_next_who_waits():
    fetched: list[int] = []

    async def fail():
        await asyncio.sleep(0)
        raise RuntimeError

    async def ask():
        cache: SiteCache[str, int] = SiteCache(1_000)
        asking = cache.get("site", fail), cache.get("site", fetcher(fetched, 1))
        return await asyncio.gather(*asking, return_exceptions=True)

    failure, value = in_the_reactor(ask())
    assert isinstance(failure, RuntimeError)
    assert (value, fetched) == (1, [1])


@pytest.mark.parametrize("size", [0, 10**9])
def test_the_last_value_is_kept_whatever_its_size(size):
    kept: LeastRecentlyUsed[str, int] = LeastRecentlyUsed(100)
    kept.put("a", 1, 5)
    kept.put("b", 2, size)
    assert (kept.get("a"), kept.get("b")) == (None, 2)
