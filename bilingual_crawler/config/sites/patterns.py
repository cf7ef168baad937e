"""Regular expressions of users, checked before they are applied to untrusted URLs."""

import re
import signal
import threading
import warnings
from types import FrameType

LONGEST_PATTERN = 1_000
MOST_REPEATS = 10_000
"""How often a pattern may repeat nested groups; no URL has that many parts."""
SECONDS = 0.25
_PROBE_LENGTH = 1_000
_COMMON = "aZ0/-_.=&%?+,"
_REPEATED_GROUP = re.compile(r"[)\s]\{([0-9]*),?([0-9]*)\}")


class _TooSlowError(Exception):
    """Raised in a search that takes too long."""


def compile_pattern(text: str) -> re.Pattern[str]:
    """Compile a pattern, or raise a ValueError that says why it cannot be used."""
    if not text:
        raise ValueError("is empty, which would match every URL")
    if len(text) > LONGEST_PATTERN:
        raise ValueError(f"is longer than {LONGEST_PATTERN:,} characters")
    if "\b" in text or "\f" in text:
        raise ValueError("has a control character in it; write it in single quotes")
    if _repeats(text) > MOST_REPEATS:
        raise ValueError(
            f"repeats its groups more than {MOST_REPEATS:,} times; use smaller numbers, and no"
            " repetition inside a repetition"
        )
    try:
        with warnings.catch_warnings(action="error", category=FutureWarning):
            pattern = re.compile(text)
    except (re.error, FutureWarning) as error:
        raise ValueError(f"is not a regular expression ({error})") from None
    except (OverflowError, RecursionError):
        raise ValueError("is too complicated for a regular expression") from None
    if _is_slow(pattern):
        raise ValueError(
            f"takes more than {SECONDS:g} s on a URL of {_PROBE_LENGTH:,} characters; "
            "avoid a repetition inside a repetition, such as (a+)+"
        )
    return pattern


def _repeats(text: str) -> int:
    """Return the maximum number of repetitions of groups, if they are all nested.

    `re` stores a position per repetition, even if it matches nothing: with numbers in the
    millions that takes gigabytes before any timer fires.
    """
    repeats = 1
    for found in _REPEATED_GROUP.finditer(text):
        repeats *= max(1, *(int(number or 0) for number in found.groups()))
    return repeats


def _is_slow(pattern: re.Pattern[str]) -> bool:
    """Return True if the pattern backtracks without end.

    `re` can only be stopped by a signal, which Python allows in the main thread only; elsewhere,
    and on systems without such a timer, patterns are trusted. The timer measures processor time,
    so that a busy machine makes no difference.
    """
    if threading.current_thread() is not threading.main_thread():
        return False
    if not hasattr(signal, "setitimer"):
        return False

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _TooSlowError

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        for character in dict.fromkeys(_COMMON + pattern.pattern):
            pattern.search("https://example.org/" + character * _PROBE_LENGTH + "\n!")
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except (_TooSlowError, MemoryError):
        return True
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return False
