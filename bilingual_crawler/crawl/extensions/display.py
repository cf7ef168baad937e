"""Where progress and summary are shown: in a terminal, or in the log."""

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
