"""Lines of JSON, plain or gzipped, read one at a time, with what is damaged counted."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.input_files import DAMAGED_GZIP, bounded_lines, unpacked

Watch = Callable[[float], None]
"""Is told now and then what share of a file has been read, from 0 to 1."""

TELL_EVERY = 1000
MOST_VALUES = 2_000_000
"""Commas of a line: a value of two bytes becomes an object of fifty or more."""
_HALF = re.compile("[\ud800-\udfff]")


class Damage:
    """The lines that could not be read; the first one is kept with its reason."""

    def __init__(self) -> None:
        self.lines = 0
        self.first = ""

    def add(self, place: str, reason: str) -> None:
        """Count a line."""
        self.lines += 1
        self.first = self.first or f"{place}: {reason}"


def read_json_lines(
    file: Path, damage: Damage, watch: Watch = lambda _share: None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of a file, with the place it stands at.

    A line that is no object, or too long, is counted and left out. So is the rest of a gzip
    file that is cut off: what a killed process leaves. Half characters become U+FFFD, because
    no format can hold them.
    """
    try:
        with file.open("rb") as raw:
            size = max(1, file.stat().st_size)
            for number, line in enumerate(bounded_lines(unpacked(raw)), 1):
                if number % TELL_EVERY == 0:
                    watch(min(1.0, raw.tell() / size))
                place = f"{file.name}, line {number}"
                if line is None or line.count(b",") > MOST_VALUES:
                    damage.add(place, "too long")
                    continue
                try:
                    fields = json.loads(line.decode())
                except (ValueError, RecursionError):
                    damage.add(place, "not JSON")
                    continue
                if isinstance(fields, dict):
                    yield place, _whole(fields) if b"\\u" in line else fields
                else:
                    damage.add(place, "not an object")
        watch(1.0)
    except DAMAGED_GZIP:
        damage.add(file.name, "the gzip file is cut off or damaged")
        watch(1.0)
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error.strerror or error}.") from error


def _whole(value: Any) -> Any:
    """The same value without halves of characters, which JSON can write and UTF-8 cannot."""
    if isinstance(value, str):
        return _HALF.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, list):
        return [_whole(each) for each in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(each) for key, each in value.items()}
    return value
