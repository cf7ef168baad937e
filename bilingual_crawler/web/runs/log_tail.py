"""The last lines of a log, as text for a page."""

import os
import stat
from pathlib import Path

from bilingual_crawler.reporting.terminal import plain

MAX_BYTES = 1 << 15
MAX_LINES = 60
MAX_LENGTH = 400


def file_tail(path: Path) -> list[str]:
    """Return the last lines of a file; none if it is not a regular file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return []
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return []
        begin = max(0, found.st_size - MAX_BYTES)
        file.seek(begin)
        return last_lines(file.read(MAX_BYTES), is_cut=begin > 0)


def last_lines(content: bytes, *, is_cut: bool) -> list[str]:
    """Return the last lines of the end of a log; if it `is_cut`, the first line is not whole."""
    lines = content.decode("utf-8", "replace").splitlines()
    if is_cut:
        del lines[:1]
    return [plain(line[:MAX_LENGTH]) for line in lines[-MAX_LINES:]]
