"""The frontier in memory: one heap of URLs per host, and a heap of hosts.

Scrapy's queues cannot do this: they drop a URL that is found again at a better priority, slow
down with many distinct priorities, and fill the downloader's first-in-first-out slots. Here a
push or pop costs O(log n). Entries that ended or changed their priority leave stale tuples in the
heaps, which are skipped when they come up, or removed when they are the greater part of a heap.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush

from bilingual_crawler.frontier.entry import Entry, HostGate, Pushed, State

HeapKey = tuple[float, int, int]
STALE_LOOKED_AT = 100
"""Stale tuples that `top` may skip per URL."""
MOST_PAYLOADS = 1_000
"""Payloads to keep so that URLs with equal ones share them."""
FEW = 64
"""Stale tuples that are not worth removing."""


class _Host:
    """The waiting URLs of a host, and whether they may be sent."""

    __slots__ = ("active", "heap", "name", "parked", "queued", "shelved")

    def __init__(self, name: str) -> None:
        self.name = name
        self.heap: list[HeapKey] = []
        self.queued = 0
        self.active = 0
        self.parked = False
        self.shelved = False


def always_open(_host: str, _active: int, now: float) -> float:
    """Let everything pass: a gate for tests and benchmarks."""
    return now


class MemoryFrontier:
    """The order of a crawl; `frontier.journaled` makes it durable."""

    def __init__(self, gate: HostGate = always_open) -> None:
        self._gate = gate
        self._entries: dict[int, Entry] = {}
        self._ended: dict[int, tuple[State, str]] = {}
        self._ways_to_end: dict[tuple[State, str], tuple[State, str]] = {}
        self._hosts: dict[str, _Host] = {}
        self._payloads: dict[bytes, bytes] = {}
        self._ready: list[tuple[float, int, str]] = []
        self._waiting: list[tuple[float, str]] = []
        self._delayed: list[tuple[float, int, int]] = []
        self._sequence = 0
        self._queued = 0
        self.outcomes: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._queued

    def __contains__(self, fingerprint: int) -> bool:
        return fingerprint in self._entries or fingerprint in self._ended

    @property
    def known(self) -> int:
        """The number of URLs that were ever pushed."""
        return len(self._entries) + len(self._ended)

    @property
    def hosts(self) -> list[str]:
        """Every host that has or had a waiting URL."""
        return list(self._hosts)

    def state_of(self, fingerprint: int) -> State | None:
        """Return the state of a URL; None if it was never pushed."""
        entry = self._entries.get(fingerprint)
        if entry is not None:
            return entry.state
        ended = self._ended.get(fingerprint)
        return None if ended is None else ended[0]

    def push(
        self,
        fingerprint: int,
        url: str,
        host: str,
        priority: float,
        payload: bytes | None = None,
        *,
        again: bool = False,
    ) -> Pushed:
        """Insert a URL, or raise its priority if it is queued at a lower one."""
        entry = self._entries.get(fingerprint)
        if entry is not None:
            return Pushed.RAISED if self.raise_priority(fingerprint, priority) else Pushed.KNOWN
        if fingerprint in self._ended:
            if not again:
                return Pushed.KNOWN
            self.outcomes -= Counter((self._ended.pop(fingerprint)[1],))
        self._sequence += 1
        known = self._hosts.get(host)
        name = host if known is None else known.name  # one string per host, not per URL
        entry = Entry(fingerprint, url, name, priority, self._sequence, self._share(payload))
        self._entries[fingerprint] = entry
        self._enqueue(entry)
        return Pushed.NEW

    def _share(self, payload: bytes | None) -> bytes | None:
        """Return the equal payload of an earlier URL, if any: most contain only the depth."""
        if payload is None:
            return None
        if len(self._payloads) < MOST_PAYLOADS:
            return self._payloads.setdefault(payload, payload)
        return self._payloads.get(payload, payload)

    def raise_priority(self, fingerprint: int, priority: float) -> bool:
        """Raise the priority of a queued URL; return True if it was lower."""
        entry = self._entries.get(fingerprint)
        if entry is None or priority <= entry.priority:
            return False
        return self.set_priority(fingerprint, priority)

    def set_priority(self, fingerprint: int, priority: float) -> bool:
        """Set the priority of a queued URL; return True if that changed anything."""
        entry = self._entries.get(fingerprint)
        if entry is None or entry.state is not State.QUEUED or priority == entry.priority:
            return False
        entry.priority = priority
        if not entry.ready_at:
            host = self._hosts[entry.host]
            self._sweep_out(host)
            self._offer(host, entry)
        return True

    def pop(self, now: float) -> Entry | None:
        """Lease the best URL that may be sent now."""
        self._release(now)
        while self._ready:
            priority, sequence, name = heappop(self._ready)
            host = self._hosts[name]
            head = None if host.parked or host.shelved else self._head(host)
            if head is None or head[1] != sequence or head[0] != priority:
                continue
            open_at = self._gate(name, host.active, now)
            if open_at is None:
                self._shelve(host)
                continue
            if open_at > now:
                host.parked = True
                if open_at != math.inf:
                    heappush(self._waiting, (open_at, name))
                continue
            return self._lease(host)
        return None

    def end(self, fingerprint: int, state: State, outcome: str) -> None:
        """End a leased URL, which is done or has failed; `outcome` is a word for how."""
        self._note_end(fingerprint, state, outcome)  # first, so that no thread finds it unknown
        self._leave(self._entries.pop(fingerprint))

    def _note_end(self, fingerprint: int, state: State, outcome: str) -> None:
        end = (state, outcome)
        self._ended[fingerprint] = self._ways_to_end.setdefault(end, end)  # one tuple per outcome
        self.outcomes[outcome] += 1

    def retry(self, fingerprint: int, ready_at: float, payload: bytes | None) -> None:
        """Put a leased URL back into the queue, not to be sent before `ready_at`."""
        entry = self._entries[fingerprint]
        entry.state = State.QUEUED
        entry.attempts += 1
        entry.payload = payload
        self._leave(entry)
        self._delay(entry, ready_at)

    def recheck(self, host: str) -> None:
        """Ask the gate again about a host that it had closed without a time."""
        known = self._hosts.get(host)
        if known is not None and known.parked:
            self._unpark(known)

    @property
    def shelved(self) -> int:
        """The number of URLs that wait for a run with a larger budget."""
        return sum(host.queued for host in self._hosts.values() if host.shelved)

    def wake_at(self) -> float | None:
        """Return the next time at which `pop` may have a URL; None if unknown."""
        times = [heap[0][0] for heap in (self._waiting, self._delayed) if heap]
        return min(times, default=None)

    def top(self, most: int) -> list[Entry]:
        """Return the best waiting URLs, for display, whether or not their hosts are free.

        The heaps are walked from the top, so the cost depends on the hosts, not on the queue.
        """
        heaps = [host.heap for host in self._hosts.values() if host.heap and not host.shelved]
        steps = [(heap[0], number, 0) for number, heap in enumerate(heaps)]
        heapify(steps)
        best: dict[int, Entry] = {}
        for _ in range(len(heaps) + STALE_LOOKED_AT * most):
            if not steps or len(best) == most:
                break
            key, number, place = heappop(steps)
            for child in (2 * place + 1, 2 * place + 2):
                if child < len(heaps[number]):
                    heappush(steps, (heaps[number][child], number, child))
            if self._is_true(key):
                best.setdefault(key[2], self._entries[key[2]])
        return list(best.values())

    def queued(self) -> Iterator[Entry]:
        """Return every waiting URL, in no order."""
        return (entry for entry in self._entries.values() if entry.state is State.QUEUED)

    def prefetch(self, urls: Iterable[tuple[int, str]]) -> None:
        """Do nothing: everything is known here."""

    def pending(self) -> bool:
        """Return True if there is anything to hand out, now or later."""
        return self._queued > 0

    def _shelve(self, host: _Host) -> None:
        """Send nothing more to a host in this run; its URLs stay queued for the next."""
        host.shelved = True
        self._queued -= host.queued

    def _enqueue(self, entry: Entry) -> None:
        self._offer(self._count_in(entry), entry)

    def _delay(self, entry: Entry, ready_at: float) -> None:
        """Queue an entry, but keep it out of the heaps until `ready_at`."""
        entry.ready_at = ready_at
        self._count_in(entry)
        heappush(self._delayed, (ready_at, entry.sequence, entry.fingerprint))

    def _count_in(self, entry: Entry) -> _Host:
        host = self._hosts.get(entry.host)
        if host is None:
            host = self._hosts[entry.host] = _Host(entry.host)
        host.queued += 1
        if not host.shelved:
            self._queued += 1
        return host

    def _offer(self, host: _Host, entry: Entry) -> None:
        key = (-entry.priority, entry.sequence, entry.fingerprint)
        heappush(host.heap, key)
        if host.heap[0] is key:
            self._announce(host)

    def _announce(self, host: _Host) -> None:
        """Put the best URL of a host into the heap of hosts, unless the host is parked.

        The top of the heap of every open host, true or stale, is in there.
        """
        if host.parked:
            return
        priority, sequence, _ = host.heap[0]
        heappush(self._ready, (priority, sequence, host.name))
        if len(self._ready) > FEW + 4 * len(self._hosts):
            self._ready = [each for each in set(self._ready) if self._is_top(each)]
            heapify(self._ready)

    def _is_top(self, offer: tuple[float, int, str]) -> bool:
        host = self._hosts[offer[2]]
        return not host.parked and bool(host.heap) and host.heap[0][:2] == offer[:2]

    def _head(self, host: _Host) -> HeapKey | None:
        """Return the best tuple of a host that is still true; drop the stale ones above it.

        Dropping may uncover another head, which must go into the heap of hosts.
        """
        heap = host.heap
        uncovered = False
        while heap:
            head = heap[0]
            if self._is_true(head):
                if uncovered:
                    self._announce(host)
                return head
            heappop(heap)
            uncovered = True
        return None

    def _is_true(self, key: HeapKey) -> bool:
        """Return True if a tuple still has the priority of a waiting URL."""
        entry = self._entries.get(key[2])
        return (
            entry is not None
            and entry.state is State.QUEUED
            and entry.sequence == key[1]
            and entry.priority == -key[0]
            and not entry.ready_at
        )

    def _sweep_out(self, host: _Host) -> None:
        """Remove the stale tuples from a heap if they outnumber the others.

        Priorities may change more often than URLs are fetched; the old tuple of a lowered URL
        comes up soon, that of a raised one perhaps never.
        """
        if len(host.heap) > FEW + 2 * host.queued:
            host.heap = [key for key in set(host.heap) if self._is_true(key)]
            heapify(host.heap)
            if host.heap:
                self._announce(host)

    def _lease(self, host: _Host) -> Entry:
        entry = self._entries[heappop(host.heap)[2]]
        entry.state = State.LEASED
        host.active += 1
        host.queued -= 1
        self._queued -= 1
        if self._head(host) is not None:
            self._announce(host)
        return entry

    def _leave(self, entry: Entry) -> None:
        host = self._hosts[entry.host]
        host.active -= 1
        if host.parked:
            self._unpark(host)

    def _unpark(self, host: _Host) -> None:
        host.parked = False
        if self._head(host) is not None:
            self._announce(host)

    def _release(self, now: float) -> None:
        """Put hosts and URLs whose time has come back into the heaps."""
        while self._waiting and self._waiting[0][0] <= now:
            self.recheck(heappop(self._waiting)[1])
        while self._delayed and self._delayed[0][0] <= now:
            ready_at, _, fingerprint = heappop(self._delayed)
            entry = self._entries.get(fingerprint)
            if entry is not None and entry.ready_at == ready_at:
                entry.ready_at = 0.0
                self._offer(self._hosts[entry.host], entry)
