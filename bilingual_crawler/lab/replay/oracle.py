"""An oracle: a crawl that knows the gold pairs, but may only fetch what it has seen a link to.

Finding the best order is a hard problem (a Steiner tree), so the oracle is greedy: it goes for the
pair that takes the fewest further downloads, along a shortest path. Where several paths are equally
short, it takes the page that brings most pages of open pairs within one step. Every pair takes at
least two downloads, so an optimal order can save little more than the downloads spent on paths.
"""

import math
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

from bilingual_crawler.lab.replay.curve import Pair
from bilingual_crawler.lab.replay.graph import SiteGraph


def oracle_order(graph: SiteGraph, pairs: Sequence[Pair]) -> list[str]:
    """Return the downloads of the oracle, up to the one that completes the last pair."""
    return _Oracle(graph, pairs).order()


class _Oracle:
    """Works on page numbers, and keeps each page's distance in downloads from the fetched pages."""

    def __init__(self, graph: SiteGraph, pairs: Sequence[Pair]) -> None:
        self._names = list(graph.links)
        number = {name: at for at, name in enumerate(self._names)}
        self._links = [[number[each] for each in graph.links[name]] for name in self._names]
        self._targets = [set(targets) for targets in self._links]
        self._linked_from: list[list[int]] = [[] for _ in self._names]
        for page, targets in enumerate(self._links):
            for target in targets:
                self._linked_from[target].append(page)
        self._distance = [math.inf] * len(self._names)
        self._open = {
            (number[first], number[second])
            for first, second in pairs
            if first in number and second in number
        }
        self._wanted: defaultdict[int, set[tuple[int, int]]] = defaultdict(set)
        for pair in self._open:
            for page in pair:
                self._wanted[page].add(pair)
        self._come_nearer([number[seed] for seed in graph.seeds], 1)

    def order(self) -> list[str]:
        order = []
        while self._open:
            page = self._next()
            if page is None:
                break
            order.append(self._names[page])
            self._fetch(page)
        return order

    def _fetch(self, page: int) -> None:
        self._distance[page] = 0
        for pair in list(self._wanted.get(page, ())):
            if self._distance[pair[0]] == self._distance[pair[1]] == 0:
                self._open.discard(pair)
                for each in pair:
                    self._wanted[each].discard(pair)
        self._come_nearer(self._links[page], 1)

    def _come_nearer(self, pages: Iterable[int], distance: int) -> None:
        """Lower the distance of some pages, and of the pages that they lead to."""
        queue = deque((page, distance) for page in pages)
        while queue:
            page, distance = queue.popleft()
            if self._distance[page] > distance:
                self._distance[page] = distance
                queue.extend((target, distance + 1) for target in self._links[page])

    def _next(self) -> int | None:
        """Return the next page to fetch: the first on a shortest path to a nearest pair."""
        ways = [self._way(pair) for pair in self._open]
        least = min((cost for cost, _ in ways), default=math.inf)
        if least == math.inf:
            return None
        goals = {page for cost, pages in ways if cost == least for page in pages}
        steps = {step for goal in goals for step in self._first_steps(goal)}
        return min(steps, key=lambda page: (-self._opens(page), page))

    def _way(self, pair: tuple[int, int]) -> tuple[float, tuple[int, ...]]:
        """Return the downloads that a pair takes, and which page to go to first.

        The second page may be one step from the first, wherever it is now.
        """
        first, second = pair
        one, other = self._distance[first], self._distance[second]
        if not one or not other:
            return one + other, (first if one else second,)
        from_first = one + min(other, 1 if second in self._targets[first] else other)
        from_second = other + min(one, 1 if first in self._targets[second] else one)
        if from_first == from_second:
            return from_first, pair
        return (from_first, (first,)) if from_first < from_second else (from_second, (second,))

    def _first_steps(self, goal: int) -> set[int]:
        """Return the pages that can be fetched now and lie on a shortest path to a goal."""
        level = {goal}
        for distance in range(int(self._distance[goal]) - 1, 0, -1):
            level = {
                page
                for target in level
                for page in self._linked_from[target]
                if self._distance[page] == distance
            }
        return level

    def _opens(self, page: int) -> int:
        """Return how many pages of open pairs a page would bring within one step."""
        return sum(
            1
            for target in self._links[page]
            if self._distance[target] > 1 and self._wanted.get(target)
        )
