"""Tables that people bring: tab-separated lines, plain or gzipped, or standard input."""

import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from io import BufferedReader
from pathlib import Path
from typing import cast

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lines import bounded_lines, unpacked

STANDARD_INPUT = "-"
LONGEST_LINE = 1 << 20
_TOLD_EVERY = 10_000


def rows(
    source: str, progress: Callable[[int], None] = lambda _bytes: None
) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line that has any, stripped, with its number; endless lines have none.

    `progress` is told how many more bytes of the file were read.
    """
    place = 0
    try:
        with ExitStack() as files:
            plain = _open(source, files)
            for number, found in enumerate(bounded_lines(unpacked(plain), LONGEST_LINE), 1):
                line = (found or b"").decode("utf-8-sig" if number == 1 else "utf-8", "replace")
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


def _open(source: str, files: ExitStack) -> BufferedReader:
    if source == STANDARD_INPUT:
        return cast("BufferedReader", sys.stdin.buffer)
    return files.enter_context(Path(source).open("rb"))
