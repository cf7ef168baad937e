"""Logs for machines: one JSON object a line, whatever is in the message.

How Scrapy's log is written: as text or JSON, and what happens when it cannot be.

Scrapy makes a new handler for its log whenever the settings of a crawl are final. So nothing
is changed on one handler: each record that is made has Scrapy's handler of that moment put in
order first. That holds from the very first line, and for a log on stderr, in a LOG_FILE and in
a job of scrapyd alike.
"""

import json
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from scrapy.utils.log import get_scrapy_root_handler

from bilingual_crawler.urls.hosts import host_of

LONGEST = 20_000
"""Characters of a message, or of anything else in a record; more is cut off."""


class JsonFormatter(logging.Formatter):
    """Writes a record as an object of ASCII, so that no text of strangers can break its line.

    Every object has time (UTC), level, logger and message; crawl (the languages), url and
    host where they are known; exception and traceback where something was raised.
    """

    def __init__(self) -> None:
        super().__init__()
        self.crawl = ""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
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
        return json.dumps({name: value[:LONGEST] for name, value in fields.items() if value})


def message_of(record: logging.LogRecord) -> str:
    """The message; one whose arguments do not fit is shown as it was written."""
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - a wrong log line must not end anything
        return f"{record.msg} {record.args!r}"


def crawl_of(record: logging.LogRecord) -> str:
    """The languages of the crawl whose spider a record names, as Scrapy's own do."""
    langs = getattr(getattr(getattr(record, "spider", None), "plan", None), "langs", "")
    return str(langs)


def url_of(record: logging.LogRecord) -> str:
    """The URL that a record is about: its own `url`, or that of a request among its arguments."""
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
"""One for the process, as the log is."""


def watch_log(*, as_json: bool) -> None:
    """Look after Scrapy's log from now on; `as_json` has it written as JSON."""
    factory = logging.getLogRecordFactory()
    if isinstance(factory, _Dressing):
        factory.as_json = factory.as_json or as_json
    else:
        logging.setLogRecordFactory(_Dressing(factory, as_json=as_json))


class _Dressing:
    """Makes records as before, after a look at who will write them."""

    def __init__(self, usual: Callable[..., logging.LogRecord], *, as_json: bool) -> None:
        self.as_json = as_json
        self._usual = usual
        self._told = False

    def __call__(self, *given: Any, **named: Any) -> logging.LogRecord:
        handler: Any = get_scrapy_root_handler()
        if handler is not None:
            if self.as_json and handler.formatter is not FORMATTER:
                handler.setFormatter(FORMATTER)
            if handler.handleError != self._cannot_write:
                handler.handleError = self._cannot_write
        return self._usual(*given, **named)

    def _cannot_write(self, record: logging.LogRecord) -> None:
        """Say once that the log is on a full disk, instead of a traceback for each line."""
        error = sys.exception()
        if not isinstance(error, OSError) or sys.stderr is None:
            logging.Handler().handleError(record)
        elif not self._told:
            self._told = True
            sys.stderr.write(f"The log cannot be written: {error.strerror or error}.\n")
