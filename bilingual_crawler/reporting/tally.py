"""Sums over all runs of a crawl, saved with every checkpoint.

Scrapy's stats begin at zero with every run. What earlier runs counted is kept in the
journal as a source of its own, so that the sums belong to the same moment as the frontier
and the files, also after a kill.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from bilingual_crawler.store.journal import Journal, Statement

SCHEMA = """
CREATE TABLE IF NOT EXISTS tally (name TEXT PRIMARY KEY, amount INTEGER NOT NULL) WITHOUT ROWID;
"""
OURS = "bilingual/"
URLS = "bilingual/urls/"
"""How URLs ended: left out of the sums because the frontier itself remembers it."""
SCRAPYS = frozenset(
    {
        "downloader/request_count",
        "downloader/response_count",
        "downloader/response_bytes",
        "retry/count",
    }
)
MILLISECONDS = "milliseconds"
RUNS = "runs"


class Tally:
    """What all runs have counted together; `stats` gives Scrapy's stats of this one."""

    def __init__(self, journal: Journal, stats: Callable[[], Mapping[str, Any]]) -> None:
        self._stats = stats
        self._begun = time.monotonic()
        journal.define(SCHEMA)
        self._earlier: Counter[str] = Counter(dict(journal.read("SELECT name, amount FROM tally")))
        self._saved = dict(self._earlier)
        journal.attach(self)

    def totals(self) -> Counter[str]:
        """Every sum up to now."""
        return self._earlier + self.this_run()

    def this_run(self) -> Counter[str]:
        """What this run alone has added."""
        run = Counter(dict(_amounts(self._stats())))
        run[RUNS] = 1
        run[MILLISECONDS] = round(1000 * (time.monotonic() - self._begun))
        return run

    def changes(self) -> Iterable[Statement]:
        """Sums that have grown since the last checkpoint."""
        totals = self.totals()
        rows = [row for row in totals.items() if self._saved.get(row[0]) != row[1]]
        self._saved = dict(totals)
        return [("INSERT OR REPLACE INTO tally VALUES (?, ?)", rows)]


def under(totals: Mapping[str, int], prefix: str) -> dict[str, int]:
    """The sums whose name begins with `prefix`, without it, largest first."""
    found = {
        name.removeprefix(prefix): amount
        for name, amount in totals.items()
        if name.startswith(prefix)
    }
    return largest_first(found)


def largest_first(amounts: Mapping[str, int]) -> dict[str, int]:
    """The amounts in the order in which a reader wants them."""
    return dict(sorted(amounts.items(), key=lambda item: (-item[1], item[0])))


def _amounts(stats: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, int]]:
    """The numbers to be summed, those in nested tables under the name of their table."""
    for key, value in stats.items():
        name = f"{prefix}{key}"
        if name not in SCRAPYS and (not name.startswith(OURS) or name.startswith(URLS)):
            continue
        if isinstance(value, dict):
            yield from _amounts(value, f"{name}/")
        elif isinstance(value, int):
            yield name, value
