"""Commands of scrapy as they are typed, run in this very process."""

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings


def typed(capsys, *words):
    """Run scrapy with these words; its status or message, and what it printed."""
    with pytest.raises(SystemExit) as end:
        execute(["scrapy", *map(str, words)], Settings())
    printed = capsys.readouterr()
    return end.value.code or 0, printed.out, printed.err
