"""A web archive on loopback: a CDX server as pywb and Common Crawl have it, and ranged gets."""

import json
import re
from urllib.parse import parse_qs, urlsplit

from tests.support.fetching import Site

NOTHING = (404, {"Content-Type": "application/json"}, b'{"message": "No Captures found"}\n')
PAGE_SIZE = 5


class ArchiveServer(Site):
    """Answers from the lines of an index, in pages if `pages`, and from the files of a folder."""

    def __init__(self, folder, lines, *, pages=False, ranges=True):
        super().__init__()
        self._folder = folder
        self._fields = [_fields(line) for line in lines]
        self._pages = pages
        self._ranges = ranges
        self.busy = 1
        """Questions that are answered with 503 first."""

    def answer_to(self, path):
        parts = urlsplit(path)
        if parts.path.endswith("-index"):
            return self._captures({name: value[0] for name, value in parse_qs(parts.query).items()})
        return lambda handler: self._range(parts.path, handler.headers.get("Range", ""))

    def _captures(self, query):
        if self.busy:
            self.busy -= 1
            return 503, {"Retry-After": "0"}, b"slow down"
        found = [each for each in self._fields if _matches(each, query)]
        if self._pages and query.get("showNumPages"):
            return _json([{"pages": -(-len(found) // PAGE_SIZE), "pageSize": PAGE_SIZE}])
        if self._pages:
            start = PAGE_SIZE * int(query.get("page", 0))
            found = found[start : start + PAGE_SIZE]
        found = found[: int(query.get("limit", len(found)))]
        return _json(found) if found else NOTHING

    def _range(self, path, asked):
        file = self._folder / path.removeprefix("/files/")
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", asked)
        if not file.is_file() or not wanted:
            return 404, {}, b""
        if not self._ranges:
            return 200, {}, file.read_bytes()
        first, last = map(int, wanted.groups())
        part = file.read_bytes()[first : last + 1]
        return 206, {"Content-Range": f"bytes {first}-{last}/{file.stat().st_size}"}, part


def _fields(line):
    key, moment, fields = line.split(" ", 2)
    return {"urlkey": key, "timestamp": moment, **json.loads(fields)}


def _matches(fields, query):
    if query.get("matchType") == "host":
        return urlsplit(fields["url"]).hostname == query["url"]
    return fields["url"] == query["url"]


def _json(lines):
    body = "".join(json.dumps(each) + "\n" for each in lines).encode()
    return 200, {"Content-Type": "text/x-ndjson"}, body
