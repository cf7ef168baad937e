"""How Scrapy's log is written: as text or as JSON, and what happens on a full disk.

Scrapy makes a new log handler whenever the settings of a crawl become final. So no single handler
is changed: whenever a record is made, Scrapy's current handler is set up first. This works from
the very first line, and for a log on stderr, in a LOG_FILE and in a scrapyd job alike.
"""

import json
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from scrapy.utils.log import get_scrapy_root_handler

from bilingual_crawler.urls.hosts import host_of

MAX_FIELD = 20_000
"""Characters of a message or another field of a record; more is cut off."""


class JsonFormatter(logging.Formatter):
    """Writes a record as one line of ASCII JSON, so that untrusted text cannot break the line.

    Every object has time (UTC), level, logger and message; crawl (the languages), url and
    host where they are known; exception and traceback where something was raised.
    """

    def __init__(self) -> None:
        super().__init__()
        self.crawl = ""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its line feed."""
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": message_of(record),
        }
        if crawl := crawl_of(record) or self.crawl:
            fields["crawl"] = crawl
        if url := url_of(record):
            fields["url"] = url
            fields["host"] = host_of(url)
        raised = record.exc_info
        if raised and (error := raised[1]) is not None:
            fields["exception"] = f"{type(error).__name__}: {error}"
            fields["traceback"] = self.formatException(raised)
        return json.dumps({name: value[:MAX_FIELD] for name, value in fields.items() if value})


def message_of(record: logging.LogRecord) -> str:
    """Return the message; one whose arguments do not fit is shown unformatted."""
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - a wrong log line must not do any harm
        return f"{record.msg} {record.args!r}"


def crawl_of(record: logging.LogRecord) -> str:
    """Return the languages of the crawl whose spider a record names, as Scrapy's own do."""
    crawl = getattr(getattr(record, "spider", None), "crawl", None)
    return str(getattr(getattr(crawl, "plan", None), "langs", ""))


def url_of(record: logging.LogRecord) -> str:
    """Return the URL of a record: its own `url`, or that of a request in its arguments."""
    for each in (record, *_arguments(record)):
        url = getattr(each, "url", None)
        if isinstance(url, str):
            return url
    return ""


def _arguments(record: logging.LogRecord) -> Iterator[Any]:
    if isinstance(record.args, Mapping):
        yield from record.args.values()
    elif record.args:
        yield from record.args


FORMATTER = JsonFormatter()
"""One per process, like the log."""


def watch_log(*, as_json: bool) -> None:
    """Set up Scrapy's log from now on, as JSON if `as_json`."""
    factory = logging.getLogRecordFactory()
    if isinstance(factory, _RecordFactory):
        factory.as_json = factory.as_json or as_json
    else:
        logging.setLogRecordFactory(_RecordFactory(factory, as_json=as_json))


class _RecordFactory:
    """Makes log records as before, after setting up Scrapy's handler."""

    def __init__(self, usual: Callable[..., logging.LogRecord], *, as_json: bool) -> None:
        self.as_json = as_json
        self._usual = usual
        self._reported = False

    def __call__(self, *given: Any, **named: Any) -> logging.LogRecord:
        handler: Any = get_scrapy_root_handler()
        if handler is not None:
            if self.as_json and handler.formatter is not FORMATTER:
                handler.setFormatter(FORMATTER)
            if handler.handleError != self._cannot_write:
                handler.handleError = self._cannot_write
        return self._usual(*given, **named)

    def _cannot_write(self, record: logging.LogRecord) -> None:
        """Report a full disk once, instead of a traceback for each line."""
        error = sys.exception()
        if not isinstance(error, OSError) or sys.stderr is None:
            logging.Handler().handleError(record)
        elif not self._reported:
            self._reported = True
            sys.stderr.write(f"The log cannot be written: {error.strerror or error}.\n")
