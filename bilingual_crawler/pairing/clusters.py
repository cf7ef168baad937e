"""Clusters: the versions of one page in several languages, at most one per language.

Every two nodes that were compared have a probability. Two clusters are joined along their strongest
link if all links between them together speak for it, as log-odds; so a link that is weak by itself
(Basque and Spanish, say) is made by two strong ones through English, and a wrong one is outvoted by
the others. Links that nobody has weighed are weighed before a decision.

Log-odds are bounded. The model misses about one true pair in ten, so that a low probability is no
proof against; it is seldom wrong about a high one.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from math import log
from typing import NamedTuple

from bilingual_crawler.pairing.choice import Nodes, both_of
from bilingual_crawler.pairing.edges import Edge
from bilingual_crawler.pairing.model import probability
from bilingual_crawler.pairing.one_to_one import ACCEPT
from bilingual_crawler.pairing.weighing import PairWeight

AGAINST, FOR = -2.0, 5.0
"""The bounds of the log-odds of a link."""
THIN = 1.0
"""The most that counterparts without translated content count for a cluster."""
STRANGERS = -1.0
"""The log-odds of two pages that cannot be compared."""
DETECTOR = "cluster"
"""What the evidence is called that versions in further languages add."""

Judged = tuple[str, str, Edge]
Link = Callable[[str, str], Edge | None]
Weigh = Callable[[str, str], PairWeight | None]


class ClusterMaker:
    """Makes clusters of nodes from judged edges.

    `link` returns the edge between any two nodes, and `weigh` the evidence for two URLs.
    """

    def __init__(self, language_of: Callable[[str], str], link: Link, weigh: Weigh) -> None:
        self._language_of = language_of
        self._link = link
        self._weigh = weigh
        self._cluster: dict[str, dict[str, str]] = {}
        """The cluster of each node that is in one: its nodes by language."""
        self._direct: dict[Nodes, float] = {}
        """The log-odds of every two nodes of a cluster, without what further versions add."""

    def make(self, judged: Iterable[Judged]) -> None:
        """Join nodes, beginning with the likeliest links."""
        likely = [each for each in judged if each[2].probability >= ACCEPT]
        for node, other, _ in sorted(likely, key=lambda each: each[2].rank, reverse=True):
            one, two = self._of(node), self._of(other)
            if one is not two and one.keys().isdisjoint(two) and self._agree(one, two):
                one |= two
                for each in two.values():
                    self._cluster[each] = one
        for cluster in self._clusters():
            self._use_one_address(cluster)
            for node, other in combinations(cluster.values(), 2):
                self._direct[both_of(node, other)] = self._odds(node, other)

    def settle(self, edges: Iterable[Judged], look_inside: Callable[[Edge], None]) -> None:
        """Raise the edges within clusters by what further versions add; outvote all others."""
        for node, other, edge in edges:
            cluster = self._cluster.get(node)
            if cluster is None or self._cluster.get(other) is not cluster:
                edge.outvoted = True
                continue
            self._add_support(cluster, node, other, edge)
            if edge.refused is None and edge.probability >= ACCEPT:
                look_inside(edge)

    def _of(self, node: str) -> dict[str, str]:
        cluster = self._cluster.get(node)
        if cluster is None:
            cluster = self._cluster[node] = {self._language_of(node): node}
        return cluster

    def _clusters(self) -> Iterator[dict[str, str]]:
        """Yield every cluster of two or more nodes."""
        distinct = {id(each): each for each in self._cluster.values()}
        return (each for each in distinct.values() if len(each) > 1)

    def _agree(self, one: dict[str, str], two: dict[str, str]) -> bool:
        """Return True if the links between two clusters together speak for one."""
        return sum(self._odds(a, b) for a in one.values() for b in two.values()) > 0

    def _odds(self, node: str, other: str) -> float:
        edge = self._link(node, other)
        return STRANGERS if edge is None else odds_of(edge)

    def _use_one_address(self, cluster: dict[str, str]) -> None:
        """Let each node with several addresses be at one of them in all of its links."""
        links = [
            edge
            for node, other in combinations(cluster.values(), 2)
            if (edge := self._link(node, other)) is not None
        ]
        if len(links) < 2:  # noqa: PLR2004 - one link has no other to differ from
            return
        links.sort(key=lambda edge: edge.rank, reverse=True)
        address: dict[str, str] = {}
        for edge in links:
            for url in edge.verdict.urls:
                address.setdefault(self._language_of(url), url)
        for edge in links:
            first, second = (address[self._language_of(url)] for url in edge.verdict.urls)
            if edge.verdict.urls != (first, second):
                edge.verdict = self._weigh(first, second) or edge.verdict

    def _add_support(self, cluster: dict[str, str], node: str, other: str, edge: Edge) -> None:
        ways = list(self._ways(cluster, node, other))
        if not ways:
            return
        odds = odds_of(edge) + sum(way.odds for way in ways)
        chance = probability(min(FOR, odds))
        if chance <= edge.probability:
            return
        through = ", ".join(way.language for way in ways)
        plural = "s" if len(ways) > 1 else ""
        why = f"both are translations of the version{plural} in {through}"
        edge.support = ((DETECTOR, round(chance, 3), why),)
        edge.probability = chance

    def _ways(self, cluster: dict[str, str], node: str, other: str) -> Iterator["_Way"]:
        """Yield the languages through which two nodes of a cluster are linked."""
        for language, third in cluster.items():
            if third in (node, other):
                continue
            odds = min(self._direct[both_of(node, third)], self._direct[both_of(third, other)])
            if odds > 0:
                yield _Way(language, odds)


class _Way(NamedTuple):
    """A version in a third language that two versions are both linked with."""

    language: str
    odds: float


def odds_of(edge: Edge) -> float:
    """Return the bounded log-odds of a link."""
    chance = min(max(edge.probability, 1e-6), 1 - 1e-6)
    odds = min(max(log(chance / (1 - chance)), AGAINST), FOR)
    return min(odds, THIN) if edge.refused else odds
