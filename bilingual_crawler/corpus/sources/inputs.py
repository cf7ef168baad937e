"""Inputs of any kind, recognised by their name and first line; and the two kinds of lists."""

import sys
import zlib
from collections.abc import Callable, Iterator
from enum import StrEnum
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple, cast

from bilingual_crawler.corpus.sources.reading import Found, SourceReading
from bilingual_crawler.corpus.sources.recorded import (
    crawl_documents,
    is_crawl,
    is_warc,
    warc_documents,
)
from bilingual_crawler.corpus.sources.tree import tree_documents
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import language_code
from bilingual_crawler.store.input_files import GZIP, STANDARD_INPUT, rows

_LOOKED_AT = 1 << 14


class InputKind(StrEnum):
    """The kinds of input."""

    WARC = "WARC file"
    TREE = "directory"
    CRAWL = "documents of a crawl"
    URLS = "list of URLs"
    FILES = "list of pairs of files"


_READERS: dict[InputKind, Callable[[Path, SourceReading], Iterator[Found]]] = {
    InputKind.WARC: warc_documents,
    InputKind.TREE: tree_documents,
    InputKind.CRAWL: crawl_documents,
}


def documents_from(source: str, reading: SourceReading) -> Iterator[Found]:
    """Stream the documents of an input, and the redirects and sitemaps beside them."""
    kind = kind_of(source)
    if kind not in _READERS:
        raise ConfigurationError(
            f"{source} is a {kind}, but documents are needed: name a WARC file, a directory or"
            " the folder of a crawl."
        )
    return _READERS[kind](Path(source), reading)


def kind_of(source: str) -> InputKind:
    """Return what an input is; raise an error if it cannot be read."""
    if source == STANDARD_INPUT:
        start = cast("BufferedReader", sys.stdin.buffer).peek(_LOOKED_AT)
        return _kind_of_list(start, "Standard input")
    path = Path(source)
    if not path.exists():
        raise ConfigurationError(
            f"There is no file or directory {source}. To read a list from standard input, write -."
        )
    if is_crawl(path):
        return InputKind.CRAWL
    if path.is_dir():
        return InputKind.TREE
    if is_warc(path):
        return InputKind.WARC
    try:
        with path.open("rb") as stream:
            start = stream.read(_LOOKED_AT)
    except OSError as error:
        raise ConfigurationError(f"{source} cannot be read: {error.strerror}.") from error
    return _kind_of_list(start, source)


def _kind_of_list(start: bytes, source: str) -> InputKind:
    if start.startswith(GZIP):
        try:
            start = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(start, _LOOKED_AT)
        except zlib.error as error:
            raise ConfigurationError(f"{source} is a damaged gzip file.") from error
    if start.startswith(b"WARC/"):
        return InputKind.WARC
    text = start.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    first = next((line for line in text.splitlines() if line.strip()), "")
    fields = [field.strip() for field in first.split("\t")]
    if first.startswith("{"):
        return InputKind.CRAWL
    if "://" in fields[0] and not (len(fields) > 1 and "://" in fields[1]):
        return InputKind.URLS
    if len(fields) > 1 and "\0" not in first and "://" not in first:
        return InputKind.FILES
    raise ConfigurationError(
        f"{source} is not an input for pairing. Inputs are WARC files (.warc, .warc.gz),"
        " directories, the folder of a crawl or its documents.jsonl.gz, lists of URLs (one per"
        " line, with its language after a tab if you know it), and lists of files (two paths per"
        f" line, separated by a tab). Its first line is {first[:60]!r}."
    )


def size_of(source: str) -> int | None:
    """Return the number of bytes to read; None if that is not known."""
    if source == STANDARD_INPUT:
        return None
    path = Path(source)
    if path.is_dir():
        return None
    try:
        return path.stat().st_size
    except OSError:
        return None


class ListedUrl(NamedTuple):
    """A URL to pair without fetching it.

    `language` is an ISO 639-3 code, "" if the list does not give one.
    """

    url: str
    language: str = ""


class ListedFiles(NamedTuple):
    """Two files that may be translations of each other."""

    first: Path
    second: Path


def listed_urls(source: str, reading: SourceReading) -> Iterator[ListedUrl]:
    """Yield the rows `URL` or `URL<TAB>language` that are in a wanted language."""
    for number, fields in rows(source, reading.progress):
        if "://" not in fields[0] or " " in fields[0]:
            reading.skips.add("not a URL", f"line {number}: {fields[0][:80]}")
            continue
        language = ""
        if len(fields) > 1 and fields[1]:
            code = language_code(fields[1])
            if not code:
                reading.skips.add("not a language", f"line {number}: {fields[1][:20]}")
                continue
            if code not in reading.languages:
                reading.skips.add(f"in another language: {code}", fields[0])
                continue
            language = code
        yield ListedUrl(fields[0], language)


def listed_files(source: str, reading: SourceReading) -> Iterator[ListedFiles]:
    """Yield the rows `path<TAB>path`; relative paths start at the current directory."""
    for number, fields in rows(source, reading.progress):
        if len(fields) < len(ListedFiles._fields) or not all(fields[:2]):
            reading.skips.add("not two paths separated by a tab", f"line {number}")
        else:
            yield ListedFiles(Path(fields[0]), Path(fields[1]))
