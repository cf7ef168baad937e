"""The state of a crawl for the page that shows it, whether it is running or not."""

import contextlib
import json
import sqlite3
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from bilingual_crawler.config.settings import Config
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.view import amounts, best
from bilingual_crawler.languages import LanguagePair, OneLanguage
from bilingual_crawler.outcomes import (
    Outcome,
    is_drop,
    is_failure,
    link_sentence,
    outcome_sentence,
)
from bilingual_crawler.reporting.counts import FAILED, LINKS_REFUSED, OFF_LANGUAGE, PAGES, per_100
from bilingual_crawler.reporting.forecast import Forecast
from bilingual_crawler.reporting.progress import Throttled
from bilingual_crawler.reporting.tally import MILLISECONDS, YIELD, Point, largest_first, under
from bilingual_crawler.store.folder import JOURNAL, UNDER_WAY, is_of_one_language
from bilingual_crawler.store.journal import is_locked, open_read_only
from bilingual_crawler.urls.hosts import site_of
from bilingual_crawler.web.library import LOCK
from bilingual_crawler.web.report_file import is_curve, made_of_files, read_report
from bilingual_crawler.web.search.index import reading

LOOK_SECONDS = 3.0
SILENT_SECONDS = 100
"""A running crawl writes its report every half minute; after this long it is probably dead.

This counts only without a lock file, which says it at once."""
STATES = {
    "running": "The crawl is running.",
    "killed": "The crawl is not running, but did not finish: it was probably killed.",
    "silent": "The crawl has not reported for a while: it may have been killed.",
    "finished": "The crawl is finished.",
    "stopped": "The crawl was stopped.",
    "unknown": "This crawl has no report (crawl.json).",
}
MADE = {
    "imported": "The corpus was imported: there was no crawl.",
    "built": "The corpus was built from files: there was no crawl.",
}
BEST_SHOWN = 15
MOST_UNDER_WAY, MAX_UNDER_WAY = 20, 20_000


class WaitingUrl(NamedTuple):
    """A waiting URL; seeds have no score."""

    url: str
    score: float | None


@dataclass(slots=True)
class SiteUrls:
    """The URLs of a site, counted."""

    pages: int = 0
    failed: int = 0
    waiting: int = 0


@dataclass(slots=True)
class FrontierOverview:
    """All URLs of a crawl, counted."""

    sites: dict[str, SiteUrls] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    waiting: int = 0
    best: list[WaitingUrl] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    """Pages whose lines are still in the files although the crawl has replaced them."""


class LiveFigures(NamedTuple):
    """Figures that are cheap to read at any moment: sums over all runs, and the yield curve."""

    tally: Mapping[str, int]
    curve: list[Point]


def frontier_view(journal: Path) -> FrontierOverview:
    """Count the URLs in the journal of a crawl; it takes about a second per million."""
    view = FrontierOverview()
    sites: defaultdict[str, SiteUrls] = defaultdict(SiteUrls)
    with _quiet(), open_read_only(journal) as connection:
        for host, state, outcome, number in amounts(connection):
            site = sites[site_of(host)]
            if outcome is not None:
                view.outcomes[outcome] += number
            if state in {State.QUEUED, State.LEASED}:
                site.waiting += number
                view.waiting += number
            elif state == State.FAILED:
                site.failed += number
            elif outcome != Outcome.REDIRECTED:
                site.pages += number
        view.best = [WaitingUrl(str(each.url), each.score) for each in best(connection, BEST_SHOWN)]
    with _quiet(), open_read_only(journal) as connection:  # with Redis there are pages without URLs
        view.given_up = [
            url for (url,) in connection.execute("SELECT url FROM pages WHERE written AND NOT kept")
        ]
    view.sites = dict(sites)
    return view


def live_figures(journal: Path) -> LiveFigures:
    """Return the sums and the curve of the last checkpoint; empty without a journal."""
    tally: dict[str, int] = {}
    points: list[Any] = []
    with _quiet(), open_read_only(journal) as connection:
        tally = dict(
            connection.execute("SELECT name, amount FROM tally WHERE typeof(amount) = 'integer'")
        )
        saved = connection.execute("SELECT value FROM facts WHERE name = ?", (YIELD,)).fetchone()
        found = json.loads(saved[0]) if saved else [0, []]
        points = found[1] if isinstance(found, list) and is_curve(found[-1]) else []
    return LiveFigures(tally, [(pages, pairs) for pages, pairs in points])


def urls_under_way(journal: Path) -> list[str]:
    """Return the URLs that were being fetched at the last checkpoint; none without a journal."""
    with _quiet(), open_read_only(journal) as connection:
        row = connection.execute("SELECT value FROM facts WHERE name = ?", (UNDER_WAY,)).fetchone()
        found = json.loads(str(row[0])[:MAX_UNDER_WAY]) if row else []
        return [str(each) for each in found[:MOST_UNDER_WAY]] if isinstance(found, list) else []
    return []


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Ignore a journal that is missing, just being created, locked, or not ours."""
    with contextlib.suppress(sqlite3.DatabaseError, ValueError, RecursionError):
        yield


class Reason(NamedTuple):
    """An outcome of URLs: its code, how many, and what it means."""

    code: str
    number: int
    meaning: str


class SiteRow(NamedTuple):
    """A site of the crawl with its yield."""

    name: str
    pages: int
    pairs: int
    pairs_per_100: float
    waiting: int
    failed: int
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlState:
    """Everything that the page shows, at one moment."""

    state: str
    sentence: str
    why: str
    languages: Mapping[str, str]
    """Names by code, the first language first."""
    started: str
    updated: str
    seconds: float
    pages: int
    pairs: int
    documents: Mapping[str, int]
    off_language: Mapping[str, int]
    waiting: int
    failed: int
    curve: Sequence[Point]
    dropped: Sequence[Reason] = field(default_factory=list)
    failures: Sequence[Reason] = field(default_factory=list)
    refused: Sequence[Reason] = field(default_factory=list)
    best: Sequence[WaitingUrl] = field(default_factory=list)
    sites: Sequence[SiteRow] = field(default_factory=list)
    has_journal: bool = True
    explanation: Sequence[str] = field(default_factory=list)
    forecast: Forecast | None = None
    """What the crawl will give; None if that cannot be said yet."""
    harvest: str = "pairs"
    """What the crawl harvests: pairs, or documents in one language."""

    @property
    def harvested(self) -> int:
        """The amount of it."""
        return sum(self.documents.values()) if self.harvest == OneLanguage.harvest else self.pairs

    @property
    def per_100_pages(self) -> float:
        """The yield of the crawl."""
        return per_100(self.harvested, self.pages)

    @property
    def is_live(self) -> bool:
        """Whether the crawl is running."""
        return self.state == "running"


class CrawlFigures:
    """Reads the state of the crawl in a folder; expensive parts are read only now and then."""

    def __init__(self, folder: Path, index: Path) -> None:
        self._folder = folder
        self._index = index
        self._lock = threading.Lock()
        self._frontier = Throttled(lambda: frontier_view(folder / JOURNAL), LOOK_SECONDS)

    def report(self) -> dict[str, Any]:
        """Return crawl.json; {} if it cannot be read."""
        return read_report(self._folder)

    def state(self) -> CrawlState:
        """Return the state at this moment."""
        report = self.report()
        live = live_figures(self._folder / JOURNAL)
        with self._lock:
            frontier = self._frontier()
        documents, pairs_by_site = self._indexed(frontier.given_up)
        pages = live.tally.get(PAGES, report.get("pages", 0))
        state = _state(self._folder, report)
        one_language = is_of_one_language(report)
        points = live.curve or [tuple(each) for each in report.get("yield", [])]
        latest = live.curve[-1][1] if state == "running" and live.curve else 0
        # the index may be behind the crawl, after a start even far behind
        documents = max(documents, report.get("documents", {}), key=lambda each: sum(each.values()))
        pairs = max(sum(pairs_by_site.values()), report.get("pairs", 0))
        harvested = sum(documents.values()) if one_language else pairs
        return CrawlState(
            state=state,
            sentence=MADE.get(made_of_files(report), STATES[state]),
            why=report.get("stopped_why") or "",
            languages=languages_of(report),
            started=report.get("started") or "",
            updated=report.get("updated") or "",
            seconds=live.tally.get(MILLISECONDS, 1000 * report.get("seconds", 0)) / 1000,
            pages=pages,
            pairs=pairs,
            documents=documents,
            off_language=under(live.tally, OFF_LANGUAGE) or report.get("off_language", {}),
            waiting=frontier.waiting or report.get("urls_waiting", 0),
            failed=live.tally.get(FAILED, report.get("urls_failed", 0)),
            curve=_completed(points, pages, max(harvested, latest)),
            harvest=(OneLanguage if one_language else LanguagePair).harvest,
            **_reasons_of(frontier, report, live.tally),
            forecast=Forecast.from_dict(report.get("forecast")),
            best=frontier.best or _reported_best(report),
            sites=_sites(frontier.sites, pairs_by_site, _budget(report)),
            has_journal=(self._folder / JOURNAL).exists(),
            explanation=[]
            if pairs or (one_language and documents)
            else report.get("explanation", []),
        )

    def _indexed(self, given_up: Iterable[str]) -> tuple[dict[str, int], dict[str, int]]:
        """Return documents by language and pairs by site, without those that were replaced."""
        try:
            with reading(self._index) as connection:
                return _indexed(connection, given_up)
        except sqlite3.OperationalError:
            return {}, {}


def _indexed(
    connection: sqlite3.Connection, given_up: Iterable[str]
) -> tuple[dict[str, int], dict[str, int]]:
    documents = Counter(
        dict(map(tuple, connection.execute("SELECT language, COUNT(*) FROM documents GROUP BY 1")))
    )
    pairs = Counter(
        dict(map(tuple, connection.execute("SELECT site, COUNT(*) FROM pairs GROUP BY 1")))
    )
    lost: dict[int, str] = {}
    for url in given_up:
        for (language,) in connection.execute(
            "SELECT language FROM documents WHERE url = ?", (url,)
        ):
            documents[language] -= 1
        lost.update(
            map(
                tuple,
                connection.execute(
                    "SELECT id, site FROM pairs WHERE url1 = ? OR url2 = ?", (url, url)
                ),
            )
        )
    pairs.subtract(lost.values())
    return largest_first(+documents), dict(+pairs)


def languages_of(report: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of the languages of a crawl by code, from its report."""
    return {each["code"]: each["name"] for each in report.get("languages", [])}


def _state(folder: Path, report: Mapping[str, Any]) -> str:
    """Return the state of a crawl: the lock says whether it runs, the report how it ended."""
    state = str(report.get("state") or "unknown")
    lock = folder / LOCK
    with contextlib.suppress(OSError):
        if lock.is_file() and not lock.is_symlink():
            if is_locked(folder / JOURNAL):
                return "running"
            state = "killed" if state == "running" else state
    if state == "running" and _age(str(report.get("updated") or "")) > SILENT_SECONDS:
        return "silent"
    return state if state in STATES else "unknown"


def _age(moment: str) -> float:
    try:
        return (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()
    except (ValueError, TypeError):
        return 0.0


def _completed(points: Sequence[Any], pages: int, pairs: int) -> list[Point]:
    """Return the curve from zero up to now."""
    earlier = [(x, y) for x, y in points if x < pages]
    return [(0, 0), *earlier, (pages, pairs)] if pages else []


def _reasons_of(
    frontier: FrontierOverview, report: Mapping[str, Any], tally: Mapping[str, int]
) -> dict[str, list[Reason]]:
    ended = {code: each["count"] for code, each in report.get("urls_ended", {}).items()}
    outcomes = largest_first(frontier.outcomes or ended)
    links = {code: each["count"] for code, each in report.get("links_refused", {}).items()}
    refused = under(tally, LINKS_REFUSED) or links
    return {
        "dropped": [
            Reason(code, number, outcome_sentence(code))
            for code, number in outcomes.items()
            if is_drop(code)
        ],
        "failures": [
            Reason(code, number, outcome_sentence(code))
            for code, number in outcomes.items()
            if is_failure(code)
        ],
        "refused": [Reason(code, number, link_sentence(code)) for code, number in refused.items()],
    }


def _reported_best(report: Mapping[str, Any]) -> list[WaitingUrl]:
    return [WaitingUrl(each["url"], each["score"]) for each in report.get("best_waiting", [])]


def _budget(report: Mapping[str, Any]) -> int:
    given = report.get("settings", {}).get("BILINGUAL_SITE_PAGES", Config().site_pages)
    return int(given) if isinstance(given, int) else 0


def _sites(urls: Mapping[str, SiteUrls], pairs: Mapping[str, int], budget: int) -> list[SiteRow]:
    sites = []
    for name in urls.keys() | pairs.keys():
        found = urls.get(name, SiteUrls())
        number = pairs.get(name, 0)
        sites.append(
            SiteRow(
                name,
                found.pages,
                number,
                per_100(number, found.pages),
                found.waiting,
                found.failed,
                _site_state(found, budget),
            )
        )
    return sites


def _site_state(site: SiteUrls, budget: int) -> str:
    if site.waiting:
        return "budget used up" if budget and site.pages >= budget else "waiting"
    if not site.pages and site.failed:
        return "unreachable"
    return "done"
