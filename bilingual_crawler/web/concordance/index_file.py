"""Keeps the index of the concordance in step with the sentence pairs, and lets questions be asked.

The name of the index says from which state of `sentences.jsonl.gz` it was built, so a change is
seen without opening anything. One server per folder builds, and all of them read. Anyone may ask:
so a question has a few seconds, few run at once, and DuckDB has a limited memory and no access to
other files.
"""

import logging
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bilingual_crawler.store.sentence_pair import SENTENCES
from bilingual_crawler.web.concordance.building import (
    TEMPORARY,
    ConcordanceBuilder,
    Settings,
    StoppedError,
)
from bilingual_crawler.web.concordance.word_forms import form_maker
from bilingual_crawler.web.folder_thread import FolderThread

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

logger = logging.getLogger(__name__)

FORMAT = 2
PREFIX, SUFFIX = "concordance-", ".duckdb"
LOCK = "concordance.lock"
POLL_SECONDS = 2.0
RETRY_SECONDS = 60.0
WAIT_SECONDS = 0.2
SECONDS = 5.0
"""How long one question may take."""
AT_ONCE = 2
MEMORY, THREADS = "400MB", 2
IDLE_SECONDS = 300.0
"""After this long without a question, the memory is given back."""
LANGUAGES = "SELECT value FROM info WHERE name IN ('language1', 'language2')"
EXTRA = "pip install 'bilingual-crawler[concordance]'"
TOO_SLOW = "This takes too much time or memory: ask for a rarer word, or set a filter."
DAMAGED = f"The index of words is damaged: stop the server, and delete {PREFIX}*{SUFFIX}."


_slots = threading.BoundedSemaphore(AT_ONCE)
_building = threading.Lock()
"""These bound the work of the whole process, which may serve many folders."""


class SlowQuestionError(Exception):
    """A question that takes too long; the message is for the person who asked."""


class NoConcordanceError(Exception):
    """There is no index to ask (yet); the message says why."""


class Asking:
    """One question's connection: its statements together have `SECONDS`."""

    def __init__(self, connection: "DuckDBPyConnection") -> None:
        self._connection = connection
        self.until = time.monotonic() + SECONDS

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a statement."""
        return self._execute(statement, values).fetchall()

    def row(self, statement: str, values: Sequence[Any] = ()) -> tuple[Any, ...]:
        """Return the only row of a statement."""
        found = self._execute(statement, values).fetchone()
        if found is None:
            raise NoConcordanceError(DAMAGED)
        return found

    def _execute(self, statement: str, values: Sequence[Any]) -> "DuckDBPyConnection":
        if time.monotonic() > self.until:  # an interrupt between two statements is lost
            raise SlowQuestionError(TOO_SLOW)
        return self._connection.execute(statement, list(values))


class ConcordanceIndex:
    """The index of one folder: it is built in the background, and asked by many."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.problem = ""
        """Why there is no index, or what is wrong with it."""
        self.share: float | None = None
        """How much of a new index is built; None if none is."""
        self._opening = threading.Lock()
        self._open: tuple[str, DuckDBPyConnection] | None = None
        self._is_started = False
        self._asked = 0.0
        self._builder: ConcordanceBuilder | None = None
        self._thread = FolderThread("concordance", folder / LOCK, self._work)
        self._stop = self._thread.stop
        if not is_installed():
            self.problem = f"The concordance needs two more packages: {EXTRA}"

    def start(self) -> None:
        """Follow the file from now on, until `close`; it may be called again."""
        with self._opening:
            self._asked = time.monotonic()
            if is_installed() and not self._is_started and not self._stop.is_set():
                self._is_started = True
                self._thread.start()

    def close(self) -> None:
        """Stop building, and close the index."""
        self._thread.close(self._interrupt, self._shut)

    def _interrupt(self) -> None:
        if self._builder is not None:
            self._builder.stop()

    def _shut(self) -> None:
        with self._opening:
            if self._open is not None:
                self._open[1].close()
                self._open = None

    @property
    def version(self) -> str:
        """The name of the index that is asked now; "" if there is none."""
        return self._open[0] if self._open else ""

    def refresh(self) -> None:
        """Build the index if the sentence pairs have changed."""
        wanted = self._wanted()
        if wanted is None:
            self.problem = "" if is_installed() else self.problem
            self._remove_others("")
            return
        if not (self._folder / wanted).exists() and not self._build(wanted):
            return
        self._use(wanted)

    @contextmanager
    def asking(self) -> Iterator[Asking]:
        """Return a connection for one question; raise an error if there is no index.

        The question is stopped when its time is over.
        """
        import duckdb  # noqa: PLC0415 - an extra

        self.start()
        if not _slots.acquire(timeout=SECONDS):
            raise SlowQuestionError("Others are asking right now: try again in a moment.")
        try:
            cursor = self._cursor()
            timer = threading.Timer(SECONDS, cursor.interrupt)
            timer.start()
            try:
                yield Asking(cursor)
            except (duckdb.InterruptException, duckdb.OutOfMemoryException):
                raise SlowQuestionError(TOO_SLOW) from None
            except duckdb.Error:
                logger.exception("The concordance cannot be asked")
                raise NoConcordanceError(DAMAGED) from None
            finally:
                timer.cancel()
                cursor.close()
        finally:
            _slots.release()

    def _cursor(self) -> "DuckDBPyConnection":
        with self._opening:
            if self._open is None:
                raise NoConcordanceError(self.problem or "The concordance is not ready yet.")
            return self._open[1].cursor()

    def _work(self) -> None:
        import duckdb  # noqa: PLC0415 - an extra

        wait, last = 0.0, None
        while not self._stop.wait(wait):
            wait = POLL_SECONDS
            now = self._wanted()
            is_steady, last = now == last or self._open is None, now
            if time.monotonic() - self._asked > IDLE_SECONDS:
                self._shut()
                continue
            if not is_steady:
                continue
            try:
                self.refresh()
            except StoppedError:
                return
            except (OSError, duckdb.Error) as error:
                if self._stop.is_set():
                    return
                logger.error("The concordance cannot be built: %s", error)  # noqa: TRY400 - the disk, not our code
                self.problem = f"The concordance cannot be built: {error}"
                wait = RETRY_SECONDS

    def _wanted(self) -> str | None:
        """Return the name of the index for the sentence pairs as they are now."""
        try:
            found = (self._folder / SENTENCES).stat()
        except OSError:
            return None
        state = f"{FORMAT} {found.st_size} {found.st_mtime_ns}".encode()
        return f"{PREFIX}{blake2b(state, digest_size=6).hexdigest()}{SUFFIX}"

    def _build(self, name: str) -> bool:
        """Build an index. Return False if another server does so."""
        if not self._thread.hold():
            return False
        for left in self._folder.glob(f"{TEMPORARY}*"):
            shutil.rmtree(left, ignore_errors=True)
        self.share = 0.0
        self._builder = ConcordanceBuilder(self._folder, self._note)
        try:
            while not _building.acquire(timeout=WAIT_SECONDS):
                self._note(0.0)  # another folder's index may take minutes
            try:
                self._builder.build(self._folder / name)
            finally:
                _building.release()
            self.problem = self._builder.problem
        finally:
            self.share = self._builder = None
        return True

    def _note(self, share: float) -> None:
        self.share = share
        if self._stop.is_set():
            raise StoppedError

    def _use(self, name: str) -> None:
        """Ask this index from now on."""
        import duckdb  # noqa: PLC0415 - an extra

        if self.version == name:
            return
        settings: Settings = {
            "memory_limit": MEMORY,
            "threads": THREADS,
            "enable_external_access": False,
            "lock_configuration": True,
            "max_temp_directory_size": "0KB",
        }
        fresh = duckdb.connect(self._folder / name, read_only=True, config=settings)
        for (language,) in fresh.execute(LANGUAGES).fetchall():
            form_maker(language)
        with self._opening:
            old, self._open = self._open, (name, fresh)
        if old is not None:
            old[1].close()
        self._remove_others(name)

    def _remove_others(self, name: str) -> None:
        if not self._thread.holds:
            return
        for each in self._folder.glob(f"{PREFIX}*{SUFFIX}"):
            if each.name != name:
                with suppress(OSError):
                    each.unlink()


def is_installed() -> bool:
    """Return True if the packages of the concordance are there."""
    return all(find_spec(name) is not None for name in ("duckdb", "simplemma"))
