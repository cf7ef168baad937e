"""Checks a fastText model file before the library reads it, and lists its labels.

The library believes a file: sizes in it are allocated and indices are followed, so a broken or
malicious file ends the process without a message. Everything that it would believe is compared
with the length of the file here. The format is that of `FastText::saveModel`, versions 11 and 12,
with dense (.bin) and quantised (.ftz) matrices.
"""

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

MAGIC = 793712314
VERSIONS = (11, 12)
SUPERVISED = 3
LOSSES = range(1, 5)
LONGEST_WORD = 4_000
MOST_WORDS = 20_000_000
MOST_DIMENSIONS = 10_000
LONGEST_NGRAM = 30
CENTROIDS = 256
WORD, LABEL = 0, 1


class FastTextFileError(ValueError):
    """A file that is not a sound fastText classifier; the message ends a sentence."""


class _Sizes(NamedTuple):
    dimensions: int
    word_ngrams: int
    buckets: int
    longest_ngram: int


class _Words(NamedTuple):
    labels: list[str]
    words: int
    kept_buckets: int
    """The rows that are left of those for n-grams; -1 if all are."""
    largest_bucket: int


class _Cursor:
    """Reads numbers from a file one after the other, and never past its end."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data, self.at = data, 0

    def take(self, form: str) -> tuple[Any, ...]:
        layout = struct.Struct(f"<{form}")
        self.skip(layout.size)
        return layout.unpack_from(self.data, self.at - layout.size)

    def skip(self, size: int) -> None:
        if size < 0 or self.at + size > len(self.data):
            raise FastTextFileError("ends too early: the file is damaged or not complete")
        self.at += size

    def word(self) -> bytes:
        end = self.data.find(b"\0", self.at, self.at + LONGEST_WORD)
        if end < 0:
            raise FastTextFileError("has a list of words that cannot be read: it is damaged")
        found = self.data[self.at : end]
        self.at = end + 1
        return found


def read_labels(path: Path) -> list[str]:
    """Return the labels of a classifier; a FastTextFileError says what is wrong with the file."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _read(_Cursor(data))
    except OSError as error:
        raise FastTextFileError(f"cannot be read ({error.strerror})") from None
    except ValueError as error:
        if isinstance(error, FastTextFileError):
            raise
        raise FastTextFileError("is empty") from None


def _read(cursor: _Cursor) -> list[str]:
    sizes = _read_head(cursor)
    words = _read_words(cursor)
    (quantised,) = cursor.take("?")
    rows = _read_matrix(cursor, sizes.dimensions, quantised=quantised)
    has_ngrams = sizes.longest_ngram > 0 or sizes.word_ngrams > 1
    if words.kept_buckets >= 0:
        fits = quantised and words.largest_bucket < rows - words.words
    else:
        fits = rows >= words.words + (sizes.buckets if has_ngrams else 0)
    fits = fits and (sizes.buckets > 0 or not has_ngrams)  # the library divides by it
    (output_quantised,) = cursor.take("?")
    outputs = _read_matrix(cursor, sizes.dimensions, quantised=quantised and output_quantised)
    if not fits or outputs != len(words.labels) or cursor.at != len(cursor.data):
        raise FastTextFileError("has parts that do not fit together: it is damaged")
    return words.labels


def _read_head(cursor: _Cursor) -> _Sizes:
    if len(cursor.data) < 2 * 4 or cursor.take("i")[0] != MAGIC:
        raise FastTextFileError("is not a fastText model (.bin or .ftz)")
    (version,) = cursor.take("i")
    if version not in VERSIONS:
        raise FastTextFileError(
            f"has format {version}; known are {' and '.join(map(str, VERSIONS))}"
        )
    dimensions, *_, word_ngrams, loss, model, buckets, _, longest, _ = cursor.take("12i")
    cursor.take("d")
    if model != SUPERVISED:
        raise FastTextFileError("is not a classifier but a model of words: it has no labels")
    sound = 0 < dimensions <= MOST_DIMENSIONS and loss in LOSSES and buckets >= 0
    if not sound or not 0 <= longest <= LONGEST_NGRAM:
        raise FastTextFileError("has a head with impossible numbers: it is damaged")
    return _Sizes(dimensions, word_ngrams, buckets, 0 if version == VERSIONS[0] else longest)


def _read_words(cursor: _Cursor) -> _Words:
    size, words, labels, _, kept = cursor.take("iiiqq")
    if labels < 1 or words < 0 or size != words + labels or size > MOST_WORDS:
        raise FastTextFileError("has no labels, or impossible numbers of words: it is damaged")
    found = []
    for number in range(size):
        word = cursor.word()
        count, kind = cursor.take("qb")
        if kind != (WORD if number < words else LABEL) or count < 0:
            raise FastTextFileError("has a list of words that cannot be read: it is damaged")
        if kind == LABEL:
            found.append(word.decode("utf-8", "replace"))
    largest = max(_kept_buckets(cursor, kept), default=-1)
    return _Words(found, words, max(kept, -1), largest)


def _kept_buckets(cursor: _Cursor, number: int) -> Iterator[int]:
    for _ in range(max(0, number)):
        bucket, row = cursor.take("ii")
        if bucket < 0 or row < 0:
            raise FastTextFileError("has negative positions: it is damaged")
        yield row


def _read_matrix(cursor: _Cursor, dimensions: int, *, quantised: bool) -> int:
    """Skip a matrix whose rows have these dimensions; return the number of its rows."""
    if not quantised:
        rows, columns = cursor.take("qq")
        _check_matrix(rows, columns, dimensions)
        cursor.skip(rows * columns * 4)
        return int(rows)
    norms, rows, columns, codes = cursor.take("?qqi")
    _check_matrix(rows, columns, dimensions)
    cursor.skip(codes)
    if codes != rows * _read_quantiser(cursor, dimensions):
        raise FastTextFileError("has a quantised matrix of the wrong size: it is damaged")
    if norms:
        cursor.skip(rows)
        _read_quantiser(cursor, 1)
    return int(rows)


def _check_matrix(rows: int, columns: int, dimensions: int) -> None:
    if rows < 0 or columns != dimensions:
        raise FastTextFileError("has a matrix of the wrong size: it is damaged")


def _read_quantiser(cursor: _Cursor, dimensions: int) -> int:
    """Skip a product quantiser; return the bytes that it needs for a row."""
    size, parts, width, last = cursor.take("4i")
    sound = size == dimensions and width > 0 and parts == -(-size // width)
    if not sound or last != size - (parts - 1) * width:
        raise FastTextFileError("has a quantised matrix of the wrong size: it is damaged")
    cursor.skip(size * CENTROIDS * 4)
    return int(parts)
