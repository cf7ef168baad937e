"""Crawls as child processes that outlive the page and the server.

A process is recognised by its command line, which has a random name and the folder of the crawl:
its number alone may long belong to another program, and the record with the number may have come
with a folder of someone else.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import psutil

from bilingual_crawler.errors import ConfigurationError, why_unwritable
from bilingual_crawler.store.folder import LOG
from bilingual_crawler.web.runs.log_tail import file_tail
from bilingual_crawler.web.runs.order import CrawlOrder
from bilingual_crawler.web.runs.record import RunRecord

PROGRAM = "bilingual_crawler"


class ChildRuns:
    """Starts, finds and stops crawls on this machine."""

    via = "process"

    def __init__(self, fixed: Mapping[str, str]) -> None:
        self._fixed = fixed
        self._ended: dict[str, int] = {}

    def start(self, order: CrawlOrder) -> RunRecord:
        """Start a crawl in a session of its own; its output goes to the log in its folder."""
        name, folder = uuid4().hex, order.output
        words = [sys.executable, "-m", PROGRAM, *order.words(self._fixed), "-a", f"_run={name}"]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            log = os.open(
                folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o644
            )
            try:
                process = subprocess.Popen(  # noqa: S603 - our own program, with checked arguments
                    words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
                )
            finally:
                os.close(log)
        except OSError as error:
            raise ConfigurationError(
                f"The crawl cannot be started in {folder}: {why_unwritable(error)}."
            ) from error
        except ValueError as error:  # a record of anyone may have bytes that no command can
            raise ConfigurationError(f"The crawl cannot be started: {error}.") from None
        record = RunRecord(
            id=name, via="process", order=order, pid=process.pid,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
        )  # fmt: skip
        self._await(name, process)
        try:
            record.write()
        except ConfigurationError:
            process.terminate()  # nobody could find it again
            raise
        return record

    def _await(self, name: str, process: "subprocess.Popen[bytes]") -> None:
        """Take note of the end of a crawl, so that it does not stay as a zombie."""

        def wait() -> None:
            self._ended[name] = process.wait()

        threading.Thread(target=wait, name="crawl", daemon=True).start()

    def state(self, record: RunRecord) -> str:
        """Return "running" or "ended"."""
        return "ended" if _process(record) is None else "running"

    def status(self, record: RunRecord) -> int | None:
        """Return the exit status of a crawl that this server has started; None if unknown."""
        return self._ended.get(record.id)

    def stop(self, record: RunRecord) -> bool:
        """Ask a crawl to stop. Return False if it has ended."""
        process = _process(record)
        if process is None:
            return False
        try:
            process.terminate()  # psutil makes sure that the number was not given to another
        except psutil.NoSuchProcess:
            return False
        return True

    def log(self, record: RunRecord) -> list[str]:
        """Return the last lines of the log."""
        return file_tail(record.order.output / LOG)


def _process(record: RunRecord) -> psutil.Process | None:
    """Return the process of a record; None if it has ended, or if the number is another's."""
    if record.pid <= 1:
        return None
    try:
        process = psutil.Process(record.pid)
        words = process.cmdline()
        is_over = process.status() == psutil.STATUS_ZOMBIE
    except (psutil.Error, ValueError, OverflowError):
        return None
    folder = _argument(record.order.output)
    is_ours = PROGRAM in words and f"_run={record.id}" in words and folder in words
    return process if is_ours and not is_over else None


def _argument(folder: Path) -> str:
    return f"output={folder}"
