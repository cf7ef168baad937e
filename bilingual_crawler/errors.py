"""Errors that are sentences to a person."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class ConfigurationError(SystemExit):
    """What the user wrote cannot be run; the message says what to write instead.

    It ends the process with its message alone and exit status 1, because a traceback
    would hide the one sentence that matters. Programs that embed the crawler catch it
    like any other exception.
    """

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))

    def __str__(self) -> str:
        return "\n".join(self.problems)


@contextmanager
def writing(target: Path, advice: str = "") -> Iterator[None]:
    """Turn what the disk says while `target` is written into a sentence, with some advice."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        sentence = f"{target} cannot be written: {why_unwritable(error)}."
        raise ConfigurationError(f"{sentence} {advice}".strip()) from error


def why_unwritable(error: BaseException) -> str:
    """The words of the system for what is wrong with the disk."""
    said = getattr(error, "strerror", None) or str(error)
    return said if isinstance(error, OSError) else f"SQLite says: {said}"
