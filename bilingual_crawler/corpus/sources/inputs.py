"""Inputs of any kind, recognised by their name and first line; directories, and two kinds of lists.

A directory is a mirror of a site, or holds files that a user has collected. Files get `file:` URLs,
so that names, folders and relative links are evidence just as on a site. Folder rules, after
Almeida, restrict which two folders may hold the two sides of a pair.
"""

import os
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from io import BufferedReader
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Self, cast
from urllib.parse import unquote, urlsplit

from bilingual_crawler.config.file_kinds import MEDIA_TYPES, kind_of_file
from bilingual_crawler.corpus.sources.reading import (
    Found,
    SourceReading,
    crawl_documents,
    is_crawl,
    is_warc,
    warc_documents,
)
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.sitemap import Sitemap, is_sitemap
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import language_code
from bilingual_crawler.pairing.matcher import Declaration
from bilingual_crawler.store.input_files import GZIP, STANDARD_INPUT, rows
from bilingual_crawler.store.warc_reader import LARGEST_BODY, OK, RecordedResponse

HTML = frozenset((".html", ".htm", ".xhtml", ".shtml", ".xht", ".php", ".asp", ".aspx", ".jsp"))
TEXT = frozenset((".txt", ".text", ".md"))
_MARKUP_START = 512

_LOOKED_AT = 1 << 14


def tree_documents(root: Path, reading: SourceReading) -> Iterator[Found]:
    """Yield every page and sitemap below a directory, by name; symbolic links are not followed."""
    for folder, folders, names in os.walk(root, onerror=_refuse):
        for name in [each for each in folders if each.startswith(".")]:
            reading.skips.add("hidden", os.path.join(folder, name))  # noqa: PTH118 - by the million
            folders.remove(name)
        folders.sort()
        for name in sorted(names):
            path = Path(folder, name)
            if name.startswith("."):
                reading.skips.add("hidden", str(path))
            elif is_warc(path):
                yield from warc_documents(path, reading)
            else:
                found = read_file(path, reading)
                if found is not None:
                    yield found


def read_file(path: Path, reading: SourceReading) -> Document | Sitemap | None:
    """Return the page or sitemap in a file; None, with a reason in the skips, if there is none."""
    answer = _answer(path, reading)
    if answer is None:
        return None
    url = file_url(path)
    answer = reading.change(url, answer)
    if answer.status != OK:
        reading.skips.add(f"status {answer.status}", str(path))
        return None
    return reading.read(url, answer)


def _answer(path: Path, reading: SourceReading) -> RecordedResponse | None:
    try:
        if not path.is_file():
            reading.skips.add("no such file" if not path.exists() else "not a file", str(path))
            return None
        if path.stat().st_size > LARGEST_BODY:
            reading.skips.add("too large", str(path))
            return None
        body = path.read_bytes()
    except OSError as error:
        reading.skips.add(f"cannot be read: {error.strerror}", str(path))
        return None
    reading.progress(len(body))
    kind = _kind(path, body)
    if not kind:
        reading.skips.add("not a type that is read", str(path))
        return None
    return RecordedResponse(OK, ((b"Content-Type", kind),), body)


def _kind(path: Path, body: bytes) -> bytes:
    """Return the media type by the file ending; any other file must look like markup."""
    if is_sitemap(body, file_url(path)):
        return b"application/xml"
    ending = path.suffix.lower()
    if ending in HTML:
        return b"text/html"
    if ending in TEXT:
        return b"text/plain"
    kind = kind_of_file(body, ending=ending.removeprefix("."))
    if kind is not None:
        return next(name for name, each in MEDIA_TYPES.items() if each is kind).encode()
    start = body[:_MARKUP_START].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return b"text/html" if start.startswith((b"<!doctype html", b"<html")) else b""


def file_url(path: Path) -> str:
    """Return the `file:` URL of a path."""
    return absolute(path).as_uri()


def absolute(path: Path) -> Path:
    """Return an absolute path without `..`; symbolic links are not followed."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links


def _refuse(error: OSError) -> None:
    raise ConfigurationError(
        f"{error.filename} cannot be read: {error.strerror}. Make it readable, or name"
        " folders that are."
    ) from error


@dataclass(frozen=True, slots=True)
class FolderRules:
    """Almeida's four conditions on the folders of two files; a rule that is None is off.

    `same`: one folder, at most that deep. `level`: folders of equal depth whose common parent is
    at most that many levels up. `parent`: one above the other, at most that many levels.
    `across`: depths that differ by at most the first number, with a common parent at most the
    second number above the deeper one.
    """

    same: int | None = None
    level: int | None = None
    parent: int | None = None
    across: tuple[int, int] | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse rules such as "same=2,level=1,parent=2,across=1/2"."""
        rules: dict[str, Any] = {}
        for part in text.split(","):
            name, _, value = part.strip().partition("=")
            numbers = value.split("/")
            wanted = 2 if name == "across" else 1
            known = name in cls.__dataclass_fields__ and len(numbers) == wanted
            if not known or not all(number.isdecimal() for number in numbers):
                raise ConfigurationError(
                    f"{part.strip()!r} is not a folder rule: write some of same=2, level=1,"
                    " parent=2 and across=1/2, separated by commas."
                )
            rules[name] = int(numbers[0]) if wanted == 1 else (int(numbers[0]), int(numbers[1]))
        return cls(**rules)

    def allow(self, first: str, second: str, roots: tuple[str, ...] = ()) -> bool:
        """Return whether two URLs may be a pair; depth counts from the innermost of `roots`.

        The rules apply to files only; pages on the web always pass.
        """
        if not (first.startswith("file:") and second.startswith("file:")):
            return True
        one, other = _folders(first, roots), _folders(second, roots)
        common = sum(
            1 for _ in takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False))
        )
        low, high = sorted((len(one), len(other)))
        if one == other:
            return self.same is not None and high <= self.same
        if low == high:
            return self.level is not None and high - common <= self.level
        if common == low:
            return self.parent is not None and high - low <= self.parent
        return (
            self.across is not None
            and high - low <= self.across[0]
            and high - common <= self.across[1]
        )


def _folders(url: str, roots: tuple[str, ...]) -> list[str]:
    """Return the folders of a file, below the root it was found in."""
    path = PurePosixPath(unquote(urlsplit(url).path))
    inside = [root for root in roots if path.is_relative_to(root)]
    if inside:
        path = path.relative_to(max(inside, key=len))
    return [part for part in path.parent.parts if part != "/"]


class InputKind(StrEnum):
    """The kinds of input."""

    WARC = "WARC file"
    TREE = "directory"
    CRAWL = "documents of a crawl"
    URLS = "list of URLs"
    FILES = "list of pairs of files"
    URL_PAIRS = "list of pairs of URLs"


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
    if "://" in fields[0]:
        return InputKind.URL_PAIRS if len(fields) > 1 and "://" in fields[1] else InputKind.URLS
    if len(fields) > 1 and "\0" not in first and "://" not in first:
        return InputKind.FILES
    raise ConfigurationError(
        f"{source} is not an input for pairing. Inputs are WARC files (.warc, .warc.gz),"
        " directories, the folder of a crawl or its documents.jsonl.gz, lists of URLs (one per"
        " line, with its language after a tab if you know it), lists of pairs of URLs, and lists"
        " of files (two paths per line, separated by a tab). Its first line is"
        f" {first[:60]!r}."
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


def listed_url_pairs(source: str, reading: SourceReading) -> Iterator[Declaration]:
    """Yield what the rows `URL<TAB>URL` say: that the pages translate each other.

    Their languages may follow; otherwise they are the wanted ones in their order.
    """
    for number, fields in rows(source, reading.progress):
        if len(fields) < len(ListedFiles._fields) or any("://" not in url for url in fields[:2]):
            reading.skips.add("not two URLs separated by a tab", f"line {number}")
            continue
        codes = [language_code(field) for field in fields[2:4]]
        wanted = list(reading.languages.codes)
        first, second = codes if len(codes) == len(wanted) else (wanted[0], wanted[-1])
        if first in reading.languages and second in reading.languages:
            yield fields[0], ((fields[1], str(second)),)
            yield fields[1], ((fields[0], str(first)),)
        else:
            reading.skips.add("in other languages", f"line {number}")
