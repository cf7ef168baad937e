"""Byte strings in a file without a name, so that memory holds where each of them is and no more.

What pairing remembers of a page is read again when the page is compared, which is seldom. Reading
it from a file that the system has cached takes two microseconds. A few megabytes stay in memory, so
a small crawl writes no file.
"""

import os
import tempfile
import weakref
from array import array
from io import FileIO

KEPT = 4 << 20
"""Bytes that are collected before they are written."""


class SpilledBytes:
    """A list of byte strings, all but the last ones in a temporary file.

    If the disk is full, they stay in memory from then on.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._starts = array("Q")
        self._sizes = array("I")
        self._recent = bytearray()
        self._written = 0
        self._file: FileIO | None = None
        self._is_full = False

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, number: int) -> bytes:
        start, size = self._starts[number], self._sizes[number]
        if start >= self._written:
            at = start - self._written
            return bytes(self._recent[at : at + size])
        assert self._file is not None
        return os.pread(self._file.fileno(), size, start)

    def append(self, value: bytes) -> None:
        """Add a string."""
        self._starts.append(self._written + len(self._recent))
        self._sizes.append(len(value))
        self._take(value)

    def __setitem__(self, number: int, value: bytes) -> None:
        """Replace a string; the place of the former is lost."""
        self._starts[number] = self._written + len(self._recent)
        self._sizes[number] = len(value)
        self._take(value)

    def _take(self, value: bytes) -> None:
        self._recent += value
        if len(self._recent) >= self._kept and not self._is_full:
            self._spill()

    def _spill(self) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - kept open
                weakref.finalize(self, self._file.close)
            done = 0
            while done < len(self._recent):
                with memoryview(self._recent) as recent:
                    done += os.pwrite(self._file.fileno(), recent[done:], self._written + done)
        except OSError:
            self._is_full = True
            return
        self._written += len(self._recent)
        self._recent = bytearray()
