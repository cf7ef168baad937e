"""MinHash of document pairs (Broder 1997), to find near copies on other sites.

Only numbers travel between machines: the signature of a document, 64 numbers instead of its text,
and 16 bands of it. Written with NumPy because a library's object per document would be packed and
unpacked for each comparison, which here the tables of Spark do by themselves. Each word is hashed
once, and runs of words are mixed from the hashes of their words.
"""

import re
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

HASHES, BANDS = 64, 16
ROWS = HASHES // BANDS
SIMILAR = 0.8
"""The share of equal numbers from which two pairs are near copies."""
SHINGLE = 4
MOST_WORDS = 20_000
_WORD = re.compile(r"\w+")
_DRAW = np.random.default_rng(20261119)
_FACTORS = _DRAW.integers(1, 1 << 63, (HASHES, 1), dtype=np.uint64) | np.uint64(1)
_SHIFTS = _DRAW.integers(0, 1 << 63, (HASHES, 1), dtype=np.uint64)
_PLACES = _DRAW.integers(1, 1 << 63, SHINGLE, dtype=np.uint64) | np.uint64(1)
_HALF = np.uint64(32)

Numbers = npt.NDArray[np.uint64]


def number_of(text: str) -> int:
    """Return a number of 64 bits for a text, which is the same on every machine."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def signature_of(text: str) -> list[int]:
    """Return the MinHash signature of a text, by its runs of four words."""
    words = _WORD.findall(text.lower())[:MOST_WORDS] or [""]
    known = {word: number_of(word) for word in set(words)}
    hashes = np.array([known[word] for word in words], dtype=np.int64).view(np.uint64)
    runs = np.unique(_mixed(_runs_of(hashes)))
    # multiply-shift (Dietzfelbinger et al. 1997): the upper half of a product modulo 2**64
    least = ((runs[None, :] * _FACTORS + _SHIFTS) >> _HALF).min(axis=1)
    return [int(each) for each in least]


def _runs_of(hashes: Numbers) -> Numbers:
    """Return a number for each run of words, which depends on their order."""
    size = max(1, len(hashes) - SHINGLE + 1)
    runs = np.zeros(size, dtype=np.uint64)
    for place, factor in enumerate(_PLACES):
        part = hashes[place : place + size] * factor
        runs[: len(part)] += part
    return runs


def _mixed(numbers: Numbers) -> Numbers:
    """Return numbers whose bits all depend on all bits of the given ones."""
    numbers = (numbers ^ (numbers >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    return numbers ^ (numbers >> np.uint64(29))


def bands_of(signature: list[int]) -> list[int]:
    """Return the keys under which near copies meet: one of them agrees for all but a few."""
    packed = np.array(signature, dtype="<u8")
    bands = (packed[band * ROWS :][:ROWS].tobytes() for band in range(BANDS))
    return [
        int.from_bytes(
            blake2b(each, digest_size=8, salt=bytes([number])).digest(), "big", signed=True
        )
        for number, each in enumerate(bands)
    ]


def similarity(first: list[int], second: list[int]) -> float:
    """Return the estimated share of runs of words that two texts have in common."""
    return sum(one == other for one, other in zip(first, second, strict=True)) / HASHES
