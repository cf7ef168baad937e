"""The pairs of two languages while pages come in: candidates, rivals, the one-to-one choice.

A crawl for two languages has one of these. A crawl for more has one for each two languages that its
pages are in, all over the same pages and indexes.
"""

from collections.abc import Container, Iterable, Iterator

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.edges import Edge, Edges
from bilingual_crawler.pairing.judging import EdgeJudge
from bilingual_crawler.pairing.one_to_one import OneToOne, Rank
from bilingual_crawler.pairing.pair import Changes, DocumentPair, PackedPair, PairPacker

HOPELESS = 0.05
"""Candidates below this are not kept before the end."""
SAME = 0.02
"""How far a probability may move before the end while a pair keeps its explanation."""

Nodes = tuple[str, str]


class PairChoice:
    """The candidates of two languages, and the best one-to-one pairs among them."""

    def __init__(self, pair: LanguagePair, judge: EdgeJudge) -> None:
        self.pair = pair
        self._judge = judge
        self.edges = Edges()
        self.packer = PairPacker(pair.codes)
        self.standing: dict[Nodes, PackedPair] = {}
        self.refused: set[Nodes] = set()
        """Counterparts that have nobody else, and are no pair."""
        self.is_finishing = False
        self._changes: Changes[PackedPair] = Changes()
        self._pairs = OneToOne(self._note_joined, self.note_parted)

    def partner_of(self, node: str) -> str | None:
        """Return the partner of a node, if it has one."""
        return self._pairs.partner_of(node)

    def standing_pair(self, node: str) -> PackedPair | None:
        """Return the pair that a node is in, unless that was refused."""
        partner = self._pairs.partner_of(node)
        return None if partner is None else self.standing.get(both_of(node, partner))

    def best_edge(self, node: str) -> Edge | None:
        """Return the edge of a node to its partner."""
        partner = self._pairs.partner_of(node)
        return None if partner is None else self.edges.of(node).get(partner)

    def clear(self, nodes: Iterable[str]) -> None:
        """Forget the candidates of some nodes."""
        for node in nodes:
            self.edges.clear(node)

    def compete(self, nodes: Iterable[str], lists: Container[str]) -> None:
        """Make the candidates of some nodes rivals of each other.

        A list with one entry is no rival of that entry.
        """
        for node in nodes:
            for other in self.edges.of(node):
                if (node in lists) == (other in lists):
                    self.edges.compete(node, other)

    def consider(self, new: Iterable[Nodes]) -> None:
        """Judge candidates with new evidence; those that exist already can only get better."""
        new = list(new)
        stood = self.standing.keys() & {both_of(*nodes) for nodes in new}
        for node, other in new:
            self.edges.compete(node, other)
        for node, other in new:
            edge = self.edges.between(node, other)
            before = edge.rank
            self.judge(node, other, edge)
            if edge.probability < HOPELESS:
                self._forget(node, other)
            elif edge.rank > before:
                self._pairs.raise_rank(node, other, edge.rank)
                if self._pairs.partner_of(node) == other and both_of(node, other) in stood:
                    self.note_parted(node, other)
                    self._note_joined(node, other)

    def judge(self, node: str, other: str, edge: Edge) -> None:
        """Set the probability of a candidate, in view of its rivals."""
        self._judge.judge(edge, self.edges.rivals(node, other))

    def judge_all(self, nodes: set[str]) -> Iterator[tuple[str, str, Edge]]:
        """Judge every candidate of some nodes, and yield it."""
        for node in nodes:
            for other, edge in self.edges.of(node).items():
                if other not in nodes or node < other:
                    self.judge(node, other, edge)
                    yield node, other, edge

    def choose(self, nodes: set[str], judged: Iterable[tuple[str, str, Edge]]) -> None:
        """Choose the pairs of some nodes again, among these candidates."""
        ranks: Iterator[tuple[str, str, Rank]] = (
            (node, other, edge.rank) for node, other, edge in judged
        )
        self._pairs.replace(ranks, nodes)

    def forget_hopeless(self, nodes: set[str]) -> None:
        """Drop the candidates of some nodes that have no chance."""
        for node in nodes:
            for other, edge in list(self.edges.of(node).items()):
                if edge.probability < HOPELESS:
                    self._forget(node, other)

    def _forget(self, node: str, other: str) -> None:
        """Drop a candidate; it still counts as a rival of others."""
        if self._pairs.partner_of(node) != other:
            self.edges.remove(node, other)

    def refuse(self, node: str, other: str, why: str) -> None:
        """Refuse a standing pair."""
        self.note_parted(node, other)
        self.edges.between(node, other).refused = why
        self.refused.add(both_of(node, other))

    def _note_joined(self, node: str, other: str) -> None:
        edge = self.edges.between(node, other)
        if edge.refused:
            self.refused.add(both_of(node, other))
            return
        pair = self._changes.lost.get(edge.verdict.urls)
        if (
            pair is None
            or self.is_finishing
            or abs((pair.probability or 0.0) - edge.probability) > SAME
        ):
            pair = self.packer.pack(self.described(edge))
        self.standing[both_of(node, other)] = pair
        self._changes.add(pair)

    def note_parted(self, node: str, other: str) -> None:
        """Record that two nodes are a pair no more."""
        self.refused.discard(both_of(node, other))
        pair = self.standing.pop(both_of(node, other), None)
        if pair is not None:
            self._changes.drop(pair)

    def refused_pairs(self) -> Iterator[DocumentPair]:
        """Yield the counterparts that are no pairs, each with the reason."""
        for node, other in sorted(self.refused):
            yield self.described(self.edges.between(node, other))

    def described(self, edge: Edge) -> DocumentPair:
        """Return an edge as a pair."""
        return self._judge.described(edge, self.pair.codes)

    def take_changes(self, into: Changes[DocumentPair]) -> None:
        """Hand over what has changed since the last call."""
        changes, self._changes = self._changes, Changes()
        into.found |= {urls: self.packer.unpack(pair) for urls, pair in changes.found.items()}
        into.lost |= {urls: self.packer.unpack(pair) for urls, pair in changes.lost.items()}
        into.better_explained |= changes.better_explained


def both_of(node: str, other: str) -> Nodes:
    """Return two nodes in the order of their names."""
    return (node, other) if node < other else (other, node)
