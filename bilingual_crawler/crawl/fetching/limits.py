"""Limits on what is downloaded: no files that are not pages, no pages that are too large.

Scrapy limits size and time (DOWNLOAD_MAXSIZE, also while decompressing, and DOWNLOAD_TIMEOUT for
the whole page). Here a download ends as soon as its headers show that it is not a page or is too
large, and a page that is not what its headers say is refused before it is parsed.
"""

import re
from collections.abc import Collection
from typing import Self
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, HtmlResponse, Response

from bilingual_crawler.config.file_kinds import UNTOLD, kind_of_file
from bilingual_crawler.crawl.context import config_of
from bilingual_crawler.crawl.fetching.failures import Refused
from bilingual_crawler.crawl.fetching.site_files import asked_url, is_page, is_site_file
from bilingual_crawler.outcomes import Outcome
from bilingual_crawler.urls.traps import ending_of

MAX_CODINGS = 2
MAX_ROBOTS_TXT = 512 * 1024
SNIFFED = 1024

_MAGIC = (
    b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"RIFF", b"\x1f\x8b",
    b"OggS", b"ID3", b"7z\xbc\xaf", b"Rar!", b"\x7fELF", b"BZh", b"\xd0\xcf\x11\xe0", b"wOF",
    b"\x1aE\xdf\xa3", b"{\\rtf",
)  # fmt: skip
_WIDE_TEXT = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_BINARY_BYTES = bytes({*range(32), 127} - {8, 9, 10, 11, 12, 13, 27})
_TAG = re.compile(
    rb"<\s*(?:!doctype|!--|\?xml|html|head|body|meta|title|[a-z][a-z0-9]*[\s>])", re.IGNORECASE
)


def looks_binary(body: bytes) -> bool:
    """Return True if a body is clearly not text, whatever its headers say."""
    head = body[:SNIFFED]
    if head.startswith(_MAGIC) or head[4:8] == b"ftyp":
        return True
    if head.startswith(_WIDE_TEXT) or b"<\x00" in head or b"\x00<" in head:
        return False
    odd = len(head) - len(head.translate(None, _BINARY_BYTES))
    return odd * 20 > len(head)


def looks_like_html(body: bytes) -> bool:
    """Return True if a body without a media type is a page: it has a tag near its start."""
    return not looks_binary(body) and bool(_TAG.search(body[:SNIFFED].replace(b"\x00", b"")))


def media_type(headers: Headers) -> str:
    """Return the media type in some headers, in lower case; "" if there is none."""
    declared = (headers.get("Content-Type") or b"").decode("latin-1")
    name = declared.partition(";")[0].strip().lower()
    return name if "/" in name else ""


def objection_to(headers: Headers, types: Collection[str], max_size: int) -> Refused | None:
    """Return why a page is not worth downloading, judging by its headers; None if it is."""
    kind = media_type(headers)
    if kind and kind not in types:
        return Refused(Outcome.NOT_HTML, f"The page is {kind[:100]}, which is not read.")
    length = (headers.get("Content-Length") or b"").strip()
    if max_size and length.isdigit() and int(length[:18]) > max_size:
        return Refused(Outcome.TOO_LARGE, f"The page is larger than {max_size} bytes.")
    codings = b",".join(headers.getlist("Content-Encoding")).split(b",")
    if len(codings) > MAX_CODINGS:
        return Refused(Outcome.BAD_ENCODING, "The page is compressed more than twice.")
    return None


class ContentLimits:
    """Downloader middleware that keeps out everything but pages, as early as possible.

    The signal `headers_received` ends a download before its body without failing it: the status
    is not known there, and errors and redirects of any type must take their usual course. The
    refusal follows when the response passes through here.

    Order 585: after redirects (600) and decompression (590), so that it judges the page itself,
    and before meta refresh (580), the first component to parse it.
    """

    def __init__(self, types: Collection[str], max_size: int, kinds: Collection[str] = ()) -> None:
        self._types = frozenset(types)
        self._kinds = frozenset(kinds)
        self._max_size = max_size

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware for a crawl."""
        config = config_of(crawler)
        max_size = crawler.settings.getint("DOWNLOAD_MAXSIZE")
        middleware = cls(config.media_types, max_size, config.types)
        crawler.signals.connect(middleware.headers_received, signals.headers_received)
        return middleware

    def headers_received(self, headers: Headers, request: Request) -> None:
        """End the download of a page that will be refused."""
        if not is_site_file(request) and self._objection(headers, request):
            raise StopDownload(fail=False)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Refuse what is neither a page nor a file to read, and pass on pages as HTML."""
        if not is_page(request, response):
            return _short_robots_txt(request, response)
        objection = self._objection(response.headers, request)
        if objection:
            raise objection
        if "download_stopped" in response.flags:
            raise Refused(Outcome.BAD_ENCODING, "The page is compressed more than twice.")
        kind = kind_of_file(response.body, media_type(response.headers), ending_of(response.url))
        if kind in self._kinds:
            return response
        if media_type(response.headers) not in {"", *UNTOLD}:
            readable = not looks_binary(response.body)
        else:
            readable = looks_like_html(response.body)
        if not readable:
            raise Refused(Outcome.NOT_HTML, "The page is not HTML, whatever its headers say.")
        return response if isinstance(response, HtmlResponse) else as_html(response)

    def _objection(self, headers: Headers, request: Request) -> Refused | None:
        max_size = request.meta.get("download_maxsize", self._max_size)
        return objection_to(headers, self._types, max_size)


def as_html(response: Response) -> HtmlResponse:
    """Return a page as HTML that Scrapy took for something else, for lack of a media type."""
    return response.replace(cls=HtmlResponse)


def _short_robots_txt(request: Request, response: Response) -> Response:
    """Cut a robots.txt, wherever it was redirected to, to a size that is parsed quickly.

    It ends with a whole line: half a line may forbid or allow more than the whole one.
    """
    too_long = is_site_file(request) and len(response.body) > MAX_ROBOTS_TXT
    if not too_long or urlsplit(asked_url(request)).path != "/robots.txt":
        return response
    start = response.body[:MAX_ROBOTS_TXT]
    return response.replace(body=start[: 1 + max(start.rfind(b"\n"), start.rfind(b"\r"))])
