"""A look at the URLs that wait, for people: the best few, and what languages they announce."""

from collections import Counter
from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import islice

from bilingual_crawler.frontier.entry import Entry, State
from bilingual_crawler.frontier.memory import MemoryFrontier
from bilingual_crawler.reporting.counts import LOOKED_AT
from bilingual_crawler.scoring.url_language import announced_languages


def best_waiting(frontier: MemoryFrontier, most: int) -> list[Entry]:
    """The URLs that come next, whether or not their hosts are free.

    The heaps are walked from the top, so it costs the hosts and the few, not the queue.
    """
    heaps = [host.heap for host in frontier._hosts.values() if host.heap and not host.shelved]  # noqa: SLF001 - a reader of the frontier's own heaps
    steps = [(heap[0], number, 0) for number, heap in enumerate(heaps)]
    heapify(steps)
    best: dict[int, Entry] = {}
    for _ in range(len(heaps) + 100 * most):
        if not steps or len(best) == most:
            break
        (_, _, fingerprint), number, place = heappop(steps)
        for child in (2 * place + 1, 2 * place + 2):
            if child < len(heaps[number]):
                heappush(steps, (heaps[number][child], number, child))
        entry = frontier._entries.get(fingerprint)  # noqa: SLF001 - as above
        if entry is not None and entry.state is State.QUEUED:
            best.setdefault(fingerprint, entry)
    return list(best.values())


def announced(frontier: MemoryFrontier) -> Counter[str]:
    """How many waiting URLs look like which language, as far as their addresses tell."""
    languages: Counter[str] = Counter()
    for entry in islice(_queued(frontier), LOOKED_AT):
        languages.update(announced_languages(entry.url))
    return languages


def _queued(frontier: MemoryFrontier) -> Iterator[Entry]:
    entries = frontier._entries.values()  # noqa: SLF001 - nothing public lists them
    return (entry for entry in entries if entry.state is State.QUEUED)
