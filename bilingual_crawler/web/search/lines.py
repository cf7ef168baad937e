"""Reads the lines of files that are still being written, from any place on.

A crawl appends to its files, one gzip member per checkpoint; other programs write one long
member. A line or member that is not complete yet is left for the next time.
"""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from bilingual_crawler.store.input_files import MAX_LINE

CHUNK = 1 << 18
TOO_LONG = b"\n"
"""What a line is replaced with that would take too much memory: it cannot be read either."""
GZIP = 31
"""zlib's code for a stream with a gzip header."""


class LinePlace(NamedTuple):
    """The place of a line: the offset of its gzip member (or of itself), and its number there."""

    offset: int = 0
    line: int = 0


class IndexedLine(NamedTuple):
    """A complete line, its place, and the place of the next one."""

    text: bytes
    at: LinePlace
    after: LinePlace


class DamagedFileError(Exception):
    """A file that is not what its name promises; the message says where."""


def lines_from(file: BinaryIO, path: Path, start: LinePlace) -> Iterator[IndexedLine]:
    """Yield every complete line from `start` on."""
    return gzip_lines(file, start) if path.suffix == ".gz" else plain_lines(file, start)


def plain_lines(file: BinaryIO, start: LinePlace) -> Iterator[IndexedLine]:
    """Yield every complete line of an uncompressed file."""
    offset = file.seek(start.offset)
    length = 0
    while text := file.readline(MAX_LINE):
        length += len(text)
        if text.endswith(b"\n"):
            after = offset + length
            is_whole = length == len(text)
            yield IndexedLine(text if is_whole else TOO_LONG, LinePlace(offset), LinePlace(after))
            offset, length = after, 0


def gzip_lines(file: BinaryIO, start: LinePlace) -> Iterator[IndexedLine]:
    """Yield every complete line of a compressed file, even if its last member is incomplete."""
    member, number, rest = start.offset, 0, b""
    at = LinePlace(member, 0)
    for begins, data in _members(file, start.offset):
        if begins != member:
            member, number = begins, 0
            if not rest:
                at = LinePlace(member, 0)
        *complete, last = data.split(b"\n")
        for text in complete:
            after = LinePlace(member, number + 1)
            if at >= start:
                is_whole = len(rest) + len(text) < MAX_LINE
                yield IndexedLine(rest + text + b"\n" if is_whole else TOO_LONG, at, after)
            at, rest, number = after, b"", number + 1
        rest += last[: MAX_LINE - len(rest)]


def _members(file: BinaryIO, offset: int) -> Iterator[tuple[int, bytes]]:
    """Yield pieces of unpacked data, each with the offset of its member."""
    file.seek(offset)
    begins, read = offset, offset
    unpacker = zlib.decompressobj(GZIP)
    waiting = b""
    while True:
        packed = waiting or file.read(CHUNK)
        if not packed:
            return
        read += 0 if waiting else len(packed)
        waiting = b""
        try:
            data = unpacker.decompress(packed, CHUNK * 4)
        except zlib.error as error:
            raise DamagedFileError(
                f"it is not readable as gzip from byte {begins:,} on ({error})"
            ) from None
        yield begins, data
        if unpacker.eof:
            waiting = unpacker.unused_data
            begins = read - len(waiting)
            unpacker = zlib.decompressobj(GZIP)
        else:
            waiting = unpacker.unconsumed_tail


def line_at(path: Path, place: LinePlace) -> bytes | None:
    """Return the line at a place; None if the file has changed."""
    try:
        with path.open("rb") as file:
            found = next(lines_from(file, path, place), None)
    except (OSError, DamagedFileError):
        return None
    return found.text if found is not None and found.at == place else None
