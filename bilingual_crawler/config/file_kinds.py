"""The kinds of files that are read besides HTML: their media types, endings and first bytes."""

from collections.abc import Iterable
from enum import StrEnum
from types import MappingProxyType

START = 1024
"""Bytes at the beginning of a PDF file before its mark, as readers allow."""


class FileKind(StrEnum):
    """A kind of file whose text is read."""

    PDF = "pdf"
    DOCX = "docx"
    ODT = "odt"
    RTF = "rtf"
    EPUB = "epub"
    DOC = "doc"


MEDIA_TYPES = MappingProxyType(
    {
        "application/pdf": FileKind.PDF,
        "application/x-pdf": FileKind.PDF,
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document": FileKind.DOCX,
        "application/vnd.oasis.opendocument.text": FileKind.ODT,
        "application/rtf": FileKind.RTF,
        "text/rtf": FileKind.RTF,
        "application/epub+zip": FileKind.EPUB,
        "application/msword": FileKind.DOC,
    }
)
UNTOLD = frozenset({"application/octet-stream", "binary/octet-stream", "application/x-download"})
"""Media types that say nothing; the content decides."""
HTML, TEXT = "html", "txt"
READ_KINDS = tuple(kind for kind in FileKind if kind is not FileKind.DOC)
_OLD_OFFICE = {
    "WordDocument".encode("utf-16-le"): FileKind.DOC,
    "EncryptedPackage".encode("utf-16-le"): FileKind.DOCX,
}
"""Names of streams in the container of old Office files, which also holds encrypted new ones."""
TYPES = (HTML, *map(str, READ_KINDS), TEXT)
"""The names that BILINGUAL_TYPES takes."""
_OF_TYPE: dict[str, tuple[str, ...]] = {
    HTML: ("text/html", "application/xhtml+xml"),
    TEXT: ("text/plain",),
    **{
        kind: tuple(name for name, each in MEDIA_TYPES.items() if each is kind) for kind in FileKind
    },
}
_ENDINGS: dict[str, frozenset[str]] = {
    HTML: frozenset[str](),
    TEXT: frozenset({"txt"}),
    **{kind: frozenset({str(kind)}) for kind in FileKind},
}


_FILE_ENDINGS = frozenset[str]().union(*_ENDINGS.values())


def media_types_of(types: Iterable[str]) -> frozenset[str]:
    """Return the media types of some types, with those that say nothing if there are files."""
    chosen = tuple(types)
    names = frozenset(name for each in chosen for name in _OF_TYPE[each])
    return names | UNTOLD if any(each not in {HTML, TEXT} for each in chosen) else names


def endings_of(types: Iterable[str]) -> frozenset[str]:
    """Return the file name endings of some types."""
    return frozenset(ending for each in types for ending in _ENDINGS[each])


def is_file(url: str) -> bool:
    """Return whether a URL has the ending of a file that is read."""
    return url.rpartition(".")[2].lower() in _FILE_ENDINGS


def kind_of_file(body: bytes, media_type: str = "", ending: str = "") -> FileKind | None:
    """Return which kind of file some bytes are; None for HTML, text and everything else.

    The content decides: servers call files by many names. Only what it leaves open is decided by
    the media type and the ending of the name.
    """
    if b"%PDF-" in body[:START] and not body[:START].lstrip().startswith(b"<"):
        return FileKind.PDF
    if body.startswith(b"{\\rtf"):
        return FileKind.RTF
    if body.startswith(b"\xd0\xcf\x11\xe0"):
        return next((kind for mark, kind in _OLD_OFFICE.items() if mark in body), None)
    if body.startswith(b"PK\x03\x04"):
        return _zipped(body, _named(media_type, ending))
    return None


def _named(media_type: str, ending: str) -> FileKind | None:
    named = MEDIA_TYPES.get(media_type.partition(";")[0].strip().lower())
    if named is None and ending.lower() in set(FileKind):
        named = FileKind(ending.lower())
    return named


def _zipped(body: bytes, named: FileKind | None) -> FileKind | None:
    """Return the kind by the first member, which names it, or by the names of the others."""
    start = body[:START]
    if b"mimetypeapplication/epub+zip" in start:
        return FileKind.EPUB
    if b"mimetypeapplication/vnd.oasis.opendocument.text" in start:
        return FileKind.ODT
    if b"word/document" in body:
        return FileKind.DOCX
    return named
