"""Errors whose messages are sentences for the user."""

import logging
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import parent_process
from pathlib import Path

logger = logging.getLogger(__name__)

USAGE_STATUS = 2
"""The exit status of a process that cannot do what it was asked."""


PROGRAMS = frozenset({"scrapy", "scrapyd", "bilingual-crawler", "bilingual_crawler"})
"""Programs whose whole process is one of our commands or crawls."""


class ConfigurationError(Exception):
    """What the user wrote cannot be run; each problem says what to write instead."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


@contextmanager
def exit_on_configuration_error(*, always: bool = False) -> Iterator[None]:
    """End a command with the sentences of a ConfigurationError and exit status 2.

    For the places where Scrapy calls us: it would show a traceback, which hides the one
    sentence that matters. Other programs that run a crawl get the error itself, unless `always`.
    """
    try:
        yield
    except ConfigurationError as error:
        if not (always or is_command()):
            raise
        sys.stderr.write(f"{error}\n")
        _log(error)
        raise SystemExit(USAGE_STATUS) from error


def _log(error: ConfigurationError) -> None:
    """Write an error into the log too, if that is a file: of a job, scrapyd shows nothing else."""
    if any(isinstance(each, logging.FileHandler) for each in logging.root.handlers):
        for problem in error.problems:
            logger.error(problem)


def is_command() -> bool:
    """Return True if the whole process is one command, or one job of scrapyd."""
    if parent_process() is not None:
        return False
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    name = main.name if main is not None else Path(sys.argv[0]).stem
    return name.partition(".")[0] in PROGRAMS


@contextmanager
def writing(target: Path, advice: str = "") -> Iterator[None]:
    """Turn errors of the disk while `target` is written into a sentence, with some advice."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        sentence = f"{target} cannot be written: {why_unwritable(error)}."
        raise ConfigurationError(f"{sentence} {advice}".strip()) from error


def why_unwritable(error: BaseException) -> str:
    """Return what the system says is wrong with the disk."""
    said = getattr(error, "strerror", None) or str(error)
    return said if isinstance(error, OSError) else f"SQLite says: {said}"
