"""Reads lines of JSON, plain or gzipped, one at a time, and counts the damaged ones."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.input_files import DAMAGED_GZIP, bounded_lines, unpacked

Watch = Callable[[float], None]
"""Called now and then with the share of a file that has been read, from 0 to 1."""

REPORT_EVERY = 1000
MOST_VALUES = 2_000_000
"""Commas per line: a value of two bytes becomes an object of fifty or more."""
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
    """Yield every object of a file, with its file name and line.

    A line that is not an object, or too long, is counted and left out. So is the rest of a gzip
    file that is cut off, as a killed process leaves it. Half characters become U+FFFD, because
    no format can hold them.
    """
    try:
        with file.open("rb") as raw:
            size = max(1, file.stat().st_size)
            for number, line in enumerate(bounded_lines(unpacked(raw)), 1):
                if number % REPORT_EVERY == 0:
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
    """Return a value without halves of characters, which JSON can express and UTF-8 cannot."""
    if isinstance(value, str):
        return _HALF.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, list):
        return [_whole(each) for each in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(each) for key, each in value.items()}
    return value
