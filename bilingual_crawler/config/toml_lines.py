"""Finds the line of a key or a value in a TOML file.

`tomllib` reports the line of a syntax error, but not those of valid keys, and a complaint about
a value is worth little without its line. Instead of a second TOML parser, this lets `tomllib`
find the statements: from the end of the last one, the fewest lines that are valid TOML on their
own are the next statement, because a string or array over several lines is invalid until it is
closed.

This is only done if there is something to complain about.
"""

import re
import tomllib
from collections.abc import Iterator
from typing import Any, NamedTuple

Path = tuple[str, ...]


class _Statement(NamedTuple):
    """The lines `first` to `last`, counted from 0, and their content; None if it is invalid."""

    first: int
    last: int
    content: dict[str, Any] | None


def _parse(lines: list[str], closing: str = "") -> dict[str, Any] | None:
    try:
        return tomllib.loads("\n".join(lines) + closing)
    except (ValueError, RecursionError):
        return None


def _statements(lines: list[str]) -> Iterator[_Statement]:
    first = 0
    for last in range(len(lines)):
        content = _parse(lines[first : last + 1])
        if content is not None:
            if content:
                yield _Statement(first, last, content)
            first = last + 1
    if first < len(lines):
        yield _Statement(first, len(lines) - 1, None)


def _paths(content: dict[str, Any], base: Path = ()) -> Iterator[Path]:
    for key, value in content.items():
        yield (*base, key)
        if isinstance(value, dict):
            yield from _paths(value, (*base, key))


def _value(content: dict[str, Any] | None, path: Path) -> Any:
    value: Any = content
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


class TomlLines:
    """The lines, counted from 1, of everything in a valid TOML text."""

    def __init__(self, text: str) -> None:
        self._lines = text.replace("\r\n", "\n").split("\n")
        self._places: dict[Path, tuple[_Statement, Path]] = {}
        table: Path = ()
        for statement in _statements(self._lines):
            paths = list(_paths(statement.content or {}))
            header = self._lines[statement.first].lstrip().startswith("[")
            table = () if header else table
            for path in paths:
                self._places.setdefault((*table, *path), (statement, path))
            if header:
                table = paths[-1]

    def line_of(self, *path: str, element: int | None = None) -> int:
        """Return the line of a key or table, or of one element of the array that is its value."""
        statement, within = self._places[path]
        if element is not None:
            return self._line_of_element(statement, within, element)
        return statement.first + 1

    def _line_of_element(self, statement: _Statement, path: Path, element: int) -> int:
        """Close the array after each of its lines, to see how many elements it has by then."""
        first = begun = statement.first
        for last in range(first, statement.last):
            array = _value(_parse(self._lines[first : last + 1], "\n]"), path)
            if isinstance(array, list):
                if len(array) > element:
                    return begun + 1
                begun = last + 1
        return begun + 1


def line_of_syntax_error(text: str, message: str) -> int:
    """Return the line that the message of a `tomllib` error is about.

    "At the end of document" does not help to find a bracket that was never closed, so it
    becomes the beginning of the last statement.
    """
    found = re.search(r"at line (\d+), column \d+\)$", message)
    if found:
        return int(found[1])
    lines = text.replace("\r\n", "\n").split("\n")
    return max((statement.first + 1 for statement in _statements(lines)), default=1)
