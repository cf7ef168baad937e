"""The files of a Wikipedia dump on disk: found by name, opened, read with their damage told."""

import bz2
import gzip
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, cast

from bilingual_crawler.bootstrap.sql_dump import (
    PACKED_BADLY,
    Damage,
    MissingColumnError,
    Value,
    column_names,
    rows,
)
from bilingual_crawler.errors import ConfigurationError

ENDINGS = ("", ".gz", ".bz2")
PROGRESS_ROWS = 10_000
MOST_TOLD = 5

Watch = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and of how much."""

_Unpacked = BufferedReader | gzip.GzipFile | bz2.BZ2File


@dataclass(slots=True)
class Damages:
    """What could not be read of the files, to be told at the end."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Count a damage, and keep the first few in words."""
        self.count += 1
        if len(self.first) < MOST_TOLD:
            self.first.append(text)


class DumpFiles:
    """The files of one edition: `enwiki-20260101-page.sql.gz` and the like."""

    def __init__(self, place: Path, wiki: str, damages: Damages, watch: Watch) -> None:
        self.place = place
        self.wiki = f"{wiki.replace('-', '_')}wiki"
        self._damages = damages
        self._watch = watch

    def find(self, table: str) -> Path | None:
        """The file of a table; the newest where there are several."""
        return self._newest([f"-{table}.sql{ending}" for ending in ENDINGS])

    def find_pages(self) -> Path | None:
        """The file with the text of all articles."""
        kinds = ("pages-articles.xml", "pages-articles-multistream.xml")
        return self._newest([f"-{kind}{ending}" for kind in kinds for ending in ENDINGS])

    def _newest(self, endings: Sequence[str]) -> Path | None:
        found = [
            file
            for file in self.place.iterdir()
            if file.name.startswith(f"{self.wiki}-") and file.name.endswith(tuple(endings))
        ]
        return max(found, key=lambda file: file.name, default=None)

    def need(self, table: str) -> Path:
        """The file of a table that nothing can be done without."""
        found = self.find(table)
        if found is None:
            raise ConfigurationError(
                f"{self.place} has no file {self.wiki}-DATE-{table}.sql.gz: "
                f"download it from https://dumps.wikimedia.org/{self.wiki}/, or ask the server: "
                "leave --wikipedia out."
            )
        return found

    def columns(self, table: str) -> list[str]:
        """The columns of a table."""
        with self._opened(self.need(table)) as (stream, _):
            return column_names(stream)

    def rows(self, table: str, *columns: str) -> Iterator[tuple[Value, ...]]:
        """The wanted columns of every row of a table that can be read.

        Where a file breaks off, or is damaged, that is counted and told with its place.
        """
        file = self.need(table)

        def damaged(damage: Damage) -> None:
            self._damages.add(
                f"{file} is damaged at byte {damage.byte:,} (unpacked), after row {damage.row:,}"
            )

        count = 0
        with self._opened(file) as (stream, tell):
            try:
                for row in rows(stream, columns, damaged):
                    count += 1
                    if count % PROGRESS_ROWS == 0:
                        tell()
                    yield row
            except MissingColumnError as error:
                has = f"it has {', '.join(error.found)}" if error.found else "it names no columns"
                raise ConfigurationError(
                    f"{file} is no table {table} of MediaWiki: {has}, and no {error.column}."
                ) from None
            except PACKED_BADLY as error:
                self._damages.add(f"{file} breaks off after row {count:,}: {error}")
            tell()

    @contextmanager
    def unpacked(self, file: Path) -> Iterator[BinaryIO]:
        """A file to be read by others, with progress told as it is read."""
        with self._opened(file) as (stream, tell):
            yield cast("BinaryIO", _Telling(stream, tell))

    @contextmanager
    def _opened(self, file: Path) -> Iterator[tuple[_Unpacked, Callable[[], None]]]:
        try:
            raw = file.open("rb")
        except OSError as error:
            raise ConfigurationError(f"{file} cannot be read: {error.strerror}.") from None
        with raw:
            size = file.stat().st_size
            stream: _Unpacked = raw
            if file.suffix == ".gz":
                stream = gzip.GzipFile(fileobj=raw)
            elif file.suffix == ".bz2":
                stream = bz2.BZ2File(raw)
            with stream:
                yield stream, lambda: self._watch(file.name, raw.tell(), size)

    def damaged(self, text: str) -> None:
        """Count a damage that somebody else found."""
        self._damages.add(text)


class _Telling:
    """A stream whose every read is told."""

    def __init__(self, stream: _Unpacked, tell: Callable[[], None]) -> None:
        self._stream = stream
        self._tell = tell

    def read(self, size: int = -1) -> bytes:
        self._tell()
        return self._stream.read(size)
