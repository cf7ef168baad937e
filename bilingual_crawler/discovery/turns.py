"""The two queues of Barbosa's frontier, and the scheduler that chooses between them.

Each queue has the order of its own classifier, and the two take turns: one hub, then one link to a
site. A queue that is empty gives up its turn. The paper has the two queues and the scheduler, and
does not say how the scheduler chooses; turns need no figure that compares links of one kind with
links of the other.
"""

from collections.abc import Callable
from heapq import heappop, heappush

from bilingual_crawler.discovery.learner import Queue

_OTHER = {Queue.BACKLINK: Queue.FORWARD, Queue.FORWARD: Queue.BACKLINK}


class TwoQueues:
    """Both queues: which link is next. Links that no longer wait are dropped when they come up."""

    def __init__(self) -> None:
        self._heaps: dict[Queue, list[tuple[float, int, int]]] = {queue: [] for queue in Queue}
        self._sequence = 0
        self._turn = Queue.BACKLINK

    def add(self, queue: Queue, fingerprint: int, chance: float) -> None:
        """Add a link, or add it again with a better chance; the first comes first among equals."""
        self._sequence += 1
        heappush(self._heaps[queue], (-chance, self._sequence, fingerprint))

    def took(self, queue: Queue) -> None:
        """Pass the turn, because a link of this queue was taken."""
        self._turn = _OTHER[queue]

    def head(self, is_waiting: Callable[[int], bool]) -> tuple[int, float] | None:
        """Return the next link and its chance; None if both queues are empty."""
        for queue in (self._turn, _OTHER[self._turn]):
            heap = self._heaps[queue]
            while heap and not is_waiting(heap[0][2]):
                heappop(heap)
            if heap:
                return heap[0][2], -heap[0][0]
        return None

    def clear(self) -> None:
        """Empty both queues, to fill them in a new order."""
        for heap in self._heaps.values():
            heap.clear()
