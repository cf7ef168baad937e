"""Output files that only grow, and whose every length on record is a readable file."""

import gzip
import os
from pathlib import Path
from typing import Any

from bilingual_crawler.errors import ConfigurationError


class AppendFile:
    """Text lines; the journal says how long the file was when all was well."""

    def __init__(self, path: Path, size: int) -> None:
        self.name = path.name
        self._descriptor = open_at(path, size)

    def append(self, items: list[Any]) -> None:
        """Write the lines, each with its end."""
        write_all(self._descriptor, self.encode("".join(items).encode()))

    def encode(self, data: bytes) -> bytes:
        """How text stands in the file."""
        return data

    def sync(self) -> dict[str, int]:
        """Push everything to the disk and tell the length."""
        os.fsync(self._descriptor)
        return {self.name: os.lseek(self._descriptor, 0, os.SEEK_CUR)}

    def close(self) -> None:
        """Give the file back."""
        os.close(self._descriptor)


class GzipAppendFile(AppendFile):
    """Compressed text lines: each checkpoint adds a gzip member of its own."""

    def encode(self, data: bytes) -> bytes:
        """A gzip member; any number of them in a row is one valid file."""
        return gzip.compress(data, compresslevel=6, mtime=0)


def open_at(path: Path, size: int) -> int:
    """Open a file to be continued at `size`, without what a kill left behind it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    found = os.fstat(descriptor).st_size
    if found < size:
        os.close(descriptor)
        raise ConfigurationError(
            f"{path} has {found} bytes, but this crawl had written {size}: put the file back, "
            "or start anew in another folder with -a output=DIR."
        )
    os.ftruncate(descriptor, size)
    os.lseek(descriptor, size, os.SEEK_SET)
    return descriptor


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte; the kernel may take a large write in pieces."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
