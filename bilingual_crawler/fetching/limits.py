"""What is too much: URLs that lead nowhere, files that are no pages, pages without end.

Size and time are Scrapy's to limit (DOWNLOAD_MAXSIZE, also while unpacking, and
DOWNLOAD_TIMEOUT for the whole page). Here a download ends as soon as its headers show
that it is no page, or too large, and a page that is something else than it says is
refused before anybody parses it.
"""

import re
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Self
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, HtmlResponse, Response

from bilingual_crawler.fetching.refusal import Refused
from bilingual_crawler.fetching.site_files import asked_url, is_page, is_site_file
from bilingual_crawler.settings import Config

MOST_CODINGS = 2
LARGEST_ROBOTS_TXT = 512 * 1024
SNIFFED = 1024
EARLIEST_YEAR = 1990
LATEST_YEAR = datetime.now(UTC).year + 2
LONGEST_NAME = 40
LONGEST_LOOP = 50
LEAST_LOOPED = 4  # a loop is two segments or more, three times: four of them repeat others

_SESSION_PARAMETER = re.compile(
    r"[&;](?:"
    r"(?:(?:php|j|asp)?sess(?:ion)?_?id|aspsessionid\w*|oscsid|zenid|cftoken)=[^&;]{8}"
    r"|s(?:id)?=[0-9a-z]{20})",
    re.IGNORECASE,
)
_SESSION_SEGMENT = re.compile(r";jsessionid=|/\([a-z]\([a-z0-9]{16,}\)\)/", re.IGNORECASE)
_DATE_SEGMENT = re.compile(
    r"/((?:19|2[01])\d\d|0001|9999)[/-](?:0[1-9]|1[0-2]|[1-9][/-][0-3]?\d)(?![\d.])"
)
_YEAR_VALUE = re.compile(r"=(\d{4})(?=\D|$|\d\d(?:\D|$)|\d{4}(?:\D|$))")
_DATE_NAME = re.compile(
    r"(?:[^a-z](?:date|day|week|month|year|cal|calendar|from|to|start|end)|date)$", re.IGNORECASE
)

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


def trap_of(
    url: str, *, max_length: int, repeated_segments: int, query_parameters: int
) -> str | None:
    """The kind of trap that a URL is a step into, None if it looks like a way to a page.

    Traps are URLs that a server makes without end: ever longer paths, ever other
    parameters, a new session for every visit, calendars that go on for centuries. Asked
    of every new link, so the rare questions are only asked where they can be answered.
    """
    if max_length and len(url) > max_length:
        return "url_too_long"
    path, _, query = url.partition("?")
    return _trap_in_path(path, repeated_segments) or (
        _trap_in_query(query, query_parameters) if query else None
    )


def _trap_in_path(path: str, repeated_segments: int) -> str | None:
    segments = path.split("/")[3:]
    repeated = len(segments) - len(set(segments))
    if repeated >= min(repeated_segments, LEAST_LOOPED) and _repeats(segments, repeated_segments):
        return "repeated_segments"
    if (";" in path or "(" in path) and _SESSION_SEGMENT.search(path):
        return "session_id"
    dated = _DATE_SEGMENT.search(path)
    return "calendar" if dated and _is_far_off(dated[1]) else None


def _trap_in_query(query: str, query_parameters: int) -> str | None:
    if query.count("&") + query.count(";") >= query_parameters:
        return "too_many_parameters"
    query = f"&{query}"
    if _SESSION_PARAMETER.search(query):
        return "session_id"
    for year in _YEAR_VALUE.finditer(query):
        if _is_far_off(year[1]):
            end = year.start()
            if _DATE_NAME.search(query[max(0, end - LONGEST_NAME) : end]):
                return "calendar"
    return None


def _is_far_off(year: str) -> bool:
    return not EARLIEST_YEAR <= int(year) <= LATEST_YEAR


def _repeats(segments: list[str], allowed: int) -> bool:
    """Whether a segment occurs too often, or a sequence of them goes round in a loop."""
    places: dict[str, list[int]] = {}
    for place, segment in enumerate(segments):
        places.setdefault(segment, []).append(place)
    for found in places.values():
        if len(found) > allowed:
            return True
        for first, second, third in zip(found, found[1:], found[2:], strict=False):
            step = second - first
            if step == third - second and 1 < step <= LONGEST_LOOP:
                loop = segments[first:second]
                if loop == segments[second:third] == segments[third : third + step]:
                    return True
    return False


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
        types = Config.from_settings(crawler.settings).content_types
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
