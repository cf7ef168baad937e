"""What an input is, told by its name and its first line."""

import sys
import zlib
from collections.abc import Callable, Iterator
from enum import StrEnum
from io import BufferedReader
from pathlib import Path
from typing import cast

from bilingual_crawler.corpus.sources.crawl import crawl_documents, is_crawl
from bilingual_crawler.corpus.sources.reading import Found, SourceReading
from bilingual_crawler.corpus.sources.tree import tree_documents
from bilingual_crawler.corpus.sources.warc import is_warc, warc_documents
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.input_files import GZIP, STANDARD_INPUT

_LOOKED_AT = 1 << 14


class InputKind(StrEnum):
    """The kinds of inputs."""

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
    """The documents of an input that has any, and what else tells of them, as a stream."""
    kind = kind_of(source)
    if kind not in _READERS:
        raise ConfigurationError(
            f"{source} is a {kind}, and documents are wanted: name a WARC file, a directory or"
            " the folder of a crawl."
        )
    return _READERS[kind](Path(source), reading)


def kind_of(source: str) -> InputKind:
    """What an input is; whatever cannot be read is refused in a sentence."""
    if source == STANDARD_INPUT:
        start = cast("BufferedReader", sys.stdin.buffer).peek(_LOOKED_AT)
        return _kind_of_list(start, "Standard input")
    path = Path(source)
    if not path.exists():
        raise ConfigurationError(
            f"There is no file or directory {source}. To read a list from standard input write -."
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
        f"{source} is no input for pairing. It may be a WARC file (.warc, .warc.gz), a directory,"
        " the folder of a crawl or its documents.jsonl.gz, a list of URLs (a URL a line, and"
        " after a tab its language if you know it), or a list of files (two paths a line, with"
        f" a tab between). Its first line is {first[:60]!r}."
    )


def size_of(source: str) -> int | None:
    """How many bytes there are to read; None where that is not known."""
    if source == STANDARD_INPUT:
        return None
    path = Path(source)
    if path.is_dir():
        return None
    try:
        return path.stat().st_size
    except OSError:
        return None
