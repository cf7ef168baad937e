"""The pages in a directory: a mirror of a site, or files that a user has collected.

Files get `file:` URLs, so that names, folders and relative links are evidence just as on a site.
Folder rules, after Almeida, restrict which two folders may hold the two sides of a pair.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from bilingual_crawler.corpus.sources.reading import Found, SourceReading
from bilingual_crawler.corpus.sources.recorded import is_warc, warc_documents
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.sitemap import Sitemap, is_sitemap
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.warc_reader import LARGEST_BODY, OK, RecordedResponse

HTML = frozenset((".html", ".htm", ".xhtml", ".shtml", ".xht", ".php", ".asp", ".aspx", ".jsp"))
TEXT = frozenset((".txt", ".text", ".md"))
_LOOKED_AT = 512


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
        reading.skips.add("neither HTML nor text", str(path))
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
    start = body[:_LOOKED_AT].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
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
