"""Lists: URLs that are paired without fetching, and pairs of files that are to be judged."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from bilingual_crawler.corpus.sources.reading import SourceReading
from bilingual_crawler.languages import UnknownLanguageError, find_language
from bilingual_crawler.store.input_files import rows


class ListedUrl(NamedTuple):
    """A URL, with the ISO 639-3 code of its language, "" where the list does not tell."""

    url: str
    language: str = ""


class ListedFiles(NamedTuple):
    """Two files that somebody takes for translations."""

    first: Path
    second: Path


def listed_urls(source: str, reading: SourceReading) -> Iterator[ListedUrl]:
    """Rows `URL` or `URL<TAB>language` of the two languages."""
    for number, fields in rows(source, reading.progress):
        if "://" not in fields[0] or " " in fields[0]:
            reading.skips.add("not a URL", f"line {number}: {fields[0][:80]}")
            continue
        language = ""
        if len(fields) > 1 and fields[1]:
            code = _code(fields[1])
            if not code:
                reading.skips.add("not a language", f"line {number}: {fields[1][:20]}")
                continue
            if code not in reading.languages:
                reading.skips.add(f"in another language: {code}", fields[0])
                continue
            language = code
        yield ListedUrl(fields[0], language)


def listed_files(source: str, reading: SourceReading) -> Iterator[ListedFiles]:
    """Rows `path<TAB>path`; relative paths count from where the command is run."""
    for number, fields in rows(source, reading.progress):
        if len(fields) < len(ListedFiles._fields) or not all(fields[:2]):
            reading.skips.add("not two paths with a tab between", f"line {number}")
        else:
            yield ListedFiles(Path(fields[0]), Path(fields[1]))


@lru_cache(maxsize=1024)
def _code(text: str) -> str:
    try:
        return find_language(text).code
    except UnknownLanguageError:
        return ""
