"""URLs that are not worth a request: crawler traps, and files that are not pages."""

import re
from datetime import UTC, datetime
from urllib.parse import urlsplit

from bilingual_crawler.outcomes import LinkRefusal

EARLIEST_YEAR = 1990
LATEST_YEAR = datetime.now(UTC).year + 2
LONGEST_NAME = 40
LONGEST_LOOP = 50
LEAST_LOOPED = 4  # a loop is two segments or more, three times: four of them repeat others

BINARY_ENDINGS = frozenset({
    "ai", "bmp", "cdr", "drw", "dxf", "eps", "gif", "ico", "jpeg", "jpg", "mng", "pct", "png",
    "ps", "psp", "svg", "tif", "tiff", "webp",
    "3gp", "aac", "aiff", "asf", "asx", "au", "avi", "flv", "m4a", "m4v", "mid", "mov", "mp3",
    "mp4", "mpg", "ogg", "qt", "ra", "rm", "swf", "wav", "webm", "wma", "wmv",
    "7z", "7zip", "apk", "bin", "bz2", "dmg", "exe", "gz", "iso", "jar", "msi", "msp", "rar",
    "tar", "xz", "zip",
    "doc", "docb", "docm", "docx", "dotm", "dotx", "odg", "odp", "ods", "odt", "pdf", "potm",
    "potx", "pps", "ppt", "pptm", "pptx", "pst", "xls", "xlsm", "xlsx", "xltm", "xltx",
    "epub", "rtf",
    "bat", "cpl", "css", "hta", "js", "py", "rb", "sh", "csv", "ics", "json", "rss", "txt",
    "xml",
})  # fmt: skip
"""Extensions of images, audio, video, archives, programs, office files, code and data."""

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


def trap_of(
    url: str, *, max_length: int, repeated_segments: int, query_parameters: int
) -> LinkRefusal | None:
    """Return the kind of crawler trap that a URL leads into; None if it looks like a page.

    Traps are URLs that a server generates without end: ever longer paths, ever new parameters,
    a new session for every visit, calendars that go on for centuries. This is called for every
    new link, so the rare checks are only made where they can succeed.
    """
    if max_length and len(url) > max_length:
        return LinkRefusal.URL_TOO_LONG
    path, _, query = url.partition("?")
    return _trap_in_path(path, repeated_segments) or (
        _trap_in_query(query, query_parameters) if query else None
    )


def _trap_in_path(path: str, repeated_segments: int) -> LinkRefusal | None:
    segments = path.split("/")[3:]
    repeated = len(segments) - len(set(segments))
    if repeated >= min(repeated_segments, LEAST_LOOPED) and _repeats(segments, repeated_segments):
        return LinkRefusal.REPEATED_SEGMENTS
    if (";" in path or "(" in path) and _SESSION_SEGMENT.search(path):
        return LinkRefusal.SESSION_ID
    dated = _DATE_SEGMENT.search(path)
    return LinkRefusal.CALENDAR if dated and _is_far_off(dated[1]) else None


def _trap_in_query(query: str, query_parameters: int) -> LinkRefusal | None:
    if query.count("&") + query.count(";") >= query_parameters:
        return LinkRefusal.TOO_MANY_PARAMETERS
    query = f"&{query}"
    if _SESSION_PARAMETER.search(query):
        return LinkRefusal.SESSION_ID
    for year in _YEAR_VALUE.finditer(query):
        if _is_far_off(year[1]):
            end = year.start()
            if _DATE_NAME.search(query[max(0, end - LONGEST_NAME) : end]):
                return LinkRefusal.CALENDAR
    return None


def _is_far_off(year: str) -> bool:
    return not EARLIEST_YEAR <= int(year) <= LATEST_YEAR


def _repeats(segments: list[str], allowed: int) -> bool:
    """Return True if a segment occurs too often, or a sequence of them repeats in a loop."""
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


def ending_of(url: str) -> str:
    """Return the file name extension of a URL's path, in lower case."""
    name = urlsplit(url).path.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""
