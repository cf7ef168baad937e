"""Logs for machines: one JSON object a line, whatever is in the message."""

import json
import logging
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

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
