"""Reads responses from WARC files of any origin.

fastwarc reads the records. It stops at the first damaged one; here, reading continues at the next
one, so that of a damaged file only the damaged records are lost.
"""

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from bilingual_crawler.store.input_files import GZIP
from bilingual_crawler.urls.resolver import UrlResolver

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # of its own names, on import
    from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

OK = 200
REDIRECTS = frozenset({301, 302, 303, 307, 308})
LARGEST_BODY = 10_000_000
"""Maximum number of bytes to read of a body, as for a page that a crawl fetches."""
LARGEST_RECORD = LARGEST_BODY + 1_000_000
MOST_ATTEMPTS = 1_000
"""Attempts to continue after damage, before the rest of a file is given up."""
_MEMBER = GZIP + b"\x08"
_HEADING = b"\nWARC/"
_READ_AT_ONCE = 1 << 20
_PACKED = frozenset({b"content-encoding", b"transfer-encoding", b"content-length"})

Headers = tuple[tuple[bytes, bytes], ...]


class RecordedResponse(NamedTuple):
    """A recorded response of a server, unpacked."""

    status: int
    headers: Headers
    body: bytes

    def header(self, name: str) -> str:
        """Return the first header of a name, or ""."""
        return next(iter(self.all_headers(name)), b"").decode("latin-1")

    def all_headers(self, name: str) -> list[bytes]:
        """Return every header of a name."""
        wanted = name.lower().encode()
        return [value.strip() for each, value in self.headers if each.lower() == wanted]


class DamagedRecordError(Exception):
    """A record whose content does not match its headers."""


def read_records(
    path: Path, damaged: Callable[[int], None], progress: Callable[[int], None] = lambda _: None
) -> Iterator[WarcRecord]:
    """Yield every record of a file, with HTTP unparsed. A record is valid until the next one.

    `damaged` is called with the position of each damage, `progress` with the number of bytes
    read so far.
    """
    with path.open("rb") as stream:
        packed = stream.read(len(GZIP)) == GZIP
        start, attempts, in_order = 0, 0, True
        while start >= 0 and attempts < MOST_ATTEMPTS:
            stream.seek(start)
            last = start
            try:
                for record in ArchiveIterator(stream, parse_http=False):
                    last, in_order = max(last, record.stream_pos), True
                    yield record
                    progress(stream.tell())
            except OSError:
                if in_order:  # a failed attempt to continue is not another damage
                    damaged(last)
            else:
                return
            attempts, in_order = attempts + 1, False
            start = _next_beginning(stream, last + 1, packed=packed)


def _next_beginning(stream: BinaryIO, position: int, *, packed: bool) -> int:
    """Return the position where the next record may begin, or -1."""
    mark = _MEMBER if packed else _HEADING
    stream.seek(position)
    overlap = b""
    while part := stream.read(_READ_AT_ONCE):
        found = (overlap + part).find(mark)
        if found >= 0:
            return position - len(overlap) + found + (0 if packed else 1)
        position += len(part)
        overlap = (overlap + part)[-len(mark) + 1 :]
    return -1


def answer_of(record: WarcRecord) -> RecordedResponse:
    """Return the HTTP response in a record, unpacked.

    A body that is declared as compressed but is not stays as it is.
    """
    raw = block_of(record)
    for decode in ("all", "transfer"):
        try:
            return _unpacked(raw, decode)
        except OSError:
            continue
    raise DamagedRecordError


def block_of(record: WarcRecord) -> bytes:
    """Return the bytes of a record, which must have the declared length."""
    length = record.content_length
    try:
        block: bytes = record.reader.read(min(length, LARGEST_RECORD))
    except OSError as error:
        raise DamagedRecordError from error
    if len(block) < min(length, LARGEST_RECORD):
        raise DamagedRecordError
    return block


def _unpacked(raw: bytes, decode: str) -> RecordedResponse:
    record: Any = WarcRecord()
    record.is_http = True
    record.set_bytes_content(raw)
    record.parse_http(auto_decode=decode, quirks_mode=True)
    body = record.reader.read(LARGEST_BODY)
    dropped = _PACKED if decode == "all" else _PACKED - {b"content-encoding"}
    headers = record.http_headers.items_bytes()
    kept = tuple((name, value) for name, value in headers if name.lower() not in dropped)
    return RecordedResponse(record.http_headers.status_code or 0, kept, body)


def target_of(record: WarcRecord) -> str | None:
    """Return the URL of a record, in normal form; wget puts it into angle brackets."""
    return normal_url(record.headers.get("WARC-Target-URI") or "")


def referred_by(record: WarcRecord) -> str | None:
    """Return the URL under which the body of a `revisit` record was recorded."""
    return normal_url(record.headers.get("WARC-Refers-To-Target-URI") or "")


def normal_url(text: str) -> str | None:
    """Return a web URL in the form that the crawl uses; None for any other text."""
    url = text.strip("<> ")
    return UrlResolver(url).resolve(url) if url else None


def redirect_target(url: str, location: str) -> str | None:
    """Return the URL to which a Location header redirects `url`."""
    return UrlResolver(url).resolve(location) if location else None


__all__ = [
    "OK",
    "REDIRECTS",
    "ArchiveIterator",
    "DamagedRecordError",
    "RecordedResponse",
    "WarcRecord",
    "WarcRecordType",
    "answer_of",
    "block_of",
    "normal_url",
    "read_records",
    "redirect_target",
    "referred_by",
    "target_of",
]
