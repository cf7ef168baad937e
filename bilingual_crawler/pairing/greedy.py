"""One-to-one pairs from what was weighed: the best first, each page once."""

from collections.abc import Iterable


def one_to_one(scored: Iterable[tuple[float, str, str]]) -> list[tuple[str, str]]:
    """The pairs of a greedy choice; of equal scores the URLs that sort first."""
    taken: set[str] = set()
    chosen = []
    for _, first, second in sorted(scored, key=lambda each: (-each[0], each[1], each[2])):
        if first not in taken and second not in taken:
            taken |= {first, second}
            chosen.append((first, second))
    return chosen
