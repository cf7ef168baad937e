"""The tables of an evaluation: tab-separated, plain or gzipped, one line at a time.

A line that cannot be read is skipped and counted, and the first one is told, since a
table with a heading or a few broken lines is common and a wrong file must be noticed.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from bilingual_crawler.languages import UnknownLanguageError, find_language
from bilingual_crawler.scoring.models import UNKNOWN
from bilingual_crawler.store.input_files import rows

NO_LANGUAGE = frozenset({UNKNOWN, "und", "un", "unk"})


class LabelledUrl(NamedTuple):
    """A URL and the ISO 639-3 code of the page behind it."""

    url: str
    language: str


class LabelledPair(NamedTuple):
    """Two URLs, and whether they are translations."""

    first: str
    second: str
    parallel: bool


class GoldPair(NamedTuple):
    """Two URLs that are translations, one of each language."""

    first: str
    second: str


class Skipped:
    """The lines that could not be read."""

    def __init__(self) -> None:
        self.count = 0
        self.first = ""

    def add(self, number: int, reason: str) -> None:
        """Count a line; the first one is kept with its reason."""
        self.count += 1
        if self.count == 1:
            self.first = f"line {number}: {reason}"

    def __str__(self) -> str:
        lines = "line" if self.count == 1 else "lines"
        return f"{self.count:,} {lines} skipped, first {self.first}" if self.count else ""


def language_rows(source: str, skipped: Skipped) -> Iterator[LabelledUrl]:
    """Rows `url<TAB>language`; further columns are of no interest."""
    for number, fields in rows(source):
        if len(fields) < len(LabelledUrl._fields) or not fields[0]:
            skipped.add(number, "not a URL, a tab and a language")
        elif code := _code(fields[1]):
            yield LabelledUrl(fields[0], code)
        else:
            skipped.add(number, f"{fields[1][:20]!r} is not a language")


def pair_rows(source: str, skipped: Skipped) -> Iterator[LabelledPair]:
    """Rows `url<TAB>url<TAB>0|1`."""
    for number, fields in rows(source):
        if len(fields) < len(LabelledPair._fields) or not fields[0] or not fields[1]:
            skipped.add(number, "not two URLs and 0 or 1, with tabs between")
        elif fields[2] not in {"0", "1"}:
            skipped.add(number, f"the third column is {fields[2][:20]!r}, not 0 or 1")
        else:
            yield LabelledPair(fields[0], fields[1], fields[2] == "1")


def gold_rows(source: str, skipped: Skipped) -> Iterator[GoldPair]:
    """Rows `url<TAB>url`; the column tells the side, that is the language, of a URL."""
    for number, fields in rows(source):
        if len(fields) < len(GoldPair._fields) or not all("/" in url for url in fields[:2]):
            skipped.add(number, "not two URLs with a tab between")
        else:
            yield GoldPair(fields[0], fields[1])


@lru_cache(maxsize=1024)
def _code(text: str) -> str:
    if text.lower() in NO_LANGUAGE:
        return UNKNOWN
    try:
        return find_language(text).code
    except UnknownLanguageError:
        return ""
