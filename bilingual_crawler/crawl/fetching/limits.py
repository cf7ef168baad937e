"""What is too much: files that are no pages, pages without end.

Size and time are Scrapy's to limit (DOWNLOAD_MAXSIZE, also while unpacking, and
DOWNLOAD_TIMEOUT for the whole page). Here a download ends as soon as its headers show
that it is no page, or too large, and a page that is something else than it says is
refused before anybody parses it.
"""

import re
from collections.abc import Collection
from typing import Self
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, HtmlResponse, Response

from bilingual_crawler.crawl.context import config_of
from bilingual_crawler.crawl.fetching.failures import Refused
from bilingual_crawler.crawl.fetching.site_files import asked_url, is_page, is_site_file

MOST_CODINGS = 2
LARGEST_ROBOTS_TXT = 512 * 1024
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
    """Whether a body is plainly no text, whatever its headers say."""
    head = body[:SNIFFED]
    if head.startswith(_MAGIC) or head[4:8] == b"ftyp":
        return True
    if head.startswith(_WIDE_TEXT) or b"<\x00" in head or b"\x00<" in head:
        return False
    odd = len(head) - len(head.translate(None, _BINARY_BYTES))
    return odd * 20 > len(head)


def looks_like_html(body: bytes) -> bool:
    """Whether a body without a media type is a page: it has a tag near its start."""
    return not looks_binary(body) and bool(_TAG.search(body[:SNIFFED].replace(b"\x00", b"")))


def media_type(headers: Headers) -> str:
    """The media type that headers give, in lower case; "" where they give none."""
    declared = (headers.get("Content-Type") or b"").decode("latin-1")
    name = declared.partition(";")[0].strip().lower()
    return name if "/" in name else ""


def objection_to(headers: Headers, types: Collection[str], max_size: int) -> Refused | None:
    """Why a page is not worth its download, as far as its headers tell."""
    kind = media_type(headers)
    if kind and kind not in types:
        return Refused("not_html", f"The page is {kind[:100]}, which is not read.")
    length = (headers.get("Content-Length") or b"").strip()
    if max_size and length.isdigit() and int(length[:18]) > max_size:
        return Refused("too_large", f"The page is larger than {max_size} bytes.")
    codings = b",".join(headers.getlist("Content-Encoding")).split(b",")
    if len(codings) > MOST_CODINGS:
        return Refused("bad_encoding", "The page is packed more than twice.")
    return None


class ContentLimits:
    """Downloader middleware that keeps everything but pages out, as early as it can.

    The signal `headers_received` ends a download before its body, without failing it:
    the status is not known there, and an error or a redirect of any type must go its
    usual way. The refusal follows when the response comes through here.

    Order 585: behind redirects (600) and unpacking (590), so that it judges the page
    itself, and before meta refresh (580), the first to parse it.
    """

    def __init__(self, types: Collection[str], max_size: int) -> None:
        self._types = frozenset(types)
        self._max_size = max_size

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware for a crawl."""
        types = config_of(crawler).content_types
        middleware = cls(types, crawler.settings.getint("DOWNLOAD_MAXSIZE"))
        crawler.signals.connect(middleware.headers_received, signals.headers_received)
        return middleware

    def headers_received(self, headers: Headers, request: Request) -> None:
        """End the download of what will be refused."""
        if not is_site_file(request) and self._objection(headers, request):
            raise StopDownload(fail=False)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Refuse what is no page, and hand pages on as HTML."""
        if not is_page(request, response):
            return _short_robots_txt(request, response)
        objection = self._objection(response.headers, request)
        if objection:
            raise objection
        if "download_stopped" in response.flags:
            raise Refused("bad_encoding", "The page is packed more than twice.")
        if media_type(response.headers):
            readable = not looks_binary(response.body)
        else:
            readable = looks_like_html(response.body)
        if not readable:
            raise Refused("not_html", "The page is no HTML, though it is not said to be otherwise.")
        return response if isinstance(response, HtmlResponse) else as_html(response)

    def _objection(self, headers: Headers, request: Request) -> Refused | None:
        max_size = request.meta.get("download_maxsize", self._max_size)
        return objection_to(headers, self._types, max_size)


def as_html(response: Response) -> HtmlResponse:
    """A page that Scrapy took for something else, for want of a media type."""
    return response.replace(cls=HtmlResponse)


def _short_robots_txt(request: Request, response: Response) -> Response:
    """A robots.txt, wherever it was redirected to, of a size that is read without a halt.

    It ends with a whole line: half of one may forbid more, or allow more, than it says.
    """
    too_long = is_site_file(request) and len(response.body) > LARGEST_ROBOTS_TXT
    if not too_long or urlsplit(asked_url(request)).path != "/robots.txt":
        return response
    start = response.body[:LARGEST_ROBOTS_TXT]
    return response.replace(body=start[: 1 + max(start.rfind(b"\n"), start.rfind(b"\r"))])
