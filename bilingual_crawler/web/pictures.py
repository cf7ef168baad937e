"""What the pictures of a crawl show, counted from its folder; expensive parts only now and then."""

import json
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from bilingual_crawler.frontier.entry import State
from bilingual_crawler.outcomes import Outcome
from bilingual_crawler.reporting.tally import largest_first
from bilingual_crawler.store.folder import JOURNAL
from bilingual_crawler.store.journal import open_read_only
from bilingual_crawler.urls.hosts import host_of, site_of
from bilingual_crawler.web.search.index import reading

BINS = 40
"""Of documents in the order of the crawl."""
SCORES = 20
LOOK_SECONDS = 20.0
SECONDS = 3.0
"""How long the counting for one picture may take."""
STEPS = 5_000
MOST_URLS = 300_000
"""URLs of a site that are sorted into sections."""
MOST_PAIRS = 50_000
SAMPLED = 10_000
"""Sentence pairs in the histogram."""
SECTIONS = 40
LAYERS = 6
MOST_SITES = 100
REST = "other sections"
OTHERS = "other languages"
MOST_SEGMENT = 40
REMEMBERED = 8


class DetectorWords(NamedTuple):
    """A detector in the words of a linguist, and where it comes from."""

    words: str
    source: str


ALMEIDA = "Almeida et al. (2002), Grabbing parallel corpora from the Web"
ILSP = "Papavassiliou et al. (2013), A modular open-source focused crawler (ILSP-FC)"
PPLOCATOR = "Vieira and Moreira (2012), PPLocator"
SBFC = "García-Romero et al., Smart Bilingual Focused Crawling"
OURS = "of this crawler"
DETECTORS = {
    "same_page": DetectorWords("two languages on one page", OURS),
    "alternates": DetectorWords("declared as translations", f"hreflang and sitemaps; {OURS}"),
    "switches": DetectorWords("language switch", OURS),
    "url_key": DetectorWords("same address pattern", ALMEIDA),
    "url_similarity": DetectorWords("similar addresses", PPLOCATOR),
    "url_model": DetectorWords("addresses, by a model", SBFC),
    "images": DetectorWords("same images", ILSP),
    "structure": DetectorWords("same structure", ILSP),
    "pplocator": DetectorWords("similar words and tags", PPLOCATOR),
    "almeida": DetectorWords("similar size and name", ALMEIDA),
    "numbers": DetectorWords("same numbers", OURS),
    "links": DetectorWords("same links", OURS),
    "words": DetectorWords("same names and words", OURS),
    "punctuation": DetectorWords("same punctuation", ALMEIDA),
    "lexicon": DetectorWords("learned word translations", f"a learned lexicon; {OURS}"),
    "lengths": DetectorWords("same paragraph lengths", OURS),
    "embeddings": DetectorWords("same meaning", "a sentence model"),
    "word_list": DetectorWords("words of a dictionary", "a word list of yours"),
}


class SectionCount(NamedTuple):
    """A section of a site: its pages, and how many of them are in a pair."""

    pages: int
    paired: int

    @property
    def share(self) -> float:
        """The yield."""
        return self.paired / self.pages if self.pages else 0.0


class DetectorCount(NamedTuple):
    """A detector in words, and the pairs that it supports."""

    words: str
    source: str
    pairs: int


@dataclass(slots=True)
class PictureFigures:
    """The figures of all pictures but the yield curve."""

    languages: list[Counter[str]] = field(default_factory=list)
    """Documents by language, in the order of the crawl."""
    scores: list[int] = field(default_factory=list)
    """Document pairs by score."""
    sentence_scores: list[int] = field(default_factory=list)
    sampled: int = 0
    """Sentence pairs that were looked at."""
    sections: Mapping[str, SectionCount] = field(default_factory=dict)
    detectors: list[DetectorCount] = field(default_factory=list)


class Pictures:
    """Counts for the pictures of one folder."""

    def __init__(self, folder: Path, index: Path) -> None:
        self._journal = folder / JOURNAL
        self._index = index
        self._lock = threading.Lock()
        self._known: dict[str, tuple[float, PictureFigures]] = {}

    def of(self, site: str, by_detector: Mapping[str, Any]) -> PictureFigures:
        """Return the figures, with the map of one site."""
        with self._lock:
            until, figures = self._known.get(site, (0.0, PictureFigures()))
            if time.monotonic() < until:
                return figures
            begun = time.monotonic()
            figures = self._count(site, by_detector)
            taken = time.monotonic() - begun
            while len(self._known) >= REMEMBERED:
                self._known.pop(next(iter(self._known)))
            self._known[site] = (time.monotonic() + LOOK_SECONDS + 20 * taken, figures)
            return figures

    def _count(self, site: str, by_detector: Mapping[str, Any]) -> PictureFigures:
        figures = PictureFigures()
        for fill in (_fill_languages, _fill_scores, _fill_sentence_scores):
            with suppress(sqlite3.OperationalError), reading(self._index) as connection:
                _limit(connection)
                fill(connection, figures)
        with suppress(sqlite3.OperationalError), reading(self._index) as connection:
            _limit(connection)
            figures.detectors = _detectors(connection, by_detector)
        with suppress(sqlite3.DatabaseError), reading(self._index) as connection:
            _limit(connection)
            figures.sections = _sections(connection, self._journal, site)
        return figures


def _limit(connection: sqlite3.Connection) -> None:
    """Interrupt whatever takes too long; the picture is then left out."""
    until = time.monotonic() + SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > until, STEPS)


def _fill_languages(connection: sqlite3.Connection, figures: PictureFigures) -> None:
    (total,) = connection.execute("SELECT COUNT(*) FROM documents").fetchone()
    size = max(1, -(-total // BINS))
    bins: dict[int, Counter[str]] = {}
    rows = connection.execute(
        "SELECT at / ? AS bin, language, COUNT(*) FROM (SELECT language,"
        " ROW_NUMBER() OVER (ORDER BY offset, line) - 1 AS at FROM documents) GROUP BY 1, 2",
        (size,),
    )
    for at, language, number in rows:
        bins.setdefault(at, Counter())[language] = number
    figures.languages = [bins[at] for at in sorted(bins)]


def _fill_scores(connection: sqlite3.Connection, figures: PictureFigures) -> None:
    figures.scores = _histogram(connection.execute("SELECT score FROM pairs"))


def _fill_sentence_scores(connection: sqlite3.Connection, figures: PictureFigures) -> None:
    (last,) = connection.execute("SELECT COALESCE(MAX(id), 0) FROM sentences").fetchone()
    step = max(1, last // SAMPLED)
    asked = "SELECT score FROM sentences WHERE id = ? AND dropped = ''"
    rows = (connection.execute(asked, (at,)).fetchone() for at in range(1, last + 1, step))
    found = [row for row in rows if row is not None]
    figures.sampled = len(found)
    figures.sentence_scores = _histogram(found)


def _histogram(rows: Any) -> list[int]:
    numbers = [0] * SCORES
    for (score,) in rows:
        numbers[int(min(SCORES - 1, max(0, score * SCORES)))] += 1
    return numbers


def _detectors(
    connection: sqlite3.Connection, by_detector: Mapping[str, Any]
) -> list[DetectorCount]:
    """Return the pairs of each detector, from the report or, without one, from the pairs."""
    counted = Counter(
        {
            str(name): number
            for name, number in by_detector.items()
            if isinstance(number, int) and number > 0
        }
    )
    if not counted:
        rows = connection.execute("SELECT evidence FROM pairs LIMIT ?", (MOST_PAIRS,))
        for (evidence,) in rows:
            for each in json.loads(evidence):
                if isinstance(each, dict) and _supports(each.get("score")):
                    counted[str(each.get("detector"))] += 1
    found = []
    for name, number in largest_first(counted).items():
        known = DETECTORS.get(name, DetectorWords(name[:MOST_SEGMENT], "a detector of yours"))
        found.append(DetectorCount(known.words, known.source, number))
    return found[: 2 * len(DETECTORS)]


def _supports(score: Any) -> bool:
    return isinstance(score, (int, float)) and score >= 0.5  # noqa: PLR2004 - as pairing says


def _sections(
    connection: sqlite3.Connection, journal: Path, site: str
) -> Mapping[str, SectionCount]:
    """Return the sections of a site, the largest first, small ones as one."""
    paired: set[str] = set()
    rows = connection.execute(
        "SELECT url1, url2 FROM pairs WHERE site = ? LIMIT ?", (site, MOST_URLS)
    )
    for both in rows:
        paired.update(both)
    downloaded = set(_downloaded(journal, site))
    if not downloaded:
        rows = connection.execute("SELECT url FROM documents LIMIT ?", (MOST_URLS,))
        downloaded = {url for (url,) in rows if site_of(host_of(url)) == site}
    downloaded |= paired
    hosts = {host_of(url) for url in downloaded}
    pages: Counter[str] = Counter()
    useful: Counter[str] = Counter()
    for url in downloaded:
        section = section_of(url, with_host=len(hosts) > 1)
        pages[section] += 1
        useful[section] += url in paired
    shown = dict(pages.most_common(SECTIONS))
    counts = {name: SectionCount(pages[name], useful[name]) for name in shown}
    if rest := pages.total() - sum(shown.values()):
        counts[REST] = SectionCount(rest, useful.total() - sum(useful[name] for name in shown))
    return counts


def _downloaded(journal: Path, site: str) -> Iterator[str]:
    """Yield the pages of a site that were downloaded, as the journal knows."""
    with suppress(sqlite3.DatabaseError), open_read_only(journal) as connection:
        _limit(connection)
        hosts = [
            host
            for (host,) in connection.execute("SELECT DISTINCT host FROM urls")
            if isinstance(host, str) and site_of(host) == site
        ][:MOST_SITES]
        rows = connection.execute(
            f"SELECT url FROM urls WHERE host IN ({', '.join('?' * len(hosts))})"  # noqa: S608 - our own words
            " AND state = ? AND outcome IS NOT ? LIMIT ?",
            (*hosts, int(State.DONE), str(Outcome.REDIRECTED), MOST_URLS),
        )
        for (url,) in rows:
            if isinstance(url, str):
                yield url


def section_of(url: str, *, with_host: bool = False) -> str:
    """Return the section of a site that a URL is in: its first two folders."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return REST
    folders = [each[:MOST_SEGMENT] for each in parts.path.split("/")[1:-1] if each]
    section = "/" + "/".join(folders[:2])
    return f"{parts.netloc}{section}" if with_host else section


def language_layers(
    bins: Sequence[Counter[str]],
) -> tuple[list[Counter[str]], list[str]]:
    """Return the bins with rare languages as one, and the languages in the order of layers."""
    total: Counter[str] = Counter()
    for each in bins:
        total.update(each)
    names = [name for name, _ in total.most_common(LAYERS - 1)]
    merged = []
    for each in bins:
        known = Counter({name: each[name] for name in names})
        known[OTHERS] = each.total() - known.total()
        merged.append(+known)
    return merged, names + ([OTHERS] if len(total) > len(names) else [])
