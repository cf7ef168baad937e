"""The candidates of every node: evidence for two nodes, and how it compares with their rivals.

A node is a page, or several pages with the same content. Two nodes that were weighed are joined by
an edge, under the two of their URLs that have most evidence. A node also remembers its two most
similar candidates, because a pair is the surer the more it leads over every other.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from bilingual_crawler.pairing.one_to_one import ACCEPT, Rank, rank_of
from bilingual_crawler.pairing.weighing import PairWeight

OWN_SECTION = 1.0
"""What the address of a copy in the section of its own language counts more than evidence."""


class Edge:
    """The evidence for two nodes, under the two of their URLs that have most of it."""

    __slots__ = (
        "learned", "model", "outvoted", "probability", "refused", "support", "translated_share",
        "verdict",
    )  # fmt: skip

    def __init__(self, verdict: PairWeight) -> None:
        self.verdict = verdict
        self.probability = 0.0
        self.model: float | None = None
        self.learned: float | None = None
        """What the lexicon added; None if it was not asked."""
        self.refused: str | None = None
        """Why the two are no pair, "" if they are one; None until somebody has asked."""
        self.translated_share: float | None = None
        self.outvoted = False
        """True if the versions of other pages in further languages speak against it."""
        self.support: tuple[tuple[str, float, str], ...] = ()
        """What versions in further languages add: detector, score and reason, as `Evidence`."""

    @property
    def rank(self) -> Rank:
        """Return the rank; whatever is refused comes after everything else."""
        if self.outvoted:
            return rank_of(self.verdict.urls, 0.0)
        if self.probability < ACCEPT or self.refused:
            return rank_of(self.verdict.urls, self.probability)
        return rank_of(self.verdict.urls, 1.0 + self.probability)

    def improve(self, verdict: PairWeight) -> bool:
        """Take other evidence for the same nodes if it is stronger; return True if it was."""
        known = self.verdict
        is_better = verdict.urls == known.urls or _strength(verdict) > _strength(known)
        if not is_better or verdict == known:
            return False
        self.verdict, self.learned = verdict, None
        return True


def _strength(verdict: PairWeight) -> tuple[float, int, str, str]:
    """Return the order in which URLs of two nodes are preferred: best first, then plainest."""
    urls = verdict.urls
    evidence = verdict.base + verdict.likeness + OWN_SECTION * verdict.fit
    return (round(evidence, 6), -len(urls[0]) - len(urls[1]), *urls)


class _MostAlike:
    """The two most similar candidates of a node: the rivals of all others, and of each other."""

    __slots__ = ("likeness", "other", "second")

    def __init__(self) -> None:
        self.likeness, self.other, self.second = 0.0, "", 0.0

    def add(self, other: str, alike: float) -> None:
        if other == self.other:
            self.likeness = max(self.likeness, alike)
        elif alike > self.likeness:
            self.likeness, self.other, self.second = alike, other, self.likeness
        else:
            self.second = max(self.second, alike)

    def rival_of(self, other: str) -> float:
        return self.second if other == self.other else self.likeness


_NO_EDGES: Mapping[str, Edge] = MappingProxyType({})


class Edges:
    """The edges of all nodes, from both sides, and their rivals."""

    def __init__(self) -> None:
        self._edges: dict[str, dict[str, Edge]] = {}
        self._most_alike: defaultdict[str, _MostAlike] = defaultdict(_MostAlike)

    def __len__(self) -> int:
        return sum(map(len, self._edges.values())) // 2

    def __iter__(self) -> Iterator[tuple[str, Mapping[str, Edge]]]:
        """Iterate over each node with its edges; each edge comes from both sides."""
        return iter(self._edges.items())

    def of(self, node: str) -> Mapping[str, Edge]:
        """Return the edges of a node by the other node."""
        return self._edges.get(node, _NO_EDGES)

    def between(self, node: str, other: str) -> Edge:
        """Return the edge between two nodes, which must exist."""
        return self._edges[node][other]

    def add(self, node: str, other: str, verdict: PairWeight) -> Edge | None:
        """Return the edge of two nodes with new evidence; None if it had better evidence."""
        edge = self.of(node).get(other)
        if edge is None:
            edge = Edge(verdict)
            self._edges.setdefault(node, {})[other] = edge
            self._edges.setdefault(other, {})[node] = edge
            return edge
        return edge if edge.improve(verdict) else None

    def remove(self, node: str, other: str) -> None:
        """Remove an edge; it still counts as a rival of others."""
        self._disconnect(node, other)
        self._disconnect(other, node)

    def clear(self, node: str) -> None:
        """Remove a node with its edges and rivals."""
        for other in self._edges.pop(node, {}):
            self._disconnect(other, node)
        self._most_alike.pop(node, None)

    def compete(self, node: str, other: str) -> None:
        """Make two nodes rivals of each other's other candidates."""
        alike = self._edges[node][other].verdict.likeness
        self._most_alike[node].add(other, alike)
        self._most_alike[other].add(node, alike)

    def rivals(self, node: str, other: str) -> tuple[float, float]:
        """Return how similar the best other candidate of each of two nodes is to it."""
        return (
            self._most_alike[node].rival_of(other),
            self._most_alike[other].rival_of(node),
        )

    def _disconnect(self, node: str, other: str) -> None:
        edges = self._edges.get(node)
        if edges is not None and edges.pop(other, None) is not None and not edges:
            del self._edges[node]
