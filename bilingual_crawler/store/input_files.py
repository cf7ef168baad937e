"""Files to read, plain or gzipped: as bytes, as lines, as tables, and as lines of JSON.

Whether a file is gzipped is seen in its first bytes, not in its name. Damaged lines are counted.
"""

import gzip
import json
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedReader, BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, Protocol, cast

from bilingual_crawler.errors import ConfigurationError

GZIP = b"\x1f\x8b"
"""The first bytes of every gzip file."""
DAMAGED_GZIP = (EOFError, zlib.error, gzip.BadGzipFile)
"""The exceptions of a gzip file that is cut off or damaged."""
STANDARD_INPUT = "-"
MAX_LINE = 1 << 25
"""Bytes per line. The largest page, written as a document, is well below that."""
MAX_TABLE_LINE = 1 << 20
_PIECE = 1 << 17
_REPORT_EVERY = 10_000

Content = BufferedReader | gzip.GzipFile

Watch = Callable[[float], None]
"""Called now and then with the share of a file that has been read, from 0 to 1."""

REPORT_EVERY = 1000
MOST_VALUES = 2_000_000
"""Commas per line: a value of two bytes becomes an object of fifty or more."""
_HALF = re.compile("[\ud800-\udfff]")


class Stream(Protocol):
    """Bytes to be read."""

    def read1(self, size: int = -1, /) -> bytes:
        """Read some bytes, at most `size`; none at the end."""


def unpacked(raw: BufferedReader) -> Content:
    """Return the content of a stream: the stream itself, or a reader that unpacks gzip."""
    return gzip.GzipFile(fileobj=raw) if raw.peek(len(GZIP))[: len(GZIP)] == GZIP else raw


def unpacked_bytes(data: bytes) -> Content:
    """Return the content of bytes that may be gzipped, to be read in parts."""
    return unpacked(BufferedReader(BytesIO(data)))


@contextmanager
def open_unpacked(file: Path) -> Iterator[Content]:
    """Open a file for reading its content as bytes."""
    with file.open("rb") as raw, unpacked(raw) as content:
        yield content


@contextmanager
def open_text(file: Path, encoding: str = "utf-8") -> Iterator[TextIOWrapper]:
    """Open a file for reading its content as text; bytes that are not text become U+FFFD."""
    with open_unpacked(file) as content, TextIOWrapper(content, encoding, "replace") as text:
        yield text


def bounded_lines(content: Stream, max_line: int = MAX_LINE) -> Iterator[bytes | None]:
    """Yield every line with its line feed; None instead of each that is too long.

    A file of half a megabyte can unpack to a line of gigabytes, so the rest of an overlong line
    is never kept. The file is read in pieces, because a reader that fills a buffer loses it at a
    damage: here, all lines before a damage are yielded before its error is raised.
    """
    begun: list[bytes] = []
    length = 0
    while piece := content.read1(_PIECE):
        for part in _split(piece):
            length += len(part)
            if length <= max_line:
                begun.append(part)
            else:
                begun.clear()
            if part.endswith(b"\n"):
                yield b"".join(begun) if length <= max_line else None
                begun, length = [], 0
    if length:
        yield b"".join(begun) if length <= max_line else None


def _split(piece: bytes) -> list[bytes]:
    """Split after line feeds alone; `splitlines` knows other ends."""
    *ended, last = piece.split(b"\n")
    return [*(each + b"\n" for each in ended), *([last] if last else [])]


def rows(
    source: str, progress: Callable[[int], None] = lambda _bytes: None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the stripped fields of each line of a tab-separated table, with its line number.

    `progress` is called with the number of bytes read since the last call. Empty and endless
    lines are skipped.
    """
    place = 0
    try:
        with ExitStack() as files:
            raw = _open_table(source, files)
            for number, found in enumerate(bounded_lines(unpacked(raw), MAX_TABLE_LINE), 1):
                line = (found or b"").decode("utf-8-sig" if number == 1 else "utf-8", "replace")
                if number % _REPORT_EVERY == 0 and raw.seekable():
                    progress(raw.tell() - place)
                    place = raw.tell()
                if line.strip():
                    yield number, [field.strip() for field in line.split("\t")]
    except EOFError as error:
        raise ConfigurationError(
            f"{name_of(source)} ends too soon: the gzip file is cut off."
        ) from error
    except (OSError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigurationError(f"{name_of(source)} cannot be read: {reason}.") from error


def name_of(source: str) -> str:
    """Return the name of a table for a message."""
    return "Standard input" if source == STANDARD_INPUT else source


def _open_table(source: str, files: ExitStack) -> BufferedReader:
    """Open a table; `files` closes it, but never standard input."""
    if source == STANDARD_INPUT:
        return cast("BufferedReader", sys.stdin.buffer)
    return files.enter_context(Path(source).open("rb"))


class Damage:
    """The lines that could not be read; the first one is kept with its reason."""

    def __init__(self) -> None:
        self.lines = 0
        self.first = ""

    def add(self, place: str, reason: str) -> None:
        """Count a line."""
        self.lines += 1
        self.first = self.first or f"{place}: {reason}"


def read_json_lines(
    file: Path, damage: Damage, watch: Watch = lambda _share: None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object of a file, with its file name and line.

    A line that is not an object, or too long, is counted and left out. So is the rest of a gzip
    file that is cut off, as a killed process leaves it. Half characters become U+FFFD, because
    no format can hold them.
    """
    try:
        with file.open("rb") as raw:
            size = max(1, file.stat().st_size)
            for number, line in enumerate(bounded_lines(unpacked(raw)), 1):
                if number % REPORT_EVERY == 0:
                    watch(min(1.0, raw.tell() / size))
                place = f"{file.name}, line {number}"
                if line is None or line.count(b",") > MOST_VALUES:
                    damage.add(place, "too long")
                    continue
                try:
                    fields = json.loads(line.decode())
                except (ValueError, RecursionError):
                    damage.add(place, "not JSON")
                    continue
                if isinstance(fields, dict):
                    yield place, _whole(fields) if b"\\u" in line else fields
                else:
                    damage.add(place, "not an object")
        watch(1.0)
    except DAMAGED_GZIP:
        damage.add(file.name, "the gzip file is cut off or damaged")
        watch(1.0)
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error.strerror or error}.") from error


def _whole(value: Any) -> Any:
    """Return a value without halves of characters, which JSON can express and UTF-8 cannot."""
    if isinstance(value, str):
        return _HALF.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, list):
        return [_whole(each) for each in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(each) for key, each in value.items()}
    return value
