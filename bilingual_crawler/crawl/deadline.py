"""How long a crawl may still take that was told to stop.

A stop has stages, each with its share of the time: pages under way may arrive, the files are
put in order, and in the end the process is gone, whatever still holds it up. What a stage did
not get done is done when the crawl goes on.
"""

import time
from collections.abc import Callable

ANSWERS = 0.4
"""The share of the time in which servers may still answer."""
ORDER = 0.7
"""The share by which the files should be in order."""
ALL = 0.95
"""The share after which the process ends."""


class OutOfTimeError(Exception):
    """Something that is worth doing at the end of a crawl cannot be done in time."""


class StopDeadline:
    """Without limit, until somebody says stop; may be asked and told from any thread.

    It is told in a signal handler, so there is no lock in it.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._told_at: float | None = None

    @property
    def told(self) -> bool:
        """Whether somebody has said stop."""
        return self._told_at is not None

    def tell(self) -> None:
        """Say stop; once is enough."""
        if self._told_at is None:
            self._told_at = self._clock()

    def is_over(self, share: float = 1.0) -> bool:
        """Whether this share of the time has passed."""
        told_at = self._told_at
        return told_at is not None and self._clock() - told_at >= share * self.seconds

    def check(self) -> None:
        """Raise OutOfTimeError when the files should be in order by now."""
        if self.is_over(ORDER):
            raise OutOfTimeError
