"""Lines of files of others, plain or gzipped, with a bound on the memory that one may take.

A file of half a megabyte can unpack to a line of gigabytes. Whoever reads lines of foreign files
reads them here.
"""

import gzip
from collections.abc import Iterator
from io import BufferedReader
from typing import Protocol

GZIP = b"\x1f\x8b"
LONGEST_LINE = 1 << 25
"""Bytes of a line. The largest page, written as a document, is well below that."""
_PIECE = 1 << 17


class Stream(Protocol):
    """Bytes to be read."""

    def read1(self, size: int = -1, /) -> bytes:
        """Read some bytes, at most so many; none at the end."""


def unpacked(raw: BufferedReader) -> BufferedReader | gzip.GzipFile:
    """The content of a file; its first bytes say whether it is gzipped, not its name."""
    is_packed = raw.peek(len(GZIP))[: len(GZIP)] == GZIP
    return gzip.GzipFile(fileobj=raw) if is_packed else raw


def bounded_lines(stream: Stream, longest: int = LONGEST_LINE) -> Iterator[bytes | None]:
    """Every line with its line feed; None in the place of each that is too long.

    Read in pieces, because a reader that fills a buffer loses what was in it at a cut: all lines
    before a damage are given before its error is raised.
    """
    begun: list[bytes] = []
    length = 0
    while piece := stream.read1(_PIECE):
        for part in _split(piece):
            length += len(part)
            if length <= longest:
                begun.append(part)
            else:
                begun.clear()
            if part.endswith(b"\n"):
                yield b"".join(begun) if length <= longest else None
                begun, length = [], 0
    if length:
        yield b"".join(begun) if length <= longest else None


def _split(piece: bytes) -> list[bytes]:
    """Split after line feeds alone; `splitlines` knows other ends."""
    *ended, last = piece.split(b"\n")
    return [*(each + b"\n" for each in ended), *([last] if last else [])]
