"""The arithmetic of a replay: how early a crawl has both pages of the gold pairs.

A curve is the number of gold pairs that are complete after each download. All figures of a crawl
are read from its curve.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean

Pair = tuple[str, str]
DECILES = 10


def yield_curve(order: Iterable[str], pairs: Iterable[Pair]) -> list[int]:
    """Return how many pairs have both pages after the first download, the second, and so on."""
    partners: defaultdict[str, list[str]] = defaultdict(list)
    for first, second in pairs:
        partners[first].append(second)
        partners[second].append(first)
    fetched: set[str] = set()
    curve: list[int] = []
    complete = 0
    for page in order:
        if page not in fetched:
            fetched.add(page)
            complete += sum(partner in fetched for partner in partners.get(page, ()))
        curve.append(complete)
    return curve


def version_curve(order: Iterable[str], pairs: Iterable[Pair]) -> tuple[list[int], int]:
    """Return how many versions there are beyond the first of their page, and their number in all.

    Pages that gold pairs tie together are versions of one page; of two languages, each pair is one.
    """
    cluster: dict[str, str] = {}

    def first_of(page: str) -> str:
        while (above := cluster.setdefault(page, page)) != page:
            page = above
        return page

    for one, other in pairs:
        cluster[first_of(one)] = first_of(other)
    first = {page: first_of(page) for page in cluster}
    there: set[str] = set()
    fetched: set[str] = set()
    curve, complete = [], 0
    for page in order:
        if page in first and page not in fetched:
            fetched.add(page)
            complete += first[page] in there
            there.add(first[page])
        curve.append(complete)
    return curve, len(first) - len(set(first.values()))


def value_at(curve: Sequence[int], downloads: int) -> int:
    """Return the complete pairs after some downloads; a crawl that ended keeps its last value."""
    return curve[min(downloads, len(curve)) - 1] if curve and downloads else 0


def area(curve: Sequence[int], pairs: int, pages: int) -> float:
    """Return the mean share of complete pairs over downloads 1 to `pages`."""
    if not pairs or not pages:
        return 0.0
    within = curve[:pages]
    kept = value_at(curve, pages) * (pages - len(within))
    return (sum(within) + kept) / (pairs * pages)


def downloads_to(curve: Sequence[int], pairs: int, share: float) -> int | None:
    """Return the downloads until this share of the pairs is complete; None if it never is."""
    wanted = math.ceil(share * pairs - 1e-9)
    return next((at for at, value in enumerate(curve, 1) if value >= wanted), None)


def gain(auc: float, breadth_first: float, oracle: float) -> float | None:
    """Return the share of the gap between breadth-first and oracle; None if there is no gap."""
    gap = oracle - breadth_first
    return (auc - breadth_first) / gap if gap > 0 else None


def deciles(curve: Sequence[int], pages: int) -> list[int]:
    """Return the complete pairs after each tenth of the pages."""
    return [value_at(curve, math.ceil(tenth * pages / DECILES)) for tenth in range(1, DECILES + 1)]


def summed(rows: Iterable[Sequence[int]]) -> list[int]:
    """Return the summed deciles of several sites, as in Figure 7 of SBFC."""
    return [sum(column) for column in zip(*rows, strict=True)]


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
