"""MinHash of document pairs (Broder 1997), to find near copies on other sites.

Only the signature of a document travels between machines, 64 numbers instead of its text. Written
with NumPy because a library's object per document would be packed and unpacked for each comparison,
which here the tables of Spark do by themselves.
"""

import re
from hashlib import blake2b

import numpy as np

HASHES, BANDS = 64, 16
ROWS = HASHES // BANDS
SIMILAR = 0.8
"""The share of equal numbers from which two pairs are near copies."""
SHINGLE = 4
MOST_WORDS = 20_000
_WORD = re.compile(r"\w+")
_PRIME = (1 << 61) - 1
_DRAW = np.random.default_rng(20261119)
_FACTORS = _DRAW.integers(1, 1 << 31, HASHES, dtype=np.uint64)
_SHIFTS = _DRAW.integers(0, 1 << 31, HASHES, dtype=np.uint64)


def signature_of(text: str) -> list[int]:
    """Return the MinHash signature of a text, by its runs of four words."""
    words = _WORD.findall(text.lower())[:MOST_WORDS]
    last = max(1, len(words) - SHINGLE + 1)
    shingles = {" ".join(words[at : at + SHINGLE]) for at in range(last)}
    digests = b"".join(
        blake2b(each.encode("utf-8", "surrogatepass"), digest_size=4).digest() for each in shingles
    )
    numbers = np.frombuffer(digests, dtype="<u4").astype(np.uint64)
    mixed = (numbers[:, None] * _FACTORS + _SHIFTS) % np.uint64(_PRIME)
    return [int(each) for each in mixed.min(axis=0)]


def bands_of(signature: list[int]) -> list[str]:
    """Return the keys under which near copies meet: one of them agrees for all but a few."""
    packed = np.array(signature, dtype="<u8")
    return [
        f"{band}:{blake2b(packed[band * ROWS :][:ROWS].tobytes(), digest_size=8).hexdigest()}"
        for band in range(BANDS)
    ]


def similarity(first: list[int], second: list[int]) -> float:
    """Return the estimated share of runs of words that two texts have in common."""
    return sum(one == other for one, other in zip(first, second, strict=True)) / HASHES
