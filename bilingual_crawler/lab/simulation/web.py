"""A recorded site, parsed once: what every URL answers, and what its page holds.

Reading a page takes some ten times as long as scoring its links, and the result is the same for
every scorer. So pages are kept on disk, in a cache that belongs to the files from which it was made
and to the code that reads pages: a change of either starts a new one.
"""

import os
import pickle
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from http import HTTPStatus
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urljoin

from protego import Protego
from scrapy.http import Headers

from bilingual_crawler.config.settings import Config
from bilingual_crawler.crawl.fetching.identity import ROBOT_NAME
from bilingual_crawler.crawl.fetching.limits import looks_binary, objection_to
from bilingual_crawler.documents.dedup import text_signature
from bilingual_crawler.documents.document import Document, Link, why_unwanted
from bilingual_crawler.documents.mixed import split_mixed
from bilingual_crawler.lab.replay.graph import robots_of
from bilingual_crawler.lab.replay.recording import Recording, site_name
from bilingual_crawler.lab.replay.site import RecordedSite
from bilingual_crawler.languages import ParallelLanguages
from bilingual_crawler.outcomes import Outcome
from bilingual_crawler.pairing.pair import PairingPage, page_of
from bilingual_crawler.store.durable import replacing
from bilingual_crawler.store.warc_reader import OK, REDIRECTS, RecordedResponse
from bilingual_crawler.urls.fingerprint import url_fingerprint
from bilingual_crawler.urls.hosts import host_of

READERS = (
    *("documents", "languages", "pairing/pair.py", "pairing/profile.py", "urls"),
    *("store/warc_reader.py", "lab/replay/recording.py", "lab/replay/site.py"),
    *("lab/replay/graph.py", "lab/replay/gold.py", "lab/simulation/web.py"),
)
"""The code that decides what is in the cache."""
CACHE = "XDG_CACHE_HOME"
"""The environment variable of the folder for caches, as on any desktop."""
LEVEL = 1


class Target(NamedTuple):
    """A link of a page, with what a frontier asks of its URL."""

    link: Link
    fingerprint: int
    host: str


class Part(NamedTuple):
    """A page as pairing sees it, or one half of a page in two languages."""

    signature: bytes
    page: PairingPage
    machine_translated: str
    document: Document | None = None
    """The document, if it is not that of the page."""


@dataclass(slots=True)
class SimulatedPage:
    """A page: its document, its links in the order of a crawl, and what pairing takes of it."""

    document: Document
    targets: list[Target]
    parts: tuple[Part, ...]


class SimulatedAnswer(NamedTuple):
    """What a URL answers: a page, another URL, or the reason why it gives no page."""

    name: str
    """The spelling under which it was recorded."""
    status: int
    page: SimulatedPage | None = None
    target: str = ""
    reason: str = ""


class SimulatedWeb:
    """Answers a simulated crawl of one site for two or more languages; each answer is made once."""

    def __init__(
        self, warc: Path, pair: ParallelLanguages, config: Config, *, strip: bool = False
    ) -> None:
        self.pair = pair
        self._warc = warc
        self._config = config
        self._strip = strip
        self._robots: dict[str, Protego | None] = {}
        self._answers: dict[str, SimulatedAnswer] = {}
        self._kept: dict[Any, Any] = {}
        self._place = _cache_folder() / f"{site_name(warc)}-{pair}-{self._digest()}"
        self._is_new = False
        with suppress(OSError, pickle.UnpicklingError, EOFError, ValueError, zlib.error):
            stored = pickle.loads(zlib.decompress(self._place.read_bytes()))  # noqa: S301 - ours
            self._answers, self._kept = stored

    @cached_property
    def _site(self) -> RecordedSite:
        """The recording, which is only read for what was not kept."""
        return RecordedSite(Recording(self._warc), self.pair.codes, strip=self._strip)

    def name_of(self, url: str) -> str:
        """Return the spelling under which a URL was recorded; the URL itself if it was not."""
        known = self._answers.get(url)
        return self._site.recording.name_of(url) if known is None else known.name

    def answer(self, url: str) -> SimulatedAnswer:
        """Return what a URL answers."""
        known = self._answers.get(url)
        if known is None:
            known = self._answers[url] = self._make(url)
            self._is_new = True
        return known

    def kept(self, key: object, make: Any) -> Any:
        """Return any other value that belongs to the site; `make` makes it, once."""
        if key not in self._kept:
            self._kept[key] = make()
            self._is_new = True
        return self._kept[key]

    def remember(self, key: object, value: object) -> None:
        """Keep a value with the site."""
        self._kept[key] = value
        self._is_new = True

    def recall(self, key: object) -> Any:
        """Return a value that was kept with the site, or None."""
        return self._kept.get(key)

    def save(self) -> None:
        """Write everything that was made to disk, for the next process."""
        if self._is_new:
            data = pickle.dumps((self._answers, self._kept), pickle.HIGHEST_PROTOCOL)
            self._place.parent.mkdir(parents=True, exist_ok=True)
            with replacing(self._place, durable=False) as fresh:
                fresh.write_bytes(zlib.compress(data, LEVEL))
            self._is_new = False

    def _digest(self) -> str:
        stat = self._warc.stat()
        size, changed = stat.st_size, stat.st_mtime_ns
        parts = (self._warc.resolve(), size, changed, self._strip, self._config, _code())
        return blake2b(repr(parts).encode(), digest_size=8).hexdigest()

    def _make(self, url: str) -> SimulatedAnswer:
        name = self._site.recording.name_of(url)
        if not self._may_fetch(url):
            return SimulatedAnswer(name, 0, reason=Outcome.ROBOTS_TXT)
        answer = self._site.answer(url)
        if answer is None:
            return SimulatedAnswer(name, HTTPStatus.NOT_FOUND, reason="http_404")
        return self._answer_of(url, name, answer)

    def _answer_of(self, url: str, name: str, answer: RecordedResponse) -> SimulatedAnswer:
        recording, status = self._site.recording, answer.status
        if status in REDIRECTS and (target := recording.redirect_of(url)):
            return SimulatedAnswer(name, status, target=target)
        if status != OK:
            return SimulatedAnswer(name, status, reason=f"http_{status}")
        if not self._is_read(answer):
            return SimulatedAnswer(name, OK, reason=Outcome.NOT_HTML)
        refresh = self._site.refresh_of(url, answer)
        if refresh is not None and refresh in recording:
            return SimulatedAnswer(name, OK, target=refresh)
        return SimulatedAnswer(name, OK, page=self._page(url, answer))

    def _is_read(self, answer: RecordedResponse) -> bool:
        headers = Headers({name: [value] for name, value in answer.headers})
        if objection_to(headers, self._config.content_types, 0) is not None:
            return False
        return not looks_binary(answer.body)

    def _page(self, url: str, answer: RecordedResponse) -> SimulatedPage:
        document = self._site.document(url, answer)
        halves = split_mixed(document, self.pair) or (document,)
        parts = tuple(
            Part(
                text_signature(each),
                page_of(each),
                each.machine_translated or "",
                each if at else None,
            )
            for at, each in enumerate(halves)
            if why_unwanted(each, self.pair, self._config.language_share) is None
        )
        return SimulatedPage(halves[0], _targets(halves[0]), parts)

    def _may_fetch(self, url: str) -> bool:
        root = urljoin(url, "/")
        if root not in self._robots:
            self._robots[root] = robots_of(self._site, root)
        robots = self._robots[root]
        return robots is None or robots.can_fetch(url, ROBOT_NAME)


def _targets(document: Document) -> list[Target]:
    """Return the links of a page, its declared translations first."""
    declared = [
        Link(each.url, rel="alternate", hreflang=each.hreflang)
        for each in document.alternates
        if each.url != document.url
    ]
    urls = {link.url for link in declared}
    links: Sequence[Link] = [*declared, *(each for each in document.links if each.url not in urls)]
    return [Target(link, url_fingerprint(link.url), host_of(link.url)) for link in links]


def _cache_folder() -> Path:
    chosen = os.environ.get(CACHE)
    return (Path(chosen) if chosen else Path.home() / ".cache") / "bilingual-crawler" / "simulation"


@cache
def _code() -> str:
    digest = blake2b(digest_size=8)
    for name in READERS:
        for data in _sources(files("bilingual_crawler").joinpath(name)):
            digest.update(data)
    return digest.hexdigest()


def _sources(place: Traversable) -> Iterator[bytes]:
    if place.is_dir():
        for each in sorted(place.iterdir(), key=lambda entry: entry.name):
            yield from _sources(each)
    elif place.name.endswith(".py"):
        yield place.read_bytes()
