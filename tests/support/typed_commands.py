"""Commands of scrapy as they are typed, run in this very process."""

import json

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


class TypedFrontier:
    """`scrapy frontier`, typed: its status or message, and what it printed."""

    def __init__(self, capsys):
        self._capsys = capsys

    def __call__(self, *words):
        status, out, err = typed(self._capsys, "frontier", *words)
        return status, out + err

    def answers(self, *words):
        """Return what the command says to programs."""
        status, printed = self(*words, "--json")
        assert status == 0, (status, printed)
        return [json.loads(line) for line in printed.splitlines()]


def status_of(end):
    """The exit status, or the message of a command that was refused (exit status 2)."""
    if isinstance(end.__cause__, ConfigurationError):
        assert end.code == USAGE_STATUS
        return str(end.__cause__)
    return end.code or 0
