"""The links of pages in their order: two translations have the same menu in two languages.

What stands at the same place of two pages that are a pair is probably a pair as well, whatever the
addresses look like: `/it/finanziamento/` and `/financiamiento/`. Links that both pages share, or
that are known to belong together, cut their lists into pieces; pieces of equal length are compared
link by link.
"""

from array import array
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeVar

from bilingual_crawler.scoring.adaptive.page import KnownUrl

MOST_OUTLINES = 500
MOST_LINKS = 300
MOST_IN_PIECE = 80

Item = TypeVar("Item", bound=Hashable)


class Outlines:
    """The links of the first pages of a site, by their fingerprints: eight bytes each."""

    def __init__(self) -> None:
        self._links: dict[KnownUrl, array[int]] = {}

    def keep(self, page: KnownUrl, links: Sequence[int]) -> None:
        """Keep the links of a page, while there is room."""
        if len(self._links) < MOST_OUTLINES:
            self._links[page] = array("q", links[:MOST_LINKS])

    def of(self, page: KnownUrl) -> Sequence[int]:
        """Return the links of a page; none if they were not kept."""
        return self._links.get(page, ())


def same_places(
    one: Sequence[Item], other: Sequence[Item], belong: Callable[[Item, Item], bool]
) -> Iterator[tuple[Item, Item]]:
    """Yield what stands at the same places of two lists, between things that belong together.

    `belong` says if two different things are known to belong together.
    """
    start = other_start = 0
    for at, other_at in (*_anchors(one, other, belong), (len(one), len(other))):
        piece, other_piece = one[start:at], other[other_start:other_at]
        if len(piece) == len(other_piece) <= MOST_IN_PIECE:
            yield from zip(piece, other_piece, strict=True)
        start, other_start = at + 1, other_at + 1


def _anchors(
    one: Sequence[Item], other: Sequence[Item], belong: Callable[[Item, Item], bool]
) -> Iterator[tuple[int, int]]:
    """Yield the places of things that belong together, in an order that both lists have."""
    places = {item: at for at, item in reversed(list(enumerate(other)))}
    last = -1
    for at, item in enumerate(one):
        other_at = places.get(item, -1)
        if other_at < 0:
            near = range(last + 1, min(len(other), last + 1 + MOST_IN_PIECE))
            other_at = next((each for each in near if belong(item, other[each])), -1)
        if other_at > last:
            yield at, other_at
            last = other_at
