"""Pairs as a crawl keeps them: their URLs at hand, what speaks for them packed.

A pair has about ten pieces of evidence, each with a reason in words: some two kilobytes of
objects, which nobody reads before the crawl is over. The reasons of two pairs hardly differ but
in figures. So the evidence of the first pair is the dictionary that zlib packs all others by,
which leaves about a tenth.
"""

import zlib
from typing import NamedTuple

import msgpack

from bilingual_crawler.pairing.pair import DocumentPair, Evidence

_WINDOW, _MEMORY, _LEVEL = -12, 5, 6
"""A small window is enough for so little, and quicker to set up."""


class PackedPair(NamedTuple):
    """A pair whose evidence only its `PairPacker` can read."""

    first: str
    second: str
    probability: float | None
    evidence: bytes
    detectors: tuple[str, ...]
    """Who speaks in the evidence."""


class PairPacker:
    """Packs the pairs of two languages, and unpacks them again."""

    def __init__(self, languages: tuple[str, str]) -> None:
        self._languages = languages
        self._sample = b""
        self._detectors: dict[tuple[str, ...], tuple[str, ...]] = {}

    def pack(self, pair: DocumentPair) -> PackedPair:
        """Pack a pair; equal pairs are equal when they are packed."""
        packed = msgpack.packb(pair.evidence, unicode_errors="surrogatepass")
        self._sample = self._sample or packed
        packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY, zdict=self._sample)
        evidence = packer.compress(packed) + packer.flush()
        detectors = self._detectors.setdefault(pair.detectors, pair.detectors)
        return PackedPair(pair.first, pair.second, pair.probability, evidence, detectors)

    def unpack(self, pair: PackedPair) -> DocumentPair:
        """The pair that was packed."""
        packed = zlib.decompressobj(_WINDOW, zdict=self._sample).decompress(pair.evidence)
        found = msgpack.unpackb(packed, unicode_errors="surrogatepass", use_list=False)
        evidence = tuple(Evidence(*each) for each in found)
        return DocumentPair(pair.first, pair.second, self._languages, evidence, pair.probability)
