"""Near-duplicates, by the rule of ILSP-FC (section 3.8), found while documents arrive.

A document is the set of the MD5 hashes of its clean paragraphs. Two documents are
near-duplicates if they share more than a given part (0.8) of the smaller set; the smaller
one is dropped, and of two equal ones the later.

The answers are exactly those of comparing with every earlier document, without doing so.
Let the smaller set have n hashes, so that a near-duplicate shares at least
`r = floor(share * n) + 1` of them. Then among *any* `n - r + 1` of its hashes at least one is
shared. So it is enough to look

1. for documents at least as large as the new one: under the `n - r + 1` hashes of the new
   one that fewest documents have, in an index of all hashes;
2. for smaller documents: under all hashes of the new one, in an index that holds of each
   document only the `n - r + 1` hashes that were rarest when it came.

Paragraphs of a template, in every document, are therefore looked up only for documents
that have hardly anything else; those are near-duplicates of each other and do not gather.
What remains are documents made of frequent paragraphs in ever new combinations (listings):
there the cost grows with the number of documents that share them.
"""

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from math import floor
from typing import NamedTuple

from bilingual_crawler.documents.document import Document
from bilingual_crawler.store.compact import Postings

HASH_BYTES = 8
DROPPED_KEPT = 1_000
FIRST_COMPARED = 50
COUNTED = 3
COMPARISON = 20  # the cost of comparing two documents, in index entries counted

_MASK = (1 << 60) - 1


def paragraph_hashes(document: Document) -> list[bytes]:
    """Return the hash of each paragraph of the content, in order: 8 bytes of its MD5."""
    return [
        hashlib.md5(
            paragraph.text.encode("utf-8", "surrogatepass"), usedforsecurity=False
        ).digest()[:HASH_BYTES]
        for paragraph in document.main_paragraphs
    ]


def split_hashes(packed: bytes) -> list[bytes]:
    """Split a row of packed hashes."""
    return [packed[at : at + HASH_BYTES] for at in range(0, len(packed), HASH_BYTES)]


def text_signature(document: Document) -> bytes:
    """Return a digest of all paragraphs, which is equal for pages with the same text."""
    digest = hashlib.blake2b(digest_size=16)
    for paragraph in document.paragraphs:
        digest.update(paragraph.text.encode("utf-8", "surrogatepass") + b"\0")
    return digest.digest()


class DedupDecision(NamedTuple):
    """What to do about a new document: drop it, drop earlier ones, or neither."""

    duplicate_of: str | None = None
    supersedes: tuple[str, ...] = ()

    @property
    def is_new(self) -> bool:
        """True if no similar document was known."""
        return self.duplicate_of is None and not self.supersedes


class DuplicateIndex:
    """The documents so far, without those that were dropped."""

    def __init__(self, share: float = 0.8) -> None:
        self._share = share
        self._keys: list[str] = []
        self._hashes: list[array[int] | None] = []  # None: dropped
        self._numbers: dict[str, int] = {}
        self._everywhere = Postings()
        self._rarest = Postings()

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, key: str) -> bool:
        return key in self._numbers

    def add(self, key: str, hashes: Sequence[bytes]) -> DedupDecision:
        """Judge a document and, unless it is dropped, remember it.

        A document without paragraphs is unlike any other. A known key is judged again, as if it
        were new.
        """
        self.remove(key)
        new = _as_integers(hashes)
        ranked = sorted(new, key=self._everywhere.count)
        larger = next(self._larger_duplicates(new, ranked), None)
        if larger is not None:
            return DedupDecision(duplicate_of=self._keys[larger])
        superseded = tuple(self._keys[number] for number in sorted(self._smaller_duplicates(new)))
        for each in superseded:
            self.remove(each)
        self._insert(key, ranked)
        return DedupDecision(supersedes=superseded)

    def restore(self, key: str, hashes: Sequence[bytes]) -> None:
        """Remember a document that was judged before."""
        self.remove(key)
        self._insert(key, sorted(_as_integers(hashes), key=self._everywhere.count))

    def remove(self, key: str) -> None:
        """Forget a document, if it is known; the indexes are rebuilt now and then."""
        number = self._numbers.pop(key, None)
        if number is None:
            return
        self._hashes[number] = None
        if len(self._hashes) > 2 * len(self._numbers) + DROPPED_KEPT:
            self._rebuild()

    def _larger_duplicates(self, new: frozenset[int], ranked: list[int]) -> Iterator[int]:
        """Yield documents at least as large that make the new one superfluous."""
        needed = self._needed(len(new))
        for number in self._candidates(ranked, needed):
            known = self._hashes[number]
            if known is not None and len(known) >= len(new) and _common(known, new) >= needed:
                yield number

    def _candidates(self, ranked: list[int], needed: int) -> Iterator[int]:
        """Yield documents that may share `needed` of these hashes; the rarest come first.

        They share one of the first `len - needed + 1`. If too many do, those that share
        three of the first `len - needed + 3` are fewer, and counting is cheaper than comparing.
        """
        few = ranked[: len(ranked) - needed + 1]
        more = ranked[: len(ranked) - needed + COUNTED]
        entries = chain.from_iterable(self._everywhere.get(each) for each in few)
        yield from islice(entries, FIRST_COMPARED)
        to_compare = COMPARISON * sum(map(self._everywhere.count, few))
        if needed >= COUNTED and to_compare > sum(map(self._everywhere.count, more)):
            entries = chain.from_iterable(self._everywhere.get(each) for each in more)
            counts = Counter(entries).items()
            yield from (number for number, count in counts if count >= COUNTED)
        else:
            yield from dict.fromkeys(entries)

    def _smaller_duplicates(self, new: frozenset[int]) -> Iterator[int]:
        """Yield documents that the new one makes superfluous."""
        found = chain.from_iterable(self._rarest.get(each) for each in new)
        for number in dict.fromkeys(found):
            known = self._hashes[number]
            if known is None or len(known) >= len(new):
                continue
            if _common(known, new) >= self._needed(len(known)):
                yield number

    def _insert(self, key: str, ranked: list[int]) -> None:
        if not ranked:
            return
        number = len(self._keys)
        self._keys.append(key)
        self._hashes.append(array("Q", ranked))
        self._numbers[key] = number
        for each in ranked:
            self._everywhere.add(each, number)
        for each in ranked[: len(ranked) - self._needed(len(ranked)) + 1]:
            self._rarest.add(each, number)

    def _rebuild(self) -> None:
        live = [(key, self._hashes[number]) for key, number in self._numbers.items()]
        self._keys, self._hashes, self._numbers = [], [], {}
        self._everywhere, self._rarest = Postings(), Postings()
        for key, hashes in live:
            self._insert(key, sorted(hashes or (), key=self._everywhere.count))

    def _needed(self, size: int) -> int:
        """Return how many hashes a set of this size must share to be a near-duplicate."""
        needed = max(0, floor(self._share * size) - 1)
        while size and needed / size <= self._share:
            needed += 1
        return needed


def _as_integers(hashes: Iterable[bytes]) -> frozenset[int]:
    return frozenset(int.from_bytes(each[:HASH_BYTES], "big") & _MASK for each in hashes)


def _common(known: "array[int]", new: frozenset[int]) -> int:
    return sum(map(new.__contains__, known))
