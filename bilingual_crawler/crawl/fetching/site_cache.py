"""What is known of sites, within bounds: fetched once for all who need it, then kept for a while.

A crawl may see a hundred thousand hosts, and each may send as much as it is allowed to. So what
is kept has a size, the total has a limit, and what has not been used for longest goes first. It
is fetched again when it is needed again, through the host's slot and its delay like any request.
"""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

FRESH_SECONDS = 24 * 3600.0
"""How long a file about a site holds (RFC 9309, section 2.4)."""
ASK_AGAIN_SECONDS = 5.0
"""How long it holds that a file cannot be had."""
ENTRY_BYTES = 500
"""What an entry takes beside its content."""

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Kept(NamedTuple, Generic[Value]):
    """A value with the bytes that it takes, and how many seconds it holds."""

    value: Value
    size: int
    seconds: float = FRESH_SECONDS


class LeastRecentlyUsed(Generic[Key, Value]):
    """A mapping that forgets what was used longest ago when it takes more than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._entries: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self.size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> Value | None:
        """The value of a key, which is the last to be forgotten now; None if there is none."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: Key, value: Value, size: int) -> None:
        """Keep a value of `size` bytes, and forget others if that is too much."""
        self.forget(key)
        self._entries[key] = value, size + ENTRY_BYTES
        self.size += size + ENTRY_BYTES
        while self.size > self._limit and len(self._entries) > 1:
            self.forget(next(iter(self._entries)))

    def forget(self, key: Key) -> None:
        """Forget a key, if it is known."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.size -= entry[1]


class SiteCache(Generic[Key, Value]):
    """Values that are fetched when they are first needed; all who need one wait for one fetch."""

    def __init__(self, limit: int) -> None:
        self._kept: LeastRecentlyUsed[Key, tuple[Value, float]] = LeastRecentlyUsed(limit)
        self._coming: dict[Key, Deferred[None]] = {}

    async def get(self, key: Key, fetch: Callable[[], Awaitable[Kept[Value]]]) -> Value:
        """The value of a key, kept from before or fetched now.

        A fetch that raises does so for its own caller; the next of those who wait tries again.
        """
        while key in self._coming:
            await maybe_deferred_to_future(self._coming[key])
        known = self._kept.get(key)
        if known is not None and time.monotonic() < known[1]:
            return known[0]
        arrival = self._coming[key] = Deferred()
        try:
            value, size, seconds = await fetch()
            self._kept.put(key, (value, time.monotonic() + seconds), size)
        finally:
            del self._coming[key]
            arrival.callback(None)
        return value
