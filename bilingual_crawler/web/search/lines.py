"""Lines of files that others are still writing, from where one stopped reading.

A crawl appends to its files, a gzip member a checkpoint; other programs write one long
member. What is not complete yet, a line or the end of a member, is left for the next time.
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
"""What zlib calls a stream with the header of gzip."""


class LinePlace(NamedTuple):
    """Where a line stands: the offset of its gzip member (or of itself), and its number there."""

    offset: int = 0
    line: int = 0


class IndexedLine(NamedTuple):
    """A complete line, where it stands, and where the next one will."""

    text: bytes
    at: LinePlace
    after: LinePlace


class DamagedFileError(Exception):
    """Bytes that are not what the name of the file promises; the message says where."""


def lines_from(file: BinaryIO, path: Path, start: LinePlace) -> Iterator[IndexedLine]:
    """Every complete line from `start` on."""
    return gzip_lines(file, start) if path.suffix == ".gz" else plain_lines(file, start)


def plain_lines(file: BinaryIO, start: LinePlace) -> Iterator[IndexedLine]:
    """Every complete line of a file that is not compressed."""
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
    """Every complete line of a compressed file, whatever its last member lacks."""
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
    """Pieces of unpacked data, each with the offset at which its member begins."""
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
    """The one line that stands there; None if the file has changed and it does not."""
    try:
        with path.open("rb") as file:
            found = next(lines_from(file, path, place), None)
    except (OSError, DamagedFileError):
        return None
    return found.text if found is not None and found.at == place else None
