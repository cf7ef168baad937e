"""The extension that reports on a crawl: progress, crawl.json, the summary.

Progress and summary are shown in a terminal, or written to the log.
"""

import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, Self

from rich.console import Console
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import BaseSettings, Settings
from scrapy.utils.asyncio import AsyncioLoopingCall, create_looping_call
from scrapy.utils.log import get_scrapy_root_handler, install_scrapy_root_handler
from twisted.internet.task import LoopingCall

from bilingual_crawler.config.settings import Config
from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.crawl.fetching.delays import HOSTS_STAT
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.crawl.signals import crawl_failed, pair_found, url_ended
from bilingual_crawler.documents.document import Document
from bilingual_crawler.errors import why_unwritable
from bilingual_crawler.frontier.entry import Frontier, State
from bilingual_crawler.outcomes import Outcome, stop_sentence
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.reporting.counts import (
    FAILED,
    OFF_LANGUAGE,
    PAGES,
    REVISITED,
    SEEDS,
    Counts,
    FoundSites,
    Yield,
    announced,
    detectors_of,
    sums_of,
)
from bilingual_crawler.reporting.progress import (
    LiveDisplay,
    Pace,
    Progress,
    Throttled,
    progress_line,
)
from bilingual_crawler.reporting.report import (
    HARVEST,
    SEARCH,
    about,
    explain,
    figures,
    write_report,
)
from bilingual_crawler.reporting.summary import (
    Ending,
    best_pairs,
    next_steps,
    program_of,
    resume_command,
    summary_text,
)
from bilingual_crawler.reporting.tally import (
    MILLISECONDS,
    RUNS,
    URLS,
    Tally,
    YieldCurve,
    largest_first,
    under,
)
from bilingual_crawler.store.folder import LOG, REPORT

logger = logging.getLogger(__name__)

REPORT_SECONDS = 30.0
LOOK_SECONDS = 1.0
BEST_SHOWN = 10
ANSWERS = "downloader/response_count"


class CrawlReporter:
    """Counts how URLs end, and shows people and programs what a crawl does."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._crawl = crawl = Crawl.of(crawler)
        self._folder = crawl.folder
        self._folder.facts["started"] = self._folder.facts.get("started", _now())
        files = (HARVEST if crawl.harvests else {}) | (SEARCH if crawl.discovery else {})
        self._about = about(crawl.plan, crawl.config, crawler.settings, files)
        self._tally = Tally(self._folder.journal, crawler.stats.get_stats)
        self._pages = self._tally.totals()[PAGES]
        self._yield = YieldCurve(self._folder.journal)
        self._display = make_display(crawl.config, self._folder.path, crawler.settings)
        self._frontier: Frontier | None = None
        self._last_pair: tuple[str, str] | None = None
        self._ending: Ending | None = None
        self._pace, self._answers = Pace(), Pace()
        self._documents = Throttled(lambda: crawl.corpus.documents, LOOK_SECONDS)
        self._best = Throttled(self._best_waiting, LOOK_SECONDS)
        self._forecast = Throttled(crawl.forecast, LOOK_SECONDS)
        self._report = Throttled(self._write_running, REPORT_SECONDS / 2)
        self._loops: list[AsyncioLoopingCall | LoopingCall] = []
        for handler, signal in (
            (self._opened, signals.spider_opened),
            (self._note_language, signals.item_dropped),
            (self._count_end, url_ended),
            (self._note_pair, pair_found),
            (self._closed, signals.spider_closed),
            (self._stopped, signals.engine_stopped),
        ):
            crawler.signals.connect(handler, signal=signal)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension for a crawl, whose spider has opened its folder by now."""
        return cls(crawler)

    def _opened(self) -> None:
        """Start to report now that the frontier is open; the first report survives a kill."""
        self._frontier = self._crawl.frontier
        self._repeat(self._report, REPORT_SECONDS, now=True)
        self._display.start()
        if self._display.seconds:
            self._repeat(self._show, self._display.seconds, now=False)

    def _repeat(self, action: Callable[[], object], seconds: float, *, now: bool) -> None:
        loop = create_looping_call(action)
        loop.start(seconds, now=now)
        self._loops.append(loop)

    def _note_language(self, item: Any, response: Response | None, exception: Exception) -> None:
        """Keep the language of a dropped page until its URL ends."""
        is_off = getattr(exception, "reason", "") == Outcome.OFF_LANGUAGE
        if is_off and isinstance(item, Document) and response is not None:
            RequestState.update(response, dropped_language=item.language or "unknown")

    def _count_end(self, request: Request, state: State, reason: str) -> None:
        """Count a URL at the same moment as the frontier, so that both agree.

        A page that is visited again was counted before.
        """
        if RequestState.of(request).visited_as:
            return
        count = self._crawler.stats.inc_value
        count(URLS + reason)
        if state is State.FAILED:
            count(FAILED)
        elif reason != Outcome.REDIRECTED:
            count(PAGES)
            self._pages += 1
            self._yield.add(self._pages, self._harvested)
        if request.meta.get("is_start_request"):
            count(SEEDS + reason)
        language = RequestState.of(request).dropped_language
        if language:
            count(OFF_LANGUAGE + language)

    def _note_pair(self, pair: DocumentPair) -> None:
        self._last_pair = (pair.first, pair.second)

    def _best_waiting(self) -> tuple[str, float] | None:
        best = self._frontier.top(1) if self._frontier is not None else []
        return (best[0].url, best[0].priority) if best else None

    def _show(self) -> None:
        totals = self._tally.totals()
        progress = Progress(
            langs=self._crawl.plan.langs,
            pages=totals[PAGES],
            pages_a_second=self._pace.at(self._crawler.stats.get_value(PAGES, 0)),
            answers_a_second=self._answers.at(self._crawler.stats.get_value(ANSWERS, 0)),
            waiting=len(self._frontier or ()),
            documents=self._documents(),
            other_pages=sum(under(totals, OFF_LANGUAGE).values()),
            pairs=self._crawl.corpus.pair_count,
            curve=self._yield.up_to(self._pages, self._harvested),
            best=self._best(),
            last_pair=self._last_pair,
            forecast=self._forecast(),
            seconds=totals[MILLISECONDS] / 1000,
            sites=self._found_sites,
            harvests=self._crawl.harvests,
        )
        self._display.update(progress)

    def _closed(self, reason: str) -> None:
        """Write the last report, now that the folder is closed and every URL counted."""
        for loop in self._loops:
            if loop.running:
                loop.stop()
        self._display.stop()
        if self._frontier is not None:
            self._ending = self._end(reason, self._frontier)

    def _end(self, reason: str, frontier: Frontier) -> Ending:
        counts = self._write(frontier, stopped_by=reason)
        ended_now = any(
            name.startswith((URLS, REVISITED)) for name in self._crawler.stats.get_stats()
        )
        return Ending(
            counts=counts,
            pairs=best_pairs(self._crawl.corpus.iter_pairs()),
            folder=self._folder.path,
            seconds=self._tally.totals()[MILLISECONDS] / 1000,
            finished=self._is_finished,
            stopped_why=stop_sentence(reason),
            nothing_new=self._folder.was_finished and self._is_finished and not ended_now,
            command=resume_command(sys.orig_argv, self._crawl.plan.output),
            next_steps=next_steps(self._folder.path, counts, program_of(sys.orig_argv)),
            explanation=explain(counts),
            moved_aside=self._folder.moved_aside,
        )

    def _stopped(self) -> None:
        """Show the summary after Scrapy's last log line."""
        if self._ending is not None:
            self._display.end(self._ending)

    @property
    def _harvested(self) -> int:
        """The yield of the crawl at this moment."""
        crawl = self._crawl
        return Yield(
            langs=crawl.plan.langs,
            documents=crawl.corpus.documents,
            pairs=crawl.corpus.pair_count,
            sites=self._found_sites,
            harvests=crawl.harvests,
        ).harvested

    @property
    def _found_sites(self) -> FoundSites | None:
        """The sites that discovery has found; None if it is off."""
        discovery = self._crawl.discovery
        return None if discovery is None else FoundSites.of(discovery.search.sites)

    def _counts(self) -> Counts:
        """Return all counts as they are now."""
        crawl = self._crawl
        pairs, frontier = crawl.corpus.standing(), crawl.frontier
        return Counts(
            langs=crawl.plan.langs,
            seeds=len(crawl.plan.seeds),
            documents=largest_first(crawl.corpus.documents),
            pairs=len(pairs),
            pairs_refused=crawl.corpus.refused_count,
            pairs_by_detector=detectors_of(pairs),
            known=frontier.known,
            waiting=len(frontier),
            over_budget=frontier.shelved,
            waiting_looks={} if pairs else announced(frontier),
            sites=self._found_sites,
            harvests=crawl.harvests,
            is_shared=crawl.redis is not None,
            **sums_of(self._tally.totals(), frontier.outcomes, *crawl.corpus.page_counts()),
        )

    @property
    def _is_finished(self) -> bool:
        return self._folder.facts.get("finished") == "yes"

    def _write_running(self) -> None:
        if self._frontier is not None:
            self._write(self._frontier, stopped_by=None)

    def _write(self, frontier: Frontier, *, stopped_by: str | None) -> Counts:
        counts = self._counts()
        totals = self._tally.totals()
        forecast = self._crawl.forecast()
        ended = "finished" if self._is_finished else "stopped"
        report = self._about | {
            "state": ended if stopped_by else "running",
            "stopped_by": stopped_by,
            "stopped_why": stopped_by and stop_sentence(stopped_by),
            "started": self._folder.facts.get("started"),
            "updated": _now(),
            "seconds": totals[MILLISECONDS] / 1000,
            "runs": totals[RUNS],
            **figures(counts, frontier.top(BEST_SHOWN)),
            "revisited": under(totals, REVISITED),
            "crawl_delays": dict(self._crawler.stats.get_value(HOSTS_STAT) or {}),
            "yield": self._yield.up_to(self._pages, counts.harvested),
            "forecast": None if forecast is None else forecast.to_dict(),
            "explanation": explain(counts),
        }
        try:
            write_report(self._folder.path / REPORT, report, durable=stopped_by is not None)
        except OSError as error:
            sentence = f"{self._folder.path / REPORT} cannot be written: {why_unwritable(error)}."
            logger.error(sentence)  # noqa: TRY400 - the disk, not our code
            if stopped_by:
                self._crawler.signals.send_catch_log(crawl_failed, sentence=sentence)
        return counts


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Display(Protocol):
    """Shows a crawl to its user."""

    seconds: float
    """Seconds between two updates; 0 means never."""

    def start(self) -> None:
        """Start to show a crawl."""

    def update(self, progress: Progress) -> None:
        """Show the progress."""

    def stop(self) -> None:
        """Stop showing progress."""

    def end(self, ending: Ending) -> None:
        """Show the summary."""


class LogDisplay:
    """Lines in the log, wherever that goes."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def start(self) -> None:
        """Do nothing: Scrapy logs that the spider is open."""

    def update(self, progress: Progress) -> None:
        """Log a line."""
        logger.info(progress_line(progress))

    def stop(self) -> None:
        """Do nothing: Scrapy logs that the spider is closed."""

    def end(self, ending: Ending) -> None:
        """Log the summary as one record of many lines."""
        logger.info("Summary of the crawl:\n%s", summary_text(ending))


def make_display(config: Config, folder: Path, settings: Settings) -> Display:
    """Return the display for the setting BILINGUAL_PROGRESS and the present terminal.

    A live display needs a terminal whose log we can send to a file. That is possible unless a
    program with its own log runs the crawl.
    """
    if config.progress in {"auto", "live"} and _is_ours(settings):
        _log_to_file(settings, folder / LOG)
        return LiveDisplay()
    if config.progress == "live":
        logger.warning(
            "BILINGUAL_PROGRESS=live needs a terminal; the progress goes to the log instead."
        )
    return LogDisplay(0 if config.progress == "off" else config.progress_seconds)


def _is_ours(settings: BaseSettings) -> bool:
    """Return True if there is a terminal that nothing else writes to."""
    return (
        sys.stderr.isatty()
        and not Console(stderr=True).is_dumb_terminal
        and not LiveDisplay.active
        and (get_scrapy_root_handler() is not None or not settings.getbool("LOG_ENABLED"))
    )


def _log_to_file(settings: Settings, path: Path) -> None:
    """Let Scrapy log to a file, unless it already does or should not log at all.

    The setting is needed too: Scrapy installs its handler again after the extensions are built.
    """
    if settings.getbool("LOG_ENABLED") and not settings.get("LOG_FILE"):
        settings.set("LOG_FILE", str(path), priority="addon")
        install_scrapy_root_handler(settings)
