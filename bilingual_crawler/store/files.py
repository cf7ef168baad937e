"""Output files that only grow, and that are readable at every length in the journal."""

import errno
import gzip
import logging
import os
import shutil
from itertools import count
from pathlib import Path
from typing import Any

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.durable import put_in_place, sync, sync_folder
from bilingual_crawler.store.journal import FileEnd, digest_of_end

logger = logging.getLogger(__name__)

BYTES_PER_CHARACTER = 4.01
"""Maximum size of a character: four bytes in UTF-8, and what compression may add."""
OVERHEAD_BYTES = 1024


class AppendFile:
    """A file of text lines, continued at the length that the journal vouches for."""

    def __init__(self, path: Path, end: FileEnd) -> None:
        self.name = path.name
        self._descriptor, self.moved_aside = open_at(path, end)

    def append(self, items: list[Any]) -> None:
        """Write lines, which include their line ends."""
        write_all(self._descriptor, self.encode("".join(items).encode()))

    def most_bytes(self, items: list[Any]) -> int:
        """Return the maximum by which these lines make the file longer."""
        return int(BYTES_PER_CHARACTER * sum(map(len, items))) + OVERHEAD_BYTES

    def encode(self, data: bytes) -> bytes:
        """Return the bytes to write for some text."""
        return data

    def sync(self) -> dict[str, int]:
        """Flush everything to disk and return the length."""
        os.fsync(self._descriptor)
        return {self.name: os.lseek(self._descriptor, 0, os.SEEK_CUR)}

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


class GzipAppendFile(AppendFile):
    """A file of compressed text lines: each checkpoint adds a gzip member."""

    def encode(self, data: bytes) -> bytes:
        """Return a gzip member; any number of them in a row is a valid file."""
        return gzip.compress(data, compresslevel=6, mtime=0)


def open_at(path: Path, end: FileEnd) -> tuple[int, list[Path]]:
    """Open a file to continue it at its end; return it and the files moved aside.

    Anything after the end is cut off. If that is more than an interrupted checkpoint can have
    written (the journal may be an old copy), it is first copied to a file of its own.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise ConfigurationError(
            f"{path} is a symbolic link, and a crawl does not follow those: put the file itself"
            " there, or choose another folder with -a output=DIR."
        ) from None
    try:
        _check(path, descriptor, end)
        behind = os.fstat(descriptor).st_size - end.size
        aside = [_copy_end(path, end.size)] if behind > end.explained else []
        os.ftruncate(descriptor, end.size)
        os.fsync(descriptor)
        sync_folder(path.parent)
        os.lseek(descriptor, end.size, os.SEEK_SET)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, aside


def _check(path: Path, descriptor: int, end: FileEnd) -> None:
    """Refuse a file that cannot be the one in the journal."""
    found = os.fstat(descriptor).st_size
    if found < end.size:
        raise ConfigurationError(
            f"{path} has {found} bytes, but this crawl had written {end.size}: put the file back, "
            "or start again in another folder with -a output=DIR."
        )
    if end.digest is not None and digest_of_end(descriptor, end.size) != end.digest:
        raise ConfigurationError(
            f"{path} does not belong to the journal in its folder: they are of two crawls, or of"
            " two different times. Put back two that belong together, or start again in another"
            " folder with -a output=DIR."
        )


def move_aside(path: Path) -> Path:
    """Rename a file that the journal does not know, and log it."""
    aside = _free_name(path)
    put_in_place(path, aside)
    _tell(aside, path)
    return aside


def _copy_end(path: Path, size: int) -> Path:
    """Copy everything after the end of a file to a file of its own."""
    aside = _free_name(path)
    with path.open("rb") as whole, aside.open("xb") as rest:
        whole.seek(size)
        shutil.copyfileobj(whole, rest)
    sync(aside)
    sync_folder(aside.parent)
    _tell(aside, path)
    return aside


def _free_name(path: Path) -> Path:
    names = (path.with_name(f"cut-{number}-{path.name}") for number in count(1))
    return next(name for name in names if not os.path.lexists(name))


def _tell(aside: Path, path: Path) -> None:
    logger.warning(
        "The journal of the crawl does not know %d bytes of %s, more than a kill can explain:"
        " is %s an old copy? They are in %s now, and the crawl continues from its journal.",
        aside.stat().st_size,
        path,
        path.parent / "crawl.sqlite",
        aside,
    )


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte; the kernel may take a large write in pieces."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
