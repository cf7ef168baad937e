"""Strip pages of what they declare about translations, to measure what is known without it.

hreflang and rel=alternate are removed from the bytes before they are parsed: `<link>` elements go,
other elements lose the attribute and remain links. Sitemaps do not exist.
"""

import re
from urllib.parse import urlsplit

from bilingual_crawler.documents.sitemap import is_sitemap
from bilingual_crawler.store.warc_reader import RecordedResponse

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
