"""The part of a recorded site that links lead to, and the best order in which to fetch it.

The graph is drawn under the rules that a crawl obeys. The number of reachable pages is the length
of every curve; the links between them are those that the oracle may follow.

The oracle is a crawl that knows the gold pairs, but may only fetch what it has seen a link to.
Finding the best order is a hard problem (a Steiner tree), so the oracle is greedy: it goes for the
pair that takes the fewest further downloads, along a shortest path. Where several paths are equally
short, it takes the page that brings most pages of open pairs within one step. Every pair takes at
least two downloads, so an optimal order can save little more than the downloads spent on paths.
"""

import math
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import urljoin

from protego import Protego
from scrapy.http import Headers

from bilingual_crawler.config.settings import Config
from bilingual_crawler.crawl.fetching import tdmrep
from bilingual_crawler.crawl.fetching.identity import ROBOT_NAME
from bilingual_crawler.crawl.fetching.limits import MAX_ROBOTS_TXT, looks_binary, objection_to
from bilingual_crawler.crawl.fetching.optouts import (
    CLOSED,
    forbids_links,
    opt_out_of,
    robots_directives,
)
from bilingual_crawler.crawl.fetching.robots import rules_for
from bilingual_crawler.crawl.scope import Scope
from bilingual_crawler.documents.document import Document
from bilingual_crawler.lab.replay.curve import Pair
from bilingual_crawler.lab.replay.recording import MOST_REDIRECTS
from bilingual_crawler.lab.replay.site import RecordedSite
from bilingual_crawler.languages import Languages
from bilingual_crawler.store.warc_reader import OK, RecordedResponse
from bilingual_crawler.urls.hosts import host_of


class SiteGraph(NamedTuple):
    """The pages that links lead to, in breadth-first order, and where their links lead."""

    seeds: tuple[str, ...]
    links: dict[str, tuple[str, ...]]

    @property
    def pages(self) -> int:
        """The number of reachable pages."""
        return len(self.links)


def draw_graph(
    site: RecordedSite, seeds: Iterable[str], scope: Scope, config: Config, pair: Languages
) -> SiteGraph:
    """Follow every link from the seeds, each page once."""
    return _Walk(site, scope, config, pair).walk(tuple(seeds))


class _Walk:
    def __init__(self, site: RecordedSite, scope: Scope, config: Config, pair: Languages) -> None:
        self._site = site
        self._recording = site.recording
        self._scope = scope
        self._config = config
        self._pair = pair
        self._robots: dict[str, Protego | None] = {}
        self._reserved: dict[str, tuple[tdmrep.ReservationRule, ...]] = {}

    def walk(self, seeds: tuple[str, ...]) -> SiteGraph:
        starts = tuple(page for seed in seeds if (page := self._page(seed, 0, is_seed=True)))
        links: dict[str, tuple[str, ...]] = dict.fromkeys(starts, ())
        queue = deque((page, 0) for page in links)
        while queue:
            page, depth = queue.popleft()
            targets = dict.fromkeys(
                target
                for url, step in self._links(page)
                if (target := self._page(url, depth + step)) is not None
            )
            links[page] = tuple(targets)
            for target in targets:
                if target not in links:
                    links[target] = ()
                    queue.append((target, depth + 1))
        return SiteGraph(starts, links)

    def _page(self, url: str, depth: int, *, is_seed: bool = False) -> str | None:
        """Return the page that a URL leads to through redirects, or None."""
        for _ in range(MOST_REDIRECTS + 1):
            if is_seed:
                self._scope.admit(host_of(url))
            if self._scope.refusal(url, depth) is not None or not self._may_fetch(url):
                return None
            if self._site.is_page(url):
                return self._recording.name_of(url)
            target = self._recording.redirect_of(url)
            if target is None:
                return None
            url = target
        return None

    def _links(self, page: str) -> list[tuple[str, int]]:
        """Return the targets of a page, each with the steps that a crawl adds to the depth."""
        answer = self._site.answer(page)
        if answer is None or not self._is_read(answer):
            return []
        refresh = self._site.refresh_of(page, answer)
        if refresh is not None and refresh in self._recording:
            return [(refresh, 0)]
        document = self._site.document(page, answer)
        if self._is_closed(document, answer):
            return []
        for alternate in document.alternates:
            self._admit_host(alternate.url, alternate.language)
        claimed = [each.url for each in document.alternates if each.url != page]
        return [(url, 1) for url in (*claimed, *(link.url for link in document.links))]

    def _is_read(self, answer: RecordedResponse) -> bool:
        headers = Headers({name: [value] for name, value in answer.headers})
        if objection_to(headers, self._config.media_types, 0) is not None:
            return False
        return not looks_binary(answer.body)

    def _admit_host(self, url: str, language: str | None) -> None:
        host = host_of(url)
        if self._config.follow_alternates and host and language in self._pair:
            self._scope.admit_host(host)

    def _is_closed(self, document: Document, answer: RecordedResponse) -> bool:
        tags = (value for name, value in answer.headers if name.lower() == b"x-robots-tag")
        robots = document.robots | robots_directives(tags)
        reserved = document.tdm_reservation or answer.header("tdm-reservation") == "1"
        honour = self._config.honour
        return opt_out_of(robots, reserved, honour) in CLOSED or forbids_links(robots, honour)

    def _may_fetch(self, url: str) -> bool:
        root = urljoin(url, "/")
        if root not in self._robots:
            self._robots[root] = robots_of(self._site, root)
            self._reserved[root] = _reserved(self._site.answer(urljoin(root, tdmrep.PATH)))
        robots = self._robots[root]
        if robots is not None and not robots.can_fetch(url, ROBOT_NAME):
            return False
        reserved = "tdm" in self._config.honour and tdmrep.is_reserved(url, self._reserved[root])
        return not reserved


def robots_of(site: RecordedSite, root: str) -> Protego | None:
    """Return the rules of the robots.txt at the root of a host; None if there is none."""
    answer = site.answer(urljoin(root, "robots.txt"))
    if answer is None or answer.status != OK:
        return None
    text = answer.body[:MAX_ROBOTS_TXT].decode("utf-8-sig", "ignore")
    return Protego.parse(rules_for(ROBOT_NAME, text))


def _reserved(answer: RecordedResponse | None) -> tuple[tdmrep.ReservationRule, ...]:
    if answer is None or answer.status != OK:
        return ()
    try:
        return tdmrep.read_rules(answer.body)
    except tdmrep.UnreadableError:
        return tdmrep.EVERYTHING


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
