"""Reads sitemaps: the pages that a site lists, with the translations that it names.

Like everything that is fetched, a sitemap may be broken or hostile: all that was read before the
first error counts, nothing external is ever loaded, and no tree is built, so that memory is
bounded by the result.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from lxml import etree

from bilingual_crawler.languages import language_of_tag
from bilingual_crawler.store.input_files import DAMAGED_GZIP, unpacked_bytes
from bilingual_crawler.urls.hosts import host_of, site_of
from bilingual_crawler.urls.resolver import LONGEST_URL, UrlResolver

MOST_URLS = 50_000
"""Maximum number of pages, and of further sitemaps, per file, as on sitemaps.org."""
MOST_LINES = 2 * MOST_URLS
"""Lines of a list to read, including empty ones."""
MOST_ELEMENTS = 20 * MOST_URLS
"""XML elements to read: twenty per URL, including its translations."""
MOST_ALTERNATES = 200
"""Translations to read per page."""
LARGEST = 52_428_800
"""Bytes to read of an unpacked file: the limit of sitemaps.org."""

_NAME = re.compile(r"sitemap[^/]*\.(?:xml|txt)(?:\.gz)?$", re.IGNORECASE)
_BODY = re.compile(rb"<(?:\w+:)?(?:urlset|sitemapindex)[\s>]", re.IGNORECASE)
_BEFORE_MARKUP = b"\xef\xbb\xbf\xff\xfe \t\r\n"
_AMPERSAND = "&#38;"
"""What libxml2 makes of `&amp;` in an attribute if entities are not expanded."""
_LOOKED_AT = 1_000
_CHUNK = 1 << 16


class SitemapPage(NamedTuple):
    """A page that a site lists."""

    url: str
    alternates: tuple[tuple[str, str], ...] = ()
    """(URL, ISO 639-3 code) of every translation that the sitemap names."""


@dataclass(slots=True)
class Sitemap:
    """The content of a sitemap, as far as it can be read."""

    pages: list[SitemapPage] = field(default_factory=list)
    indexes: list[str] = field(default_factory=list)
    """Further sitemaps that an index names."""

    def claims(self) -> Iterator[SitemapPage]:
        """Return the pages with translations."""
        return (page for page in self.pages if page.alternates)


def is_sitemap(body: bytes, url: str = "") -> bool:
    """Return True if a file is a sitemap, by its beginning or its name."""
    return bool(_NAME.search(_path(url)) or _BODY.search(_head(body)))


def read_sitemap(body: bytes, url: str) -> Sitemap:
    """Read the file found at `url`: XML or a list of URLs, plain or gzipped.

    A site may only list its own pages; others are left out. A file on disk may list any.
    """
    reader = _Reader(UrlResolver(url), site_of(host_of(url)))
    if _head(body).lstrip(_BEFORE_MARKUP).startswith(b"<"):
        _read_xml(body, reader)
    else:
        _read_lines(body, reader)
    return reader.sitemap


def _path(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def _head(body: bytes) -> bytes:
    """Return the beginning of a file, unpacked and with one byte per letter."""
    start = next(_chunks(body), b"")
    return start[:_LOOKED_AT].replace(b"\0", b"")


def _chunks(body: bytes) -> Iterator[bytes]:
    """Yield the parts of an unpacked file, up to its end, an error or the limit."""
    stream = unpacked_bytes(body)
    for _ in range(LARGEST // _CHUNK):
        try:
            chunk = stream.read(_CHUNK)
        except DAMAGED_GZIP:
            return
        if not chunk:
            return
        yield chunk


def _read_xml(body: bytes, reader: "_Reader") -> None:
    parser = etree.XMLParser(
        target=cast("Any", reader),  # the stubs let names of elements be bytes
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
    )
    try:
        for chunk in _chunks(body):
            parser.feed(chunk)
            if reader.is_full:
                return
        parser.close()
    except etree.LxmlError:
        return


def _read_lines(body: bytes, reader: "_Reader") -> None:
    for line in islice(BytesIO(b"".join(_chunks(body))), MOST_LINES):
        text = line.decode("utf-8-sig", "replace").strip()
        if text.lower().startswith(("http://", "https://")) and not reader.is_full:
            reader.add_page(text)


class _Reader:
    """The target of the parser; names of elements count without their namespaces."""

    def __init__(self, resolve: UrlResolver, site: str) -> None:
        self.sitemap = Sitemap()
        self._resolve = resolve
        self._site = site
        self._entry = ""
        self._location = ""
        self._in_location = False
        self._elements = 0
        self._alternates: dict[tuple[str, str], None] = {}

    @property
    def is_full(self) -> bool:
        """True if the limits are reached."""
        found = max(len(self.sitemap.pages), len(self.sitemap.indexes))
        return found >= MOST_URLS or self._elements >= MOST_ELEMENTS

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle the start of an element."""
        self._elements += 1
        name = _local(tag)
        if name in {"url", "sitemap"}:
            self._entry, self._location, self._alternates = name, "", {}
        elif name == "loc":
            self._in_location = bool(self._entry) and not self._location
        elif name == "link" and self._entry == "url":
            self._add_alternate({_local(key): value for key, value in attributes.items()})

    def data(self, text: str) -> None:
        """Handle a piece of text."""
        if self._in_location and len(self._location) <= LONGEST_URL:
            self._location += text

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        name = _local(tag)
        if name == "loc":
            self._in_location = False
        elif name and name == self._entry:
            self._entry = ""
            if name == "url":
                self.add_page(self._location)
            elif not self.is_full and (url := self._url(self._location)):
                self.sitemap.indexes.append(url)

    def close(self) -> None:
        """Handle the end of the file."""

    def add_page(self, location: str) -> None:
        """Add a page with the translations that were named since the start of its entry."""
        url = self._url(location)
        if url is not None and self._speaks_for(url) and not self.is_full:
            others = tuple(each for each in self._alternates if each[0] != url)
            self.sitemap.pages.append(SitemapPage(url, others))

    def _add_alternate(self, attributes: Mapping[str, str]) -> None:
        if "alternate" not in attributes.get("rel", "").lower().split():
            return
        language = language_of_tag(attributes.get("hreflang", ""))
        url = self._url(attributes.get("href", "").replace(_AMPERSAND, "&"))
        if language is not None and url is not None and len(self._alternates) < MOST_ALTERNATES:
            self._alternates[url, language.code] = None

    def _speaks_for(self, url: str) -> bool:
        return not self._site or site_of(host_of(url)) == self._site

    def _url(self, reference: str) -> str | None:
        return self._resolve(reference) if reference.strip() else None


def _local(name: str) -> str:
    return name.rpartition("}")[2].rpartition(":")[2].lower()
