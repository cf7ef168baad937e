"""The rows of a table in a dump that mysqldump wrote, one after the other.

Hand-written, because SQL parsers read statements as a whole, and one statement of such a dump is
a line of a megabyte or more with tens of thousands of rows, a file many gigabytes of them. The
columns that are wanted are found by name in CREATE TABLE, so a layout with more columns, or with
others between them, reads the same; the pattern that matches a row keeps only those.
"""

import lzma
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

CHUNK = 1 << 20
LONGEST_ROW = 1 << 20
"""Bytes after which what does not end is taken for damage."""
MOST_DAMAGES = 1_000
"""Places that cannot be read before the rest of a file is given up."""
LONGEST_STATEMENT = 1 << 20
"""Bytes of CREATE TABLE that are read at most."""
LONGEST_HEAD = 4096
"""Bytes of the beginning of a statement, up to its first row."""

Value = bytes | None
"""What stands in a row: text, or the digits of a number; None is NULL."""

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
"""What a file that is not packed as it should be, or cannot be read, ends with."""


class Stream(Protocol):
    """Bytes to be read, as a file or what unpacks one gives them."""

    def read1(self, size: int = -1, /) -> bytes:
        """Some bytes, at most so many; none at the end."""


class MissingColumnError(Exception):
    """A table that has not what is asked of it; `column` is what, `found` what there is."""

    def __init__(self, column: str, found: Sequence[str]) -> None:
        super().__init__(column)
        self.column = column
        self.found = found


class BrokenOffError(Exception):
    """A file that cannot be read on; its cause is what the reading raised, `row` the last row."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


class DumpDamage(NamedTuple):
    """Where a file cannot be read: its byte when unpacked, and the last row before."""

    byte: int
    row: int


class _Window:
    """The part of a stream that is looked at; grows when asked, forgets what is behind."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.data = b""
        self.at = 0
        self._before = 0
        self.is_whole = False
        self.error: Exception | None = None
        """Why there is no more, where that is not the end of the file."""

    @property
    def byte(self) -> int:
        """The place in the stream."""
        return self._before + self.at

    def more(self) -> bool:
        """Read on; whether there was anything is told.

        In small parts, so that nothing is lost of what comes before a damage.
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
    """The wanted columns of every row, in the order they are asked for.

    Columns may be named with alternatives ("cl_to|cl_target_id"): the first that the table has.
    What cannot be read is told, and reading goes on with the next row that can. Of a
    stream that cannot be read on, `BrokenOffError` is raised after all rows up to there.
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
    """One row with the comma or semicolon behind it; what is wanted are its groups."""
    order: list[int]
    """The places of the wanted columns among the groups."""


class _Rows:
    """Reads statement after statement; counts rows, and places that cannot be read."""

    def __init__(self, window: _Window, damaged: Callable[[DumpDamage], None]) -> None:
        self._window = window
        self._damaged = damaged
        self.count = self._damages = 0

    @property
    def is_hopeless(self) -> bool:
        """Whether so much is damaged that the rest is not worth reading."""
        return self._damages >= MOST_DAMAGES

    def of_statement(self, layout: _Layout) -> Iterator[tuple[Value, ...]]:
        """The rows behind VALUES, up to the semicolon or what cannot be read on."""
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
    """The columns of the table in a dump."""
    return _table_columns(_Window(stream))


def _table_columns(window: _Window) -> list[str]:
    """What CREATE TABLE names; none where an INSERT comes first."""
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
    """The next place where a pattern matches, after which the window stands."""
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
    """Where the wanted columns stand in a row of all columns of a table."""
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
