"""Captures: what the index of a web archive says about one fetch of one page.

Lines come from files and servers of others, so every field is checked: a line that is not a
capture is None, and the caller counts it.
"""

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from bilingual_crawler.store.warc_reader import OK, REDIRECTS, normal_url
from bilingual_crawler.urls.fingerprint import canonical_url, url_fingerprint

LONGEST_LINE = 20_000
"""Characters of a line that are read; a URL has 4,000 at most."""
LONGEST_NAME = 1_000
LARGEST_NUMBER = 1 << 62
REVISIT = "warc/revisit"
_MOMENT = re.compile(r"\d{14}", re.ASCII)
_HALF = re.compile("[\ud800-\udfff]")
_WWW = re.compile(r"www\d*\.", re.ASCII)


class Capture(NamedTuple):
    """One capture of a page: where its record is, and what the index says of its content."""

    url: str
    moment: str
    """When it was fetched: YYYYMMDDhhmmss, in UTC."""
    status: int
    """The status of the answer; 0 if the index does not say."""
    mime: str
    digest: str
    file: str
    """The WARC file, relative to the place of the archive's files."""
    offset: int
    length: int
    truncated: bool = False

    @property
    def is_revisit(self) -> bool:
        """Whether the record has no body, because an earlier capture has the same."""
        return self.mime == REVISIT

    @property
    def rank(self) -> int:
        """How useful the capture is: 0 for a page, 1 for one held elsewhere, 2 for a redirect."""
        if self.truncated:
            return 4
        if self.is_revisit:
            return 1
        if self.status in (0, OK):
            return 0
        return 2 if self.status in REDIRECTS else 3


def best_of(captures: Iterable[Capture]) -> Capture | None:
    """Return the most useful capture, and among equals the latest."""
    latest_first = sorted(captures, key=lambda each: each.moment, reverse=True)
    return min(latest_first, key=lambda each: each.rank, default=None)


def iso_moment(moment: str) -> str:
    """Return a moment as a crawl writes it; "" if there is no such day."""
    try:
        parsed = datetime.strptime(moment, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return ""
    return parsed.isoformat(timespec="seconds")


def capture_in(line: str) -> Capture | None:
    """Return the capture in a line of CDXJ (key, moment, JSON) or of JSON alone."""
    if len(line) > LONGEST_LINE:
        return None
    moment = ""
    if not line.startswith("{"):
        _, _, rest = line.partition(" ")
        moment, _, line = rest.partition(" ")
    try:
        fields: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    return _capture(fields, moment)


def _capture(fields: dict[str, Any], moment: str) -> Capture | None:
    moment = moment or _text(fields.get("timestamp"))
    address, file = _text(fields.get("url")), _text(fields.get("filename"))
    offset, length = _number(fields.get("offset")), _number(fields.get("length"))
    url = normal_url(address)
    if not url or not _MOMENT.fullmatch(moment) or not file or offset is None or not length:
        return None
    return Capture(
        url,
        moment,
        _number(fields.get("status")) or 0,
        _text(fields.get("mime")).lower(),
        _text(fields.get("digest")).removeprefix("sha1:"),
        file,
        offset,
        length,
        bool(fields.get("truncated")),
    )


def _text(value: Any) -> str:
    """Return a text; "" for anything else, and for halves of characters, which no file can hold."""
    is_text = isinstance(value, str) and len(value) <= LONGEST_LINE and not _HALF.search(value)
    return value.strip() if is_text else ""


def _number(value: Any) -> int | None:
    """Return a number, which many servers write as text; None for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:  # noqa: PLR2004 - the digits of 64 bits
        value = int(value)
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and 0 <= value < LARGEST_NUMBER else None


def exact_key(url: str) -> int:
    """Return the identity of a page, as in the frontier."""
    return url_fingerprint(url)


def loose_key(url: str) -> int:
    """Return what a page has in common under http and https, with www. and a final slash or not."""
    canonical = canonical_url(url)
    try:
        parts = urlsplit(canonical)
        host = _WWW.sub("", parts.netloc.lower(), count=1)
    except ValueError:
        return url_fingerprint(url)
    path = parts.path.rstrip("/").lower()
    query = f"?{parts.query.lower()}" if parts.query else ""
    return url_fingerprint(f"http://{host}{path}{query}")
