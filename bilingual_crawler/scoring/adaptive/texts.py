"""What the text of a fetched page tells about its counterpart.

A page of which much is in another language is one that was not translated, and its counterpart will
not be a pair. The same holds for pages with hardly any text of their own. So pages have kinds, by
the share of their text in their own language and its size; what a kind is worth at first is what it
is worth on most sites, and then what it was worth on this one: where the short pages are translated
and the long lists of publications are not, the crawl learns that.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from bilingual_crawler.documents.document import Document
from bilingual_crawler.scoring.adaptive.weights import WEIGHTS

SHARES = (70, 90)
SIZES = (250, 1_000, 4_000)
"""Where the next kind begins: percentages, and bytes of UTF-8."""
KINDS = (len(SHARES) + 1) * (len(SIZES) + 1)
UNKNOWN = -1
MIXED, PURE = 50, 90
"""Percentages of a page in its own language: hardly a translation, and one that counts fully."""
MOST = 1.5
"""How much better than others a kind can be."""


class TextWorth(NamedTuple):
    """The kind of a page's text, and what it is worth before its site has shown that."""

    kind: int
    worth: float

    @classmethod
    def of(cls, document: Document) -> "TextWorth":
        """Return the kind of a page; unknown, if it came without its text."""
        share = dict(document.language_shares).get(document.language or "", 100)
        worth = min(1.0, max(WEIGHTS.least_purity, (share - MIXED) / (PURE - MIXED)))
        if not document.paragraphs:
            return cls(UNKNOWN, worth)
        size = sum(len(each.text.encode("utf-8", "replace")) for each in document.main_paragraphs)
        kind = bisect_right(SHARES, share) * (len(SIZES) + 1) + bisect_right(SIZES, size)
        return cls(kind, worth)


def describe(kind: int) -> str:
    """Return a sentence about the pages of a kind."""
    if kind == UNKNOWN:
        return "much of it is in another language than the rest of it"
    purity, size = divmod(kind, len(SIZES) + 1)
    shares, sizes = (0, *SHARES, 100), (0, *SIZES)
    return (
        f"how often such pages have a translation, compared with all: {shares[purity]}% to"
        f" {shares[purity + 1]}% in their own language, {sizes[size]:,} bytes of text or more"
    )


class TextRecord:
    """How often the pages of each kind had a translation, on one site."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [[0.0, 0.0] for _ in range(KINDS)]
        self.total = [0.0, 0.0]

    def restore(self, counts: Sequence[Sequence[float]]) -> None:
        """Continue from the counts of an earlier run."""
        if len(counts) == KINDS:
            self.counts = [[right, seen] for right, seen in counts]
            self.total = [sum(right for right, _ in counts), sum(seen for _, seen in counts)]

    def judge(self, kind: int, *, right: float) -> None:
        """Count a page whose counterpart has come, and whether it was one."""
        if kind != UNKNOWN:
            for counts in (self.total, self.counts[kind]):
                counts[0] += right
                counts[1] += 1

    def worth(self, kind: int, first: float) -> float:
        """Return what a page of a kind is worth, compared with all; `first` is the first guess."""
        if kind == UNKNOWN:
            return first
        right, seen = self.total
        prior = WEIGHTS.text_prior
        share = (right + prior) / (seen + prior)
        right, seen = self.counts[kind]
        return min(MOST, (right + prior * first * share) / (seen + prior) / share)
