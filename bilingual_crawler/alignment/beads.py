"""Beads: how many sentences of one side stand for how many of the other."""

from typing import NamedTuple

Shape = tuple[int, int]
"""Sentences on the first side, sentences on the second."""

PAIRED: tuple[Shape, ...] = ((1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1))
"""The shapes that have text on both sides; (1, 0) and (0, 1) are always possible."""
LARGEST = 3


class Bead(NamedTuple):
    """Sentences `start1` to `end1` of the first side and those of the second that they match."""

    start1: int
    end1: int
    start2: int
    end2: int

    @property
    def shape(self) -> Shape:
        """How many sentences there are on each side."""
        return self.end1 - self.start1, self.end2 - self.start2

    @property
    def is_paired(self) -> bool:
        """Whether there is text on both sides."""
        return self.end1 > self.start1 and self.end2 > self.start2
