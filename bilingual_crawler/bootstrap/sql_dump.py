"""The rows of a table in a dump that mysqldump wrote, one at a time.

Hand-written, because SQL parsers read whole statements, and one statement of such a dump is a line
of a megabyte or more with tens of thousands of rows, in a file of many gigabytes. The wanted
columns are found by name in CREATE TABLE, so a layout with more columns, or with others between
them, is read the same way; the pattern that matches a row captures only those.
"""

import lzma
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from bilingual_crawler.store.input_files import Stream

CHUNK = 1 << 20
LONGEST_ROW = 1 << 20
"""The longest row in bytes; anything longer is taken for damage."""
MOST_DAMAGES = 1_000
"""Unreadable places before the rest of a file is given up."""
LONGEST_STATEMENT = 1 << 20
"""The most bytes of CREATE TABLE that are read."""
LONGEST_HEAD = 4096
"""The most bytes of a statement before its first row."""

Value = bytes | None
"""A value in a row: text, or the digits of a number; None is NULL."""

_STRING = rb"'[^'\\]*+(?:(?:\\.|'')[^'\\]*+)*+'"
_ANY = rb"(?:" + _STRING + rb"|0x[0-9A-Fa-f]*+|[-+0-9.eE]++|NULL|_binary " + _STRING + rb")"
_COLUMN = re.compile(rb"^[^\S\n]*`([^`]+)`\s", re.MULTILINE)
_CREATE = re.compile(rb"CREATE TABLE (?:IF NOT EXISTS )?`?[^`\s(]+`?\s*\(")
_INSERT = re.compile(
    rb"(?:^|\n)[^\S\n]*+(?:INSERT|REPLACE) (?:IGNORE )?"
    rb"INTO `?[^`\s(]+`?\s*+(\([^()]*\))?\s*+VALUES\s*+"
)
_NAME = re.compile(rb"`?([^`,()\s]+)`?")
_NEXT_ROW, _NEXT_INSERT = b"),(", b"\nINSERT "
_END, _QUOTE, _UNDERSCORE = b";'_"
_ESCAPE = re.compile(rb"\\(.)|''", re.DOTALL)
_MEANING = {
    b"0": b"\0",
    b"b": b"\b",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"Z": b"\x1a",
    b"%": b"\\%",
    b"_": b"\\_",
}


PACKED_BADLY = (EOFError, zlib.error, lzma.LZMAError, OSError)
"""The exceptions of a file that is not compressed as it should be, or cannot be read."""


class MissingColumnError(Exception):
    """The table lacks a wanted column; `column` names it, `found` lists those it has."""

    def __init__(self, column: str, found: Sequence[str]) -> None:
        super().__init__(column)
        self.column = column
        self.found = found


class BrokenOffError(Exception):
    """A file cannot be read further; the cause is what reading raised, `row` the last row."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


class DumpDamage(NamedTuple):
    """Where a file cannot be read: the byte when unpacked, and the last row before it."""

    byte: int
    row: int


class _Window:
    """The part of a stream in memory; grows on demand, drops what is behind."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.data = b""
        self.at = 0
        self._before = 0
        self.is_whole = False
        self.error: Exception | None = None
        """Why there is no more, unless it is the end of the file."""

    @property
    def byte(self) -> int:
        """The position in the stream."""
        return self._before + self.at

    def more(self) -> bool:
        """Read on; return True if there was anything.

        In small parts, so that nothing before a damage is lost.
        """
        if self.is_whole:
            return False
        parts, missing = [self.data[self.at :]], CHUNK
        while missing > 0 and not self.is_whole:
            try:
                part = self._stream.read1(missing)
            except PACKED_BADLY as error:
                self.error, part = error, b""
            self.is_whole = not part
            missing -= len(part)
            parts.append(part)
        self._before += self.at
        self.data, self.at = b"".join(parts), 0
        return missing < CHUNK

    def skip_row(self) -> bool:
        """Go to where the next row of the same statement may begin, if there is one."""
        row = self.data.find(_NEXT_ROW, self.at)
        if row < 0 or _NEXT_INSERT in self.data[self.at : row]:
            return False
        self.at = row + 2
        return True


def rows(
    stream: Stream,
    columns: Sequence[str],
    damaged: Callable[[DumpDamage], None] = lambda _damage: None,
) -> Iterator[tuple[Value, ...]]:
    """Yield the wanted columns of every row, in the order they are asked for.

    Columns may have alternatives ("cl_to|cl_target_id"): the first that the table has is used. What
    cannot be read is reported, and reading goes on with the next readable row. If the stream cannot
    be read further, `BrokenOffError` is raised after all rows up to there.
    """
    window = _Window(stream)
    table = _table_columns(window)
    reader = _Rows(window, damaged)
    layout: _Layout | None = None
    while not reader.is_hopeless and (head := _find(window, _INSERT)) is not None:
        named = head[1]
        if layout is None or named:
            names = [each.decode() for each in _NAME.findall(named)] if named else table
            layout = _layout(names, columns)
        yield from reader.of_statement(layout)
    if window.error is not None:
        raise BrokenOffError(reader.count) from window.error


class _Layout(NamedTuple):
    """How a row of a table is read."""

    pattern: re.Pattern[bytes]
    """One row with the comma or semicolon after it; its groups are the wanted columns."""
    order: list[int]
    """The places of the wanted columns among the groups."""


class _Rows:
    """Reads statement by statement; counts rows and unreadable places."""

    def __init__(self, window: _Window, damaged: Callable[[DumpDamage], None]) -> None:
        self._window = window
        self._damaged = damaged
        self.count = self._damages = 0

    @property
    def is_hopeless(self) -> bool:
        """True if so much is damaged that the rest is not worth reading."""
        return self._damages >= MOST_DAMAGES

    def of_statement(self, layout: _Layout) -> Iterator[tuple[Value, ...]]:
        """Yield the rows after VALUES, up to the semicolon or the first that is unreadable."""
        window, order = self._window, layout.order
        in_order = True
        while True:
            data, start = window.data, window.at
            while (found := layout.pattern.match(data, window.at)) is not None:
                window.at = found.end()
                self.count += 1
                values = found.groups()
                yield tuple([_value(values[place]) for place in order])
                if data[window.at - 1] == _END:
                    return
            in_order = in_order or window.at > start
            if len(data) - window.at < LONGEST_ROW and window.more():
                continue
            if in_order and window.error is None:
                self._damages += 1
                self._damaged(DumpDamage(window.byte, self.count))
            in_order = False
            if self.is_hopeless or not window.skip_row():
                return


def column_names(stream: Stream) -> list[str]:
    """Return the columns of the table in a dump."""
    return _table_columns(_Window(stream))


def _table_columns(window: _Window) -> list[str]:
    """Return the columns in CREATE TABLE; none if an INSERT comes first."""
    while True:
        found = _CREATE.search(window.data, window.at)
        if found is not None:
            end = window.data.find(b";", found.end())
            if end >= 0:
                names = _COLUMN.findall(window.data, found.end(), end)
                window.at = end
                return [name.decode("utf-8", "replace") for name in names]
        elif _INSERT.search(window.data, window.at):
            return []
        if len(window.data) > LONGEST_STATEMENT or not window.more():
            return []


def _find(window: _Window, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
    """Return the next match of a pattern, and move the window behind it."""
    while True:
        found = pattern.search(window.data, window.at)
        if found is not None and (found.end() < len(window.data) or window.is_whole):
            window.at = found.end()
            return found
        if found is None:
            window.at = max(window.at, len(window.data) - LONGEST_HEAD)
        if not window.more():
            return None


def _layout(names: Sequence[str], columns: Sequence[str]) -> _Layout:
    """Return how to read the wanted columns from a row with all columns of a table."""
    wanted = []
    for column in columns:
        places = [names.index(each) for each in column.split("|") if each in names]
        if not places:
            raise MissingColumnError(column, names)
        wanted.append(places[0])
    groups = {place: group for group, place in enumerate(sorted(set(wanted)))}
    values = [b"(" + _ANY + b")" if place in groups else _ANY for place in range(len(names))]
    pattern = rb"\s*+\(\s*+" + rb"\s*+,\s*+".join(values) + rb"\s*+\)\s*+[,;]"
    return _Layout(re.compile(pattern, re.DOTALL), [groups[place] for place in wanted])


def _value(raw: bytes) -> Value:
    first = raw[0]
    if first == _QUOTE:
        text = raw[1:-1]
        return _ESCAPE.sub(_unescaped, text) if b"\\" in text or b"'" in text else text
    if first == _UNDERSCORE:
        return _value(raw.removeprefix(b"_binary "))
    if raw == b"NULL":
        return None
    if raw.startswith(b"0x"):
        digits = raw[2:].decode()
        return bytes.fromhex(digits if len(digits) % 2 == 0 else f"0{digits}")
    return raw


def _unescaped(escape: re.Match[bytes]) -> bytes:
    character = escape[1]
    return b"'" if character is None else _MEANING.get(character, character)
