"""Tables that people bring: tab-separated lines, plain or gzipped, or standard input."""

import gzip
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from typing import cast

from bilingual_crawler.errors import ConfigurationError

STANDARD_INPUT = "-"
_GZIP = b"\x1f\x8b"
_TOLD_EVERY = 10_000


def rows(
    source: str, progress: Callable[[int], None] = lambda _bytes: None
) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line that has any, stripped, with its number.

    `progress` is told how many more bytes of the file were read.
    """
    place = 0
    try:
        with ExitStack() as files:
            plain, text = _open(source, files)
            for number, line in enumerate(text, 1):
                if number % _TOLD_EVERY == 0 and plain.seekable():
                    progress(plain.tell() - place)
                    place = plain.tell()
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
    """A table as a sentence names it."""
    return "Standard input" if source == STANDARD_INPUT else source


def _open(source: str, files: ExitStack) -> tuple[BufferedReader, TextIOWrapper]:
    """The bytes and the text; whether it is gzipped is seen in its first bytes, not its name."""
    if source == STANDARD_INPUT:
        plain = cast("BufferedReader", sys.stdin.buffer)
    else:
        plain = files.enter_context(Path(source).open("rb"))  # noqa: SIM115 - the stack closes it
    zipped = plain.peek(len(_GZIP))[: len(_GZIP)] == _GZIP
    stream = files.enter_context(gzip.GzipFile(fileobj=plain)) if zipped else plain
    text = TextIOWrapper(stream, "utf-8-sig", "replace")
    files.callback(text.detach) if source == STANDARD_INPUT else files.enter_context(text)
    return plain, text
