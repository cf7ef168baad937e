"""Writes requests and responses to WARC 1.1 files.

Every record is a gzip member of its own, so that readers can seek, and no record refers to
another file: equal responses do not become `revisit` records, because a crawl fetches a URL once
and readers of an archive should not have to look for the bytes elsewhere.

warcio writes the records. It would rewrite HTTP headers that are not ASCII and compress at the
slowest level, so it gets the bytes of the HTTP messages as they are, and they are compressed
here: at level 6, which is twice as fast and costs half a percent of size.
"""

import gzip
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import responses
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote, urldefrag, urlsplit
from uuid import uuid4

from warcio.warcwriter import WARCWriter

from bilingual_crawler.store.files import AppendFile, move_aside, write_all
from bilingual_crawler.store.journal import FileEnd, Journal

logger = logging.getLogger(__name__)

FILE_NAME = re.compile(r"crawl-(\d{5,})\.warc\.gz")
COMPRESSION = 6
RECORD_BYTES = 8192
"""Maximum size of a record besides its content."""
LONGEST_QUOTED = 12
"""Maximum bytes of a percent-encoded character of a URL."""
SAFE_IN_URIS = "!$%&'()*+,/:;=?@[]~"
SECRET = frozenset({b"authorization", b"proxy-authorization", b"cookie"})
VARIANT = "X-Crawler-Variant"
"""The field of a record that distinguishes documents of one URL: a language (ISO 639-3)."""
DEFAULT_PORT = {"http": ":80", "https": ":443"}

_PROTOCOL = re.compile(r"HTTP/\d\.\d")
_BAD_IN_NAMES = re.compile(rb"[\x00-\x20:\x7f]+")
_BAD_IN_VALUES = re.compile(rb"[\x00\r\n]+")

Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request and its response, with the body as it arrived, before any unpacking.

    `arrived` is a time as of `time.time()`; `truncated` is a reason of the WARC standard if the
    body is incomplete. `renderings` are the pages that a browser made of the response, each with
    the variant of the resulting document.
    """

    url: str
    arrived: float
    status: int
    headers: Headers
    body: bytes
    protocol: str | None = None
    variant: str = ""
    """The language that was requested, if a URL has several."""
    address: str | None = None
    truncated: str | None = None
    method: str = "GET"
    request_headers: Headers = ()
    request_body: bytes = b""
    renderings: Sequence[tuple[str, bytes]] = ()


class WarcFiles:
    """The WARC files of a crawl, as a sink of the journal that takes exchanges.

    `written` and `failed` count exchanges and may be read from any thread.
    """

    name = "warc"

    def __init__(
        self, folder: Path, journal: Journal, about: Mapping[str, str], max_bytes: int
    ) -> None:
        self.written = self.failed = 0
        self._folder = folder
        self._max_bytes = max_bytes
        self._records = Records(about)
        self._full: list[BytesFile] = []
        self._file: BytesFile | None = None
        self._number, self._size, self._described = -1, 0, False
        for name in journal.file_names():
            found = FILE_NAME.fullmatch(name)
            if found:
                self._number = max(self._number, int(found[1]))
        self.moved_aside = self._remove_unknown(journal.growth(self.name))
        if self._number >= 0:
            end = journal.file_end(self._path.name, self.name)
            self._size, self._file = end.size, BytesFile(self._path, end)
            self.moved_aside += self._file.moved_aside

    @property
    def _path(self) -> Path:
        return self._folder / f"crawl-{self._number:05d}.warc.gz"

    def _remove_unknown(self, explained: int) -> list[Path]:
        """Delete files that a kill left before any checkpoint vouched for them.

        If they have more than one checkpoint can have written, rename them instead.
        """
        unknown = [
            path
            for path in sorted(self._folder.glob("crawl-*.warc.gz"))
            if (found := FILE_NAME.fullmatch(path.name)) and int(found[1]) > self._number
        ]
        if sum(path.stat().st_size for path in unknown) > explained:
            return [move_aside(path) for path in unknown]
        for path in unknown:
            path.unlink()
        return []

    def most_bytes(self, items: list[Exchange]) -> int:
        """Return the maximum by which these exchanges make the files longer."""
        return sum(map(_most_bytes, items)) + RECORD_BYTES

    def append(self, items: list[Exchange]) -> None:
        """Write the exchanges, all at once per file, so that a kill hardly ever cuts one."""
        pending: list[bytes] = []
        for exchange in items:
            built = self._build(exchange)
            if not built:
                continue
            if self._number < 0 or self._size >= self._max_bytes:
                self._write(pending)
                pending = []
                self._begin_file()
            if not self._described:
                built = self._records.about(self._path.name) + built
                self._described = True
            pending.append(built)
            self._size += len(built)
            self.written += 1
        self._write(pending)

    def _build(self, exchange: Exchange) -> bytes:
        """Return the records of an exchange; if they cannot be built, count it and return nothing.

        No response may end the crawl.
        """
        try:
            return self._records.of(exchange)
        except Exception:
            if not self.failed:
                logger.warning(
                    "%.200r cannot be kept in the WARC file, and others may follow that are "
                    "only counted (bilingual/warc/failed)",
                    exchange.url,
                    exc_info=True,
                )
            self.failed += 1
            return b""

    def _begin_file(self) -> None:
        if self._file is not None:
            self._full.append(self._file)
            self._file = None
        self._number += 1
        self._size, self._described = 0, False

    def _write(self, pending: list[bytes]) -> None:
        if pending:
            if self._file is None:
                self._file = BytesFile(self._path, FileEnd())
            self._file.append(pending)

    def sync(self) -> dict[str, int]:
        """Flush everything to disk and return the length of each file that was written to."""
        sizes: dict[str, int] = {}
        for file in self._full:
            sizes |= file.sync()
            file.close()
        self._full = []
        if self._file is not None:
            sizes |= self._file.sync()
        return sizes

    def close(self) -> None:
        """Close the files."""
        for file in self._full:
            file.close()
        if self._file is not None:
            self._file.close()


class BytesFile(AppendFile):
    """A file of bytes that only grows."""

    def append(self, items: list[Any]) -> None:
        """Write the bytes, all at once."""
        write_all(self._descriptor, b"".join(items))


class Head:
    """Start line and headers of an HTTP message, in the form that warcio expects."""

    def __init__(self, head: bytes) -> None:
        self.headers_buff = head

    def compute_headers_buffer(self, header_filter: object) -> None:
        """Leave the bytes as they are."""


class Records:
    """Builds the records of a file; `about` is the content of its warcinfo record."""

    def __init__(self, about: Mapping[str, str]) -> None:
        self._about = {name: " ".join(value.split()) for name, value in about.items()}
        self._buffer = BytesIO()
        self._writer = WARCWriter(self._buffer, gzip=False, warc_version="1.1")

    def about(self, file_name: str) -> bytes:
        """Return the warcinfo record, which describes the records after it."""
        return self._compress(self._writer.create_warcinfo_record(file_name, self._about))

    def of(self, exchange: Exchange) -> bytes:
        """Return the response record and the request record of an exchange.

        Pages that a browser made of it come first, as `conversion` records: a reader that takes
        the first record of a URL for the page gets the one with the text.
        """
        uri = target_uri(exchange.url)
        moment = datetime.fromtimestamp(exchange.arrived, UTC).replace(tzinfo=None)
        response = {
            "WARC-Type": "response",
            "WARC-Record-ID": f"<urn:uuid:{uuid4()}>",
            "WARC-Target-URI": uri,
            "WARC-Date": f"{moment.isoformat(timespec='microseconds')}Z",
        }
        if exchange.variant:
            response[VARIANT] = exchange.variant
        request = response | {
            "WARC-Type": "request",
            "WARC-Record-ID": f"<urn:uuid:{uuid4()}>",
            "WARC-Concurrent-To": response["WARC-Record-ID"],
        }
        if exchange.address:
            response["WARC-IP-Address"] = request["WARC-IP-Address"] = exchange.address
        if exchange.truncated:
            response["WARC-Truncated"] = exchange.truncated
        converted = [self._conversion(response, *each) for each in exchange.renderings]
        return b"".join(
            (
                *converted,
                self._record(response, response_head(exchange), exchange.body),
                self._record(request, request_head(exchange, uri), exchange.request_body),
            )
        )

    def _conversion(self, response: dict[str, str], variant: str, markup: bytes) -> bytes:
        fields = {
            "WARC-Type": "conversion",
            "WARC-Record-ID": f"<urn:uuid:{uuid4()}>",
            "WARC-Target-URI": response["WARC-Target-URI"],
            "WARC-Date": response["WARC-Date"],
            "WARC-Refers-To": response["WARC-Record-ID"],
            "Content-Type": "text/html; charset=utf-8",
        }
        if variant:
            fields[VARIANT] = variant
        return self._compress(
            self._writer.create_warc_record(
                fields["WARC-Target-URI"],
                "conversion",
                payload=BytesIO(markup),
                length=len(markup),
                warc_headers_dict=fields,
            )
        )

    def _record(self, fields: dict[str, str], head: bytes, body: bytes) -> bytes:
        return self._compress(
            self._writer.create_warc_record(
                fields["WARC-Target-URI"],
                fields["WARC-Type"],
                payload=BytesIO(body),
                length=len(body),
                warc_headers_dict=fields,
                http_headers=Head(head),
            )
        )

    def _compress(self, record: Any) -> bytes:
        self._buffer.seek(0)
        self._buffer.truncate()
        self._writer.write_record(record)
        return gzip.compress(self._buffer.getvalue(), COMPRESSION, mtime=0)


def _most_bytes(exchange: Exchange) -> int:
    """Return the maximum size of the records of an exchange, each of which has the URL."""
    bodies = [exchange.body, exchange.request_body, *(markup for _, markup in exchange.renderings)]
    headers = [part for pair in (*exchange.headers, *exchange.request_headers) for part in pair]
    address = LONGEST_QUOTED * len(exchange.url)
    return sum(int(1.01 * len(body)) + address + RECORD_BYTES for body in (*bodies, b"")) + sum(
        len(part) + 4 for part in headers
    )


def target_uri(url: str) -> str:
    """Return a URL in ASCII, without characters that the standard forbids in a URI."""
    return quote(urldefrag(url).url, safe=SAFE_IN_URIS, errors="replace")


def response_head(exchange: Exchange) -> bytes:
    """Return status line and headers of a response with an unchunked body.

    The reason phrase is the usual one of the status, because Scrapy drops the server's. A length
    other than that of the body is kept under the name that Common Crawl gives it.
    """
    protocol = exchange.protocol or ""
    if not _PROTOCOL.fullmatch(protocol):
        protocol = "HTTP/1.1"
    length = str(len(exchange.body)).encode()
    headers = []
    for name, value in exchange.headers:
        kind, kept = name.lower(), value
        if kind == b"transfer-encoding":
            continue
        if kind == b"content-length" and value.strip() != length:
            headers.append((b"X-Crawler-Content-Length", value))
            kept = length
        headers.append((name, kept))
    status = f"{protocol} {exchange.status:03d} {responses.get(exchange.status, '')}"
    return _head(status.encode("ascii"), headers)


def request_head(exchange: Exchange, uri: str) -> bytes:
    """Return request line and headers as they were sent, without secrets."""
    parts = urlsplit(uri)
    headers = [each for each in exchange.request_headers if each[0].lower() not in SECRET]
    names = {name.lower() for name, _ in headers}
    if b"host" not in names:
        host = parts.netloc.rpartition("@")[2].removesuffix(DEFAULT_PORT.get(parts.scheme, ""))
        headers.insert(0, (b"Host", host.encode("ascii")))
    if exchange.request_body and b"content-length" not in names:
        headers.append((b"Content-Length", str(len(exchange.request_body)).encode()))
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    method = _BAD_IN_NAMES.sub(b"-", exchange.method.encode("ascii", "replace"))
    return _head(method + f" {target} HTTP/1.1".encode("ascii"), headers)


def _head(start: bytes, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the lines before the body; no byte of a header can end them early."""
    lines = [start]
    for name, value in headers:
        safe_name = _BAD_IN_NAMES.sub(b"-", name)
        if safe_name:
            lines.append(safe_name + b": " + _BAD_IN_VALUES.sub(b" ", value).strip())
    return b"\r\n".join([*lines, b"", b""])
