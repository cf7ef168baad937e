"""A recorded site as a replay sees it: its responses, stripped or not, and its documents.

Pages can be stripped of what they declare about translations, to measure what is known without it:
hreflang and rel=alternate are removed from the bytes before they are parsed. `<link>` elements go,
other elements lose the attribute and remain links. Sitemaps do not exist.
"""

import pickle
import re
from typing import Any
from urllib.parse import urlsplit

from w3lib.html import get_meta_refresh

from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.sitemap import is_sitemap
from bilingual_crawler.lab.replay.recording import Recording
from bilingual_crawler.store.warc_reader import OK, RecordedResponse

LONGEST_REFRESH = 100.0
REFRESH_LOOKED_AT = 4_096
"""Characters of a page in which Scrapy's middleware looks for a meta refresh."""
REFRESH_BYTES = 4 * REFRESH_LOOKED_AT

MISSING = RecordedResponse(404, (), b"")
LONGEST_VALUE = 4_000

_VALUE = rb"(?:\"[^\"]{0,%d}\"|'[^']{0,%d}')" % (LONGEST_VALUE, LONGEST_VALUE)
_TAG = re.compile(rb"<[a-z](?:[^<>\"']++|%b|[\"'])*+>" % _VALUE, re.IGNORECASE)
_CLAIM = re.compile(rb"hreflang|alternate", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    rb"([\s/\"'])(?:hreflang\s*=\s*(?:%b|[^\s>\"']*+)|hreflang(?=[\s/>]))" % _VALUE, re.IGNORECASE
)
_REL = re.compile(
    rb"([\s/\"'])rel\s*=\s*(?:\"[^\"]*?\balternate\b[^\"]*\"|'[^']*?\balternate\b[^']*'"
    rb"|alternate(?=[\s>]))",
    re.IGNORECASE,
)
_LEFT = re.compile(rb"hreflang(?=\s*=)", re.IGNORECASE)  # in markup too broken to be a tag
_SITEMAP_LINE = re.compile(rb"^[^\S\n]*sitemap\s*:.*$", re.IGNORECASE | re.MULTILINE)
_LOOKED_AT = 1_000
_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


class RecordedSite:
    """Answers requests from a recording, and parses every page once for all crawls of it.

    A page is the same for every scorer, so the documents that were parsed for the graph of the
    site are kept for the crawls that follow, as bytes (a tenth of the page).
    """

    def __init__(
        self, recording: Recording, hints: tuple[str, ...], *, strip: bool = False
    ) -> None:
        self.recording = recording
        self.hints = hints
        self.strip = strip
        self._is_page: dict[str, bool] = {}
        self._read: dict[tuple[str, str, str], bytes] = {}

    def answer(self, url: str) -> RecordedResponse | None:
        """Return the site's response; None if the page does not exist."""
        answer = self.recording.answer(url)
        if answer is None or not self.strip:
            return answer
        return without_alternates(url, answer)

    def is_page(self, url: str) -> bool:
        """Return True if a URL is answered with 200; a sitemap may have been stripped."""
        if not self.strip or not self.recording.is_page(url):
            return self.recording.is_page(url)
        name = self.recording.name_of(url)
        if name not in self._is_page:
            answer = self.answer(name)
            self._is_page[name] = answer is not None and answer.status == OK
        return self._is_page[name]

    def refresh_of(self, url: str, answer: RecordedResponse) -> str | None:
        """Return the target of a meta refresh that Scrapy would follow, or None."""
        if answer.status != OK or b"refresh" not in answer.body[:REFRESH_BYTES].lower():
            return None
        text = answer.body[:REFRESH_BYTES].decode("utf-8", "replace")[:REFRESH_LOOKED_AT]
        interval, target = get_meta_refresh(text, url, "utf-8")
        if target is None or interval is None or interval > LONGEST_REFRESH:
            return None
        return target if target.startswith(("http://", "https://")) else None

    def document(self, url: str, answer: RecordedResponse) -> Document:
        """Return the page at a URL, as the spider parses it."""
        return self.build(
            url,
            answer.body,
            content_type=answer.header("Content-Type"),
            headers_language=answer.header("Content-Language"),
            hints=self.hints,
        )

    def build(self, url: str, body: bytes, **given: Any) -> Document:
        """Do what `build_document` does, once per page."""
        key = (url, given["content_type"], given["headers_language"])
        known = self._read.get(key) if given["hints"] == self.hints else None
        if known is not None:
            read: Document = pickle.loads(known)  # noqa: S301 - our own bytes
            return read
        document = build_document(url, body, **given)
        if given["hints"] == self.hints:
            self._read[key] = pickle.dumps(document, pickle.HIGHEST_PROTOCOL)
        return document


def without_alternates(url: str, answer: RecordedResponse) -> RecordedResponse:
    """Return a response as a site without hreflang and sitemaps would send it."""
    if is_sitemap(answer.body, url):
        return MISSING
    headers = tuple(each for each in answer.headers if each[0].lower() != b"link")
    if urlsplit(url).path == "/robots.txt":
        return answer._replace(headers=headers, body=_SITEMAP_LINE.sub(b"", answer.body))
    return answer._replace(headers=headers, body=strip_body(answer.body))


def strip_body(body: bytes) -> bytes:
    """Return the bytes of a page without any claim that other pages are its translations."""
    encoding = _wide_encoding(body)
    if encoding is not None:
        text = body.decode(encoding, "replace").encode("utf-8", "replace")
        return strip_body(text).decode("utf-8", "replace").encode(encoding)
    body = body.replace(b"\0", b"")  # parsers do not see them either
    if _CLAIM.search(body) is None:
        return body
    return _LEFT.sub(b"data-\\g<0>", _TAG.sub(_stripped, body))


def _wide_encoding(body: bytes) -> str | None:
    """Return the UTF-16 variant, seen by its byte order mark or by the zeros between letters."""
    head = body[:_LOOKED_AT]
    if body[:2] in _MARKS:
        return _MARKS[body[:2]]
    if not head or head.count(0) * 4 < len(head):
        return None
    return "utf-16-le" if head[0] else "utf-16-be"


def _stripped(tag: re.Match[bytes]) -> bytes:
    text = tag[0]
    if _CLAIM.search(text) is None:
        return text
    bare = _REL.sub(rb"\1", _ATTRIBUTE.sub(rb"\1 ", text))
    if bare != text and text[1:5].lower() == b"link" and not text[5:6].isalnum():
        return b""
    return bare
