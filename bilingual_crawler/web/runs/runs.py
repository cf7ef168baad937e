"""The crawls that the page may start: who runs them, where they write, and their states."""

import re
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.folder import JOURNAL, LOG
from bilingual_crawler.store.journal import is_locked
from bilingual_crawler.web.library import LOCK, list_folders
from bilingual_crawler.web.runs.log_tail import file_tail
from bilingual_crawler.web.runs.order import CrawlOrder, Problems, check_order
from bilingual_crawler.web.runs.record import RunRecord, read_record

_SEGMENT = re.compile(r"\w[\w .,+@=-]{0,99}")
MAX_SEGMENTS = 3


class Runner(Protocol):
    """What runs crawls: this machine, or a scrapyd."""

    via: str

    def start(self, order: CrawlOrder) -> RunRecord:
        """Start a crawl, and write its record."""

    def state(self, record: RunRecord) -> str:
        """Return "waiting", "running" or "ended"."""

    def status(self, record: RunRecord) -> int | None:
        """Return the exit status, if it is known."""

    def stop(self, record: RunRecord) -> bool:
        """Ask a crawl to stop. Return False if it has ended."""

    def log(self, record: RunRecord) -> list[str]:
        """Return the last lines of its log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """What the page says about the run of a crawl."""

    phase: str
    """never, waiting, running, stopping, elsewhere, ended, or unknown if nobody answers"""
    started: str = ""
    pid: int = 0
    via: str = ""
    status: int | None = None
    problem: str = ""
    log: list[str] = field(default_factory=list)

    @property
    def is_going_on(self) -> bool:
        """Whether the crawl may still change anything."""
        return self.phase in {"waiting", "running", "stopping", "elsewhere"}

    @property
    def can_stop(self) -> bool:
        """Whether it can be stopped from here."""
        return self.phase in {"waiting", "running", "stopping"}


class Runs:
    """Starts, finds and stops the crawls below a folder, or in it."""

    def __init__(
        self,
        root: Path,
        runner: Runner,
        fixed: Mapping[str, str] | None = None,
        *,
        most: int = 4,
        program: str = "scrapy",
    ) -> None:
        self.root = root
        self.fixed = dict(fixed or {})
        self._runner = runner
        self._most = most
        self._program = program
        self._stopping: set[str] = set()
        self._started: dict[Path, RunRecord] = {}
        self._starting = threading.Lock()

    def folder_of(self, name: str) -> Path:
        """Return the folder for an output name; raise a ValueError if it is not a good one."""
        parts = [part.strip() for part in name.strip().split("/")]
        if not all(map(_SEGMENT.fullmatch, parts)) or len(parts) > MAX_SEGMENTS:
            raise ValueError(
                "The output is a name such as spa-eus or news/spa-eus: letters, digits and"
                " . - _ + = @ , in at most three parts."
            )
        folder = self.root
        for part in parts:
            folder /= part
            try:
                is_link = folder.is_symlink()
            except OSError as error:
                raise ValueError(f"{part} cannot be used: {error.strerror}.") from None
            if is_link:
                raise ValueError(f"{part} is a symbolic link, which is not followed.")
        return folder

    def check(self, order: CrawlOrder) -> Problems:
        """Return what is wrong with an order, by argument or setting."""
        return check_order(order, self.root, self.fixed)

    def command(self, order: CrawlOrder) -> str:
        """Return the command that does the same in a terminal."""
        return order.command(self.fixed, self._program)

    def start(self, order: CrawlOrder) -> None:
        """Start or resume the crawl of a checked order."""
        with self._starting:
            if self.state(order.output).is_going_on:
                raise ConfigurationError("This crawl is running already.")
            running = self._number_running()
            if running >= self._most:
                raise ConfigurationError(
                    f"{running} crawls are running here, and no more are allowed: stop one first,"
                    " or start the server with --max-crawls."
                )
            self._started[order.output] = self._runner.start(order)

    def _number_running(self) -> int:
        """Count the crawls that run below the folder, and those that have yet to open theirs."""
        folders = {
            self.root / each.path
            for each in list_folders(self.root).cards
            if each.state == "running"
        }
        self._started = {
            folder: record
            for folder, record in self._started.items()
            if self._runner.state(record) != "ended"
        }
        return len(folders | self._started.keys())

    def stop(self, folder: Path) -> None:
        """Ask the crawl in a folder to stop, at once if it was asked before."""
        record = self._record(folder)
        if record is None or not self._runner.stop(record):
            raise ConfigurationError(
                "No crawl that was started here is running in this folder. One that was started"
                " in a terminal is stopped there with Ctrl-C."
            )
        self._stopping.add(record.id)

    def state(self, folder: Path, *, with_log: bool = False) -> RunState:
        """Return the state of the crawl in a folder."""
        record = self._record(folder)
        if record is None:
            return idle_state(folder)
        phase, problem = "ended", ""
        try:
            phase = self._runner.state(record)
        except ConfigurationError as error:
            phase, problem = "unknown", str(error)
        if phase == "ended" and is_running(folder):
            phase = "elsewhere"
        if phase == "running" and record.id in self._stopping:
            phase = "stopping"
        return RunState(
            phase=phase,
            started=record.started,
            pid=record.pid,
            via=record.via,
            status=self._runner.status(record),
            problem=problem,
            log=self._runner.log(record) if with_log else [],
        )

    def last_order(self, folder: Path) -> CrawlOrder | None:
        """Return what was ordered when the crawl was last started here; None if it was not."""
        record = read_record(folder)
        return None if record is None else record.order

    def _record(self, folder: Path) -> RunRecord | None:
        """Return the record of a start by the present runner."""
        record = read_record(folder)
        return record if record is not None and record.via == self._runner.via else None


def idle_state(folder: Path) -> RunState:
    """Return the state of a crawl that was not started here, with its log."""
    phase = "elsewhere" if is_running(folder) else "never"
    return RunState(phase=phase, log=file_tail(folder / LOG))


def is_running(folder: Path) -> bool:
    """Return True if some process writes to the crawl in a folder."""
    with suppress(OSError):
        lock = folder / LOCK
        return lock.is_file() and not lock.is_symlink() and is_locked(folder / JOURNAL)
    return False
