"""What stands in WARC files: answers of servers, whoever recorded them.

fastwarc reads the records. It stops at the first one that is damaged; here reading goes on at
the next that begins, so that a cut or scratched file costs what is broken and no more.
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
"""Bytes of a body that are read at most, as of a page that a crawl fetches."""
LARGEST_RECORD = LARGEST_BODY + 1_000_000
MOST_ATTEMPTS = 1_000
"""To go on after a damage, before the rest of a file is given up."""
_MEMBER = GZIP + b"\x08"
_HEADING = b"\nWARC/"
_READ_AT_ONCE = 1 << 20
_PACKED = frozenset({b"content-encoding", b"transfer-encoding", b"content-length"})

Headers = tuple[tuple[bytes, bytes], ...]


class RecordedResponse(NamedTuple):
    """What a server said when the site was recorded, unpacked."""

    status: int
    headers: Headers
    body: bytes

    def header(self, name: str) -> str:
        """The first header of that name, "" where there is none."""
        wanted = name.lower().encode()
        found = (value for each, value in self.headers if each.lower() == wanted)
        return next(found, b"").decode("latin-1").strip()


class DamagedRecordError(Exception):
    """A record that does not hold what it says."""


def read_records(
    path: Path, damaged: Callable[[int], None], progress: Callable[[int], None] = lambda _: None
) -> Iterator[WarcRecord]:
    """Every record of a file, HTTP unparsed; `damaged` is told where one cannot be read.

    `progress` is told how many bytes of the file have been read. A record must be used
    before the next one is asked for.
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
                if in_order:  # attempts to go on after a damage are not damages
                    damaged(last)
            else:
                return
            attempts, in_order = attempts + 1, False
            start = _next_beginning(stream, last + 1, packed=packed)


def _next_beginning(stream: BinaryIO, position: int, *, packed: bool) -> int:
    """Where the next record may begin; -1 if none does."""
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
    """The HTTP answer in a record, unpacked as far as its encodings are true.

    A body that says it is compressed and is not is left as it is.
    """
    raw = block_of(record)
    for decode in ("all", "transfer"):
        try:
            return _unpacked(raw, decode)
        except OSError:
            continue
    raise DamagedRecordError


def block_of(record: WarcRecord) -> bytes:
    """The bytes of a record, which must be as many as it says."""
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
    """The URL of a record, as the crawl would write it; wget puts it into brackets."""
    return normal_url(record.headers.get("WARC-Target-URI") or "")


def referred_by(record: WarcRecord) -> str | None:
    """The URL under which the body of a `revisit` record was recorded."""
    return normal_url(record.headers.get("WARC-Refers-To-Target-URI") or "")


def normal_url(text: str) -> str | None:
    """A URL of the web as the crawl would write it; None for any other text."""
    url = text.strip("<> ")
    return UrlResolver(url).resolve(url) if url else None


def redirect_target(url: str, location: str) -> str | None:
    """Where an answer with a Location header sends who asked for `url`."""
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
