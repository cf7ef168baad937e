"""One-to-one pairs: the best candidates first, whatever the order of arrival.

The result equals a greedy choice over all candidates. A better candidate displaces a worse pair,
and the partners that this frees look for their next best. The cost grows with the candidates, never
with all pairs of pages.
"""

from collections.abc import Callable, Iterable, Iterator

ACCEPT = 0.5
"""A pair needs more evidence than doubt."""

Urls = tuple[str, str]
Rank = tuple[float, int, str, str]
NOTHING: Rank = (-1.0, 0, "", "")

PairEvent = Callable[[str, str], None]


def rank_of(urls: Urls, probability: float) -> Rank:
    """Return the rank: likeliest first, then the plainest URLs; never equal for two candidates."""
    return (round(probability, 6), -len(urls[0]) - len(urls[1]), min(urls), max(urls))


def greedy_choice(scored: Iterable[tuple[float, str, str]]) -> list[Urls]:
    """Return one-to-one pairs, the best first; of equal scores the URLs that sort first.

    `OneToOne` keeps such a choice up to date while candidates come; this makes it once.
    """
    taken: set[str] = set()
    chosen = []
    for _, first, second in sorted(scored, key=lambda each: (-each[0], each[1], each[2])):
        if first not in taken and second not in taken:
            taken |= {first, second}
            chosen.append((first, second))
    return chosen


class OneToOne:
    """The current pairs, given the ranks of the candidates."""

    def __init__(self, joined: PairEvent, parted: PairEvent) -> None:
        self._joined, self._parted = joined, parted
        self._ranks: dict[str, dict[str, Rank]] = {}
        self._partner: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._partner) // 2

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Iterate over every pair, from both sides."""
        return iter(self._partner.items())

    def partner_of(self, node: str) -> str | None:
        """Return the partner of a node, if it has one."""
        return self._partner.get(node)

    def raise_rank(self, one: str, other: str, rank: Rank) -> None:
        """Add a candidate, or raise its rank; then settle."""
        if rank[0] < ACCEPT:
            return
        self._rank(one, other, rank)
        self._settle([one])

    def replace(self, ranks: Iterable[tuple[str, str, Rank]], nodes: set[str]) -> None:
        """Forget all candidates of some nodes and choose again among these."""
        free = [partner for node in nodes if (partner := self._part(node)) is not None]
        for node in nodes:
            for other in self._ranks.pop(node, {}):
                ranks_of_other = self._ranks.get(other, {})
                ranks_of_other.pop(node, None)
                if not ranks_of_other:
                    self._ranks.pop(other, None)
        found = [each for each in ranks if each[2][0] >= ACCEPT]
        for one, other, rank in found:
            self._rank(one, other, rank)
        found.sort(key=lambda each: each[2], reverse=True)
        for one, other, rank in found:
            if self._wins(one, rank) and self._wins(other, rank):
                self._settle(self._join(one, other))
        self._settle([node for node in free if node not in nodes])

    def _rank(self, one: str, other: str, rank: Rank) -> None:
        self._ranks.setdefault(one, {})[other] = rank
        self._ranks.setdefault(other, {})[one] = rank

    def _settle(self, nodes: list[str]) -> None:
        """Give each node the best partner that it can win, and so on for the displaced."""
        while nodes:
            node = nodes.pop()
            for other, rank in sorted(
                self._ranks.get(node, {}).items(), key=lambda each: each[1], reverse=True
            ):
                if not self._wins(node, rank):
                    break
                if self._wins(other, rank):
                    nodes.extend(self._join(node, other))
                    break

    def _wins(self, node: str, rank: Rank) -> bool:
        partner = self._partner.get(node)
        return partner is None or rank > self._ranks.get(node, {}).get(partner, NOTHING)

    def _join(self, node: str, other: str) -> list[str]:
        displaced = [partner for each in (node, other) if (partner := self._part(each)) is not None]
        self._partner[node], self._partner[other] = other, node
        self._joined(node, other)
        return displaced

    def _part(self, node: str) -> str | None:
        partner = self._partner.pop(node, None)
        if partner is not None:
            del self._partner[partner]
            self._parted(node, partner)
        return partner
