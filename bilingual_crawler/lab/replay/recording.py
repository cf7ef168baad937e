"""A WARC file as the whole web that a crawl sees: nothing exists but what was recorded.

The file is read once. Memory holds only where the record of each URL begins; bodies are read when
needed, so a recording may be larger than the memory.
"""

import shutil
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.input_files import open_unpacked
from bilingual_crawler.store.warc_reader import (
    OK,
    REDIRECTS,
    ArchiveIterator,
    DamagedRecordError,
    RecordedResponse,
    WarcRecord,
    WarcRecordType,
    answer_of,
    redirect_target,
    referred_by,
    target_of,
)
from bilingual_crawler.urls.fingerprint import url_fingerprint
from bilingual_crawler.urls.hosts import host_of

MOST_REDIRECTS = 5
_TAKEN = WarcRecordType.response | WarcRecordType.revisit


class _Place(NamedTuple):
    """Where the record of a URL begins, and what kind of answer it holds."""

    url: str
    offset: int
    status: int
    location: str = ""


class Recording:
    """The answers in a WARC file, by URL; two spellings of one URL are one, as in a crawl."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = site_name(path)
        self._places: dict[int, _Place] = {}
        self._spool: tempfile._TemporaryFileWrapper[bytes] | None = None
        self._file = path
        self._index()
        if not self._can_seek():
            self._unpack()
        if not self._places:
            raise ConfigurationError(
                f"{path} has no recorded answer in it: is it a WARC file of a web site?"
            )

    def __contains__(self, url: str) -> bool:
        return url_fingerprint(url) in self._places

    @property
    def pages(self) -> list[str]:
        """Every URL that is answered with 200, in the order of the file."""
        return [place.url for place in self._places.values() if place.status == OK]

    def is_page(self, url: str) -> bool:
        """Return True if a URL is answered with 200."""
        place = self._places.get(url_fingerprint(url))
        return place is not None and place.status == OK

    def name_of(self, url: str) -> str:
        """Return the spelling under which a URL was recorded; the URL itself if it was not."""
        place = self._places.get(url_fingerprint(url))
        return url if place is None else place.url

    def redirect_of(self, url: str) -> str | None:
        """Return the target of a redirect; None if the URL does not redirect."""
        place = self._places.get(url_fingerprint(url))
        if place is None or place.status not in REDIRECTS:
            return None
        return redirect_target(place.url, place.location)

    def aliases(self) -> Iterator[tuple[str, str]]:
        """Yield every recorded redirect: the requested URL and its target."""
        for place in self._places.values():
            target = self.redirect_of(place.url)
            if target is not None:
                yield place.url, target

    def answer(self, url: str) -> RecordedResponse | None:
        """Return the recorded response; None if the page does not exist or is damaged."""
        place = self._places.get(url_fingerprint(url))
        return None if place is None else self._read(place)

    def homes(self) -> list[str]:
        """Return where to start: the root of the host with most pages, or its shortest URLs."""
        hosts = Counter(host_of(url) for url in self.pages)
        if not hosts:
            return []
        host = max(sorted(hosts), key=lambda each: hosts[each])
        urls = [url for url in self.pages if host_of(url) == host]
        roots = dict.fromkeys(urljoin(url, "/") for url in urls)
        recorded = [root for root in roots if self.page_of(root) is not None]
        shortest = min(map(len, urls))
        return recorded or sorted(url for url in urls if len(url) == shortest)

    def page_of(self, url: str) -> str | None:
        """Return the page that a URL leads to through redirects, by its recorded name, or None."""
        target: str | None = url
        for _ in range(MOST_REDIRECTS + 1):
            if target is None:
                return None
            if self.is_page(target):
                return self.name_of(target)
            target = self.redirect_of(target)
        return None

    def _index(self) -> None:
        self._places.clear()
        try:
            with self._file.open("rb") as stream:
                for record in ArchiveIterator(
                    stream, record_types=_TAKEN, parse_http=True, strict_mode=False
                ):
                    self._add(record)
        except FileNotFoundError:
            raise ConfigurationError(f"There is no file {self.path}.") from None
        except OSError as error:
            reason = error.strerror or "it is not a WARC file, or broken"
            raise ConfigurationError(f"{self.path} cannot be read: {reason}.") from error

    def _add(self, record: WarcRecord) -> None:
        url = target_of(record)
        if url is None or not record.is_http_parsed:
            return
        headers = record.http_headers
        status = headers.status_code or 0
        place = _Place(url, record.stream_pos, status, headers.get("Location") or "")
        known = self._places.get(fingerprint := url_fingerprint(url))
        if record.record_type == WarcRecordType.revisit:
            self._add_revisit(record, place)
        elif known is None or _rank(status) < _rank(known.status):
            self._places[fingerprint] = place

    def _add_revisit(self, record: WarcRecord, place: _Place) -> None:
        """Answer a URL with a body that is stored under another record of the file."""
        original = referred_by(record)
        found = None if original is None else self._places.get(url_fingerprint(original))
        if found is not None:
            self._places.setdefault(url_fingerprint(place.url), found._replace(url=place.url))

    def _can_seek(self) -> bool:
        """Return True if records can be read at their offsets: one gzip member each, or no gzip."""
        places = list(self._places.values())
        return all(self._is_at(place) for place in (places[1:2] + places[-1:]))

    def _is_at(self, place: _Place) -> bool:
        try:
            with self._file.open("rb") as stream:
                stream.seek(place.offset)
                record = next(iter(ArchiveIterator(stream, parse_http=False)))
        except (OSError, StopIteration):
            return False
        return url_fingerprint(target_of(record) or "") == url_fingerprint(place.url)

    def _unpack(self) -> None:
        """Unpack a file that was compressed as a whole into a temporary file."""
        self._spool = tempfile.NamedTemporaryFile(suffix=".warc")  # noqa: SIM115 - lives as we do
        try:
            with open_unpacked(self.path) as packed:
                shutil.copyfileobj(packed, self._spool)
        except (OSError, EOFError, zlib.error) as error:
            raise ConfigurationError(f"{self.path} cannot be unpacked: {error}.") from error
        self._spool.flush()
        self._file = Path(self._spool.name)
        self._index()

    def _read(self, place: _Place) -> RecordedResponse | None:
        with self._file.open("rb") as stream:
            stream.seek(place.offset)
            try:
                return answer_of(next(iter(ArchiveIterator(stream, parse_http=False))))
            except DamagedRecordError:
                return None


def _rank(status: int) -> int:
    """Rank pages before redirects before errors, for URLs with more than one answer."""
    return 0 if status == OK else 1 if status in REDIRECTS else 2


def site_name(path: Path) -> str:
    """Return the name of a recording: its file name without the suffixes."""
    return path.name.removesuffix(".gz").removesuffix(".warc") or path.name
