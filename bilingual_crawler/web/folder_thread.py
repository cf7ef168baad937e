"""A thread that keeps an index of a folder up to date, in one process of all that serve it."""

import fcntl
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO


class FolderThread:
    """The work on one index, the lock that lets one process do it, and the order of the end."""

    def __init__(self, name: str, lock: Path, work: Callable[[], None]) -> None:
        self._path = lock
        self._held: IO[bytes] | None = None
        self._thread = threading.Thread(target=work, name=name, daemon=True)
        self.stop = threading.Event()
        """Set when the work should end."""

    @property
    def holds(self) -> bool:
        """Whether this process has the lock."""
        return self._held is not None

    def hold(self) -> bool:
        """Take the lock if no other process has it. Return whether this one has it."""
        if self._held is None:
            file = self._path.open("ab")
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._held = file
            if self._held is None:
                file.close()
        return self.holds

    def start(self) -> None:
        """Begin the work."""
        self._thread.start()

    def close(self, interrupt: Callable[[], None], shut: Callable[[], None]) -> None:
        """End the work: interrupt it, wait for it, shut what it used, and let others do it."""
        self.stop.set()
        interrupt()
        if self._thread.is_alive():
            self._thread.join()
        shut()
        if self._held is not None:
            self._held.close()
