"""Commands of scrapy as they are typed, run in this very process."""

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings

from bilingual_crawler.errors import USAGE_STATUS, ConfigurationError


def typed(capsys, *words):
    """Run scrapy with these words; its status or message, and what it printed."""
    with pytest.raises(SystemExit) as end:
        execute(["scrapy", *map(str, words)], Settings())
    printed = capsys.readouterr()
    return status_of(end.value), printed.out, printed.err


def status_of(end):
    """The exit status, or the message of a command that was refused (exit status 2)."""
    if isinstance(end.__cause__, ConfigurationError):
        assert end.code == USAGE_STATUS
        return str(end.__cause__)
    return end.code or 0
