"""What several folders know, joined row by row: each row once, in one order, never all in memory.

Every table of a journal lies in the order of its key, so joining is merging sorted streams.
Where folders disagree, a rule decides that looks at the rows alone: how the pages were spread
over the workers makes no difference.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

from bilingual_crawler.corpus.merging.part import CrawlPart, PartPage
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.outcomes import Outcome

Row = tuple[Any, ...]
_CERTAINTY = {State.QUEUED: 0, State.LEASED: 0, State.FAILED: 1, State.DONE: 2}


def joined_pages(parts: Sequence[CrawlPart]) -> Iterator[tuple[PartPage, int]]:
    """Every page with the number of folders that have it; of several the one with most text."""
    by_url = attrgetter("url")
    for _, same in groupby(merge(*(part.pages() for part in parts), key=by_url), key=by_url):
        copies = list(same)
        best = copies[0] if len(copies) == 1 else max(copies, key=attrgetter("fullness"))
        yield best, len(copies)


def joined_aliases(parts: Sequence[CrawlPart]) -> Iterator[Row]:
    """(source, target) of every redirect; of several targets the first in the alphabet."""
    return _joined(parts, "aliases", "source", min)


def joined_declarations(parts: Sequence[CrawlPart]) -> Iterator[Row]:
    """(URL, target, language) of everything that a sitemap says."""
    order = "url, target, language"
    for row, _ in groupby(merge(*(part.rows("declarations", order) for part in parts))):
        yield row


def joined_urls(parts: Sequence[CrawlPart]) -> Iterator[Row]:
    """The rows of the frontiers; what one worker has done is done."""
    return _joined(parts, "urls", "fingerprint", lambda rows: max(rows, key=_done_first))


def summed_tally(parts: Iterable[CrawlPart]) -> Counter[str]:
    """The sums of all workers together."""
    total: Counter[str] = Counter()
    for part in parts:
        total.update(dict(part.rows("tally")))
    return total


def _joined(
    parts: Sequence[CrawlPart], table: str, key: str, choose: Callable[[list[Row]], Row]
) -> Iterator[Row]:
    """The rows of a table in the order of its key, which is its first column."""
    first = itemgetter(0)
    for _, same in groupby(merge(*(part.rows(table, key) for part in parts), key=first), first):
        yield choose(list(same))


def _done_first(row: Row) -> tuple[Any, ...]:
    _, state, priority, sequence, *_, outcome = row
    return _CERTAINTY[State(state)], outcome == Outcome.STORED, outcome or "", priority, -sequence
