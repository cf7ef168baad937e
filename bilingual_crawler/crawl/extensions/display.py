"""Where progress and the summary go: to a terminal, or into the log."""

import logging
import sys
from pathlib import Path
from typing import Protocol

from rich.console import Console
from scrapy.settings import BaseSettings, Settings
from scrapy.utils.log import get_scrapy_root_handler, install_scrapy_root_handler

from bilingual_crawler.config.settings import Config
from bilingual_crawler.reporting.live import LiveDisplay
from bilingual_crawler.reporting.progress import Progress, progress_line
from bilingual_crawler.reporting.summary import Ending, summary_text
from bilingual_crawler.store.folder import LOG

logger = logging.getLogger(__name__)


class Display(Protocol):
    """Shows a crawl to its user."""

    seconds: float
    """Between two looks at the progress; 0 is never."""

    def start(self) -> None:
        """The crawl begins."""

    def update(self, progress: Progress) -> None:
        """Show how far it is."""

    def stop(self) -> None:
        """The crawl is over."""

    def end(self, ending: Ending) -> None:
        """Show the summary."""


class LogDisplay:
    """Lines in the log, wherever that goes."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def start(self) -> None:
        """Say nothing: Scrapy says that the spider is open."""

    def update(self, progress: Progress) -> None:
        """Log a line."""
        logger.info(progress_line(progress))

    def stop(self) -> None:
        """Say nothing: Scrapy says that the spider is closed."""

    def end(self, ending: Ending) -> None:
        """Log the summary, as one record of many lines."""
        logger.info("Summary of the crawl:\n%s", summary_text(ending))


def make_display(config: Config, folder: Path, settings: Settings) -> Display:
    """The display that fits the setting BILINGUAL_PROGRESS and the place we run in.

    A live display is for a terminal whose log we can lead elsewhere, which is so unless a
    program with a log of its own runs the crawl.
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
    """Whether there is a terminal, and nobody else writes to it."""
    return (
        sys.stderr.isatty()
        and not Console(stderr=True).is_dumb_terminal
        and not LiveDisplay.active
        and (get_scrapy_root_handler() is not None or not settings.getbool("LOG_ENABLED"))
    )


def _log_to_file(settings: Settings, path: Path) -> None:
    """Let Scrapy log to a file, unless it already does or should not log at all.

    Scrapy installs the handler of its settings once more after the extensions are built.
    """
    if settings.getbool("LOG_ENABLED") and not settings.get("LOG_FILE"):
        settings.set("LOG_FILE", str(path), priority="addon")
        install_scrapy_root_handler(settings)
