"""How Scrapy's log is written: as text or JSON, and what happens when it cannot be.

Scrapy makes a new handler for its log whenever the settings of a crawl are final. So nothing
is changed on one handler: each record that is made has Scrapy's handler of that moment put in
order first. That holds from the very first line, and for a log on stderr, in a LOG_FILE and in
a job of scrapyd alike.
"""

import logging
import sys
from collections.abc import Callable
from typing import Any

from scrapy.utils.log import get_scrapy_root_handler

from bilingual_crawler.crawl.extensions.json_logs import JsonFormatter

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
