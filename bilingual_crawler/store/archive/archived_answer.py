"""Reads the one record that a capture points to, out of the bytes at its place.

The bytes are hostile: a range may be cut off, lead into the middle of another record, unpack to
more than anyone wants, or hold the record of another page.
"""

import zlib
from io import BytesIO
from typing import NamedTuple

from bilingual_crawler.store.archive.capture import Capture, exact_key
from bilingual_crawler.store.input_files import GZIP
from bilingual_crawler.store.warc_reader import (
    LARGEST_RECORD,
    OK,
    ArchiveIterator,
    DamagedRecordError,
    RecordedResponse,
    WarcRecord,
    WarcRecordType,
    answer_of,
    block_of,
    referred_by,
    target_of,
)

_ROOM_FOR_HEADERS = 64 * 1024


class UnusableCaptureError(Exception):
    """A capture whose record cannot be used; the message says why."""


class ArchivedAnswer(NamedTuple):
    """What the record of a capture says: an answer, or where the same answer is held."""

    answer: RecordedResponse | None
    refers_to: str = ""
    """The URL of the capture with the body, for a revisit."""


def read_answer(data: bytes, capture: Capture) -> ArchivedAnswer:
    """Return the answer in the bytes of a capture; raise UnusableCaptureError if there is none."""
    plain = _unpacked(data)
    try:
        records = ArchiveIterator(BytesIO(plain), parse_http=False)
        record: WarcRecord | None = next(iter(records), None)
        if record is None:
            raise UnusableCaptureError("there is no record at its place")
        return _answer(record, capture)
    except (OSError, DamagedRecordError, ValueError):
        raise UnusableCaptureError("its record is damaged") from None


def _unpacked(data: bytes) -> bytes:
    """Return the record of one gzip member, or bytes that are not packed."""
    if not data.startswith(GZIP):
        return data
    most = LARGEST_RECORD + _ROOM_FOR_HEADERS
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        plain = unpacker.decompress(data, most)
    except zlib.error:
        raise UnusableCaptureError("its record is damaged") from None
    if unpacker.unconsumed_tail:
        raise UnusableCaptureError("its record is too large")
    if not unpacker.eof:
        raise UnusableCaptureError("its record is cut off")
    return plain


def _answer(record: WarcRecord, capture: Capture) -> ArchivedAnswer:
    url = target_of(record)
    if url is None or exact_key(url) != exact_key(capture.url):
        raise UnusableCaptureError("the record at its place is that of another page")
    if record.headers.get("WARC-Truncated"):
        raise UnusableCaptureError("its record was truncated by the crawler that made it")
    if record.record_type == WarcRecordType.revisit:
        return ArchivedAnswer(None, referred_by(record) or capture.url)
    if record.content_length > LARGEST_RECORD:
        raise UnusableCaptureError("its record is too large")
    if record.record_type == WarcRecordType.response and record.is_http:
        answer = answer_of(record)
        if not answer.status:
            raise UnusableCaptureError("its record has no status")
        return ArchivedAnswer(answer)
    if record.record_type == WarcRecordType.resource:
        kind = (record.headers.get("Content-Type") or "").encode("latin-1", "replace")
        return ArchivedAnswer(RecordedResponse(OK, ((b"Content-Type", kind),), block_of(record)))
    raise UnusableCaptureError("its record is not that of a page")
