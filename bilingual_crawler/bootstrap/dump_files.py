"""The files of a Wikipedia dump: found by name, opened, and read with their damage reported."""

import bz2
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bilingual_crawler.bootstrap.sql_dump import (
    BrokenOffError,
    DumpDamage,
    MissingColumnError,
    Value,
    column_names,
    rows,
)
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.input_files import Content, unpacked

ENDINGS = ("", ".gz", ".bz2")
MOST_TOLD = 5

Watch = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and the total."""


@dataclass(slots=True)
class Damages:
    """What could not be read in the files, to be reported at the end."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Count a damage, and keep the first few in words."""
        self.count += 1
        if len(self.first) < MOST_TOLD:
            self.first.append(text)


class DumpFiles:
    """The files of one edition, such as `enwiki-20260101-page.sql.gz`."""

    def __init__(self, place: Path, wiki: str, damages: Damages, watch: Watch) -> None:
        self.place = place
        self.wiki = f"{wiki.replace('-', '_')}wiki"
        self._damages = damages
        self._watch = watch

    def find(self, table: str) -> Path | None:
        """Return the file of a table, the newest if there are several."""
        return self._newest([f"-{table}.sql{ending}" for ending in ENDINGS])

    def find_pages(self) -> Path | None:
        """Return the file with the text of all articles."""
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
        """Return the file of a table that is indispensable."""
        found = self.find(table)
        if found is None:
            raise ConfigurationError(
                f"{self.place} has no file {self.wiki}-DATE-{table}.sql.gz: "
                f"download it from https://dumps.wikimedia.org/{self.wiki}/, or ask the server: "
                "leave --wikipedia out."
            )
        return found

    def columns(self, table: str) -> list[str]:
        """Return the columns of a table."""
        with self.unpacked(self.need(table)) as stream:
            return column_names(stream)

    def rows(self, table: str, *columns: str) -> Iterator[tuple[Value, ...]]:
        """Yield the wanted columns of every readable row of a table.

        Where a file ends early or is damaged, that is counted and reported with its place.
        """
        file = self.need(table)

        def damaged(damage: DumpDamage) -> None:
            self._damages.add(
                f"{file} is damaged at byte {damage.byte:,} (unpacked), after row {damage.row:,}"
            )

        with self.unpacked(file) as stream:
            try:
                yield from rows(stream, columns, damaged)
            except MissingColumnError as error:
                has = f"it has {', '.join(error.found)}" if error.found else "it names no columns"
                raise ConfigurationError(
                    f"{file} is not MediaWiki's table {table}: {has}, but no {error.column}."
                ) from None
            except BrokenOffError as error:
                self._damages.add(f"{file} ends early, after row {error.row:,}: {error.__cause__}")

    @contextmanager
    def unpacked(self, file: Path) -> Iterator["Unpacked"]:
        """Open a file for reading, unpacked, with progress reports."""
        try:
            raw = file.open("rb")
        except OSError as error:
            raise ConfigurationError(f"{file} cannot be read: {error.strerror}.") from None
        with raw:
            size = file.stat().st_size
            with bz2.BZ2File(raw) if file.suffix == ".bz2" else unpacked(raw) as stream:
                yield Unpacked(stream, lambda: self._watch(file.name, raw.tell(), size))

    def damaged(self, text: str) -> None:
        """Count a damage that the caller found."""
        self._damages.add(text)


class Unpacked:
    """The bytes of a file, with every read reported."""

    def __init__(self, stream: Content | bz2.BZ2File, tell: Callable[[], None]) -> None:
        self._stream = stream
        self._tell = tell

    def read(self, size: int = -1, /) -> bytes:
        """Read up to `size` bytes."""
        self._tell()
        return self._stream.read(size)

    def read1(self, size: int = -1, /) -> bytes:
        """Read some bytes, at most `size`; none at the end."""
        self._tell()
        return self._stream.read1(size)
