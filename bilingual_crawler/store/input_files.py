"""Files to read, plain or gzipped: as bytes, as lines and as tables.

Whether a file is gzipped is seen in its first bytes, not in its name.
"""

import gzip
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedReader, BytesIO, TextIOWrapper
from pathlib import Path
from typing import cast

from bilingual_crawler.errors import ConfigurationError

GZIP = b"\x1f\x8b"
"""The first bytes of every gzip file."""
DAMAGED_GZIP = (EOFError, zlib.error, gzip.BadGzipFile)
"""What reading raises where a gzip file is cut off or damaged."""
STANDARD_INPUT = "-"
_REPORT_EVERY = 10_000

Content = BufferedReader | gzip.GzipFile


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


def bounded_lines(content: Content, max_line: int) -> Iterator[bytes]:
    """Yield the lines of a file; a line longer than `max_line` bytes comes in several parts."""
    while line := content.readline(max_line):
        yield line


def rows(
    source: str, progress: Callable[[int], None] = lambda _bytes: None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the stripped fields of each line of a tab-separated table, with its line number.

    `progress` is called with the number of bytes read since the last call. Empty lines are
    skipped.
    """
    place = 0
    try:
        with ExitStack() as files:
            raw, text = _open_table(source, files)
            for number, line in enumerate(text, 1):
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


def _open_table(source: str, files: ExitStack) -> tuple[BufferedReader, TextIOWrapper]:
    """Open a table as bytes and as text; `files` closes both, but never standard input."""
    if source == STANDARD_INPUT:
        raw = cast("BufferedReader", sys.stdin.buffer)
        text = TextIOWrapper(unpacked(raw), "utf-8-sig", "replace")
        files.callback(text.detach)
    else:
        raw = files.enter_context(Path(source).open("rb"))  # noqa: SIM115 - the stack closes it
        text = files.enter_context(TextIOWrapper(unpacked(raw), "utf-8-sig", "replace"))
    return raw, text
