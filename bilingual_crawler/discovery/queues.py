"""The two queues of discovery in one frontier, and which of them is served next.

Both are ordered by the same figure, so the frontier's own order is the choice between them:
the logarithm of the bilingual sites that a download is expected to find. A forward link finds
one if its site is bilingual. A hub finds none by itself; what it is worth shows in the sites
that its links lead to, per download spent on it and on them. So a link is worth

    forward:   P(its site is bilingual)
    backlink:  P(it is a good hub) * finds of good hubs / downloads for good hubs

In logarithms two links that are both all but certain still have an order. Every such figure
is negative: pages of sites that are being harvested (0 and more) come first where their hosts
are free, and a site whose examination has begun is finished before another is begun.
"""

import math
from enum import StrEnum

from bilingual_crawler.discovery.naive_bayes import NaiveBayes

CHECK_PRIORITY = 2.0
"""Pages of sites under examination: they end soon, and keep memory while they do not."""

NO_PRIORITY = math.log(0.5)
"""Links of both queues before anything was learned: first come, first served."""


class Queue(StrEnum):
    """Where a link waits."""

    BACKLINK = "backlink"
    FORWARD = "forward"


class HubWorth:
    """What good hubs have been worth: the sites found through them against the downloads.

    It begins with one find in two downloads, which a few hubs soon correct.
    """

    def __init__(self, found: int = 0, downloads: int = 0) -> None:
        self._found = found
        self._downloads = downloads

    def add(self, found: int, downloads: int) -> None:
        """Count what a good hub, or a link of one, has cost and brought."""
        self._found += found
        self._downloads += downloads

    @property
    def a_download(self) -> float:
        """Bilingual sites for each download."""
        return (self._found + 1) / (self._downloads + 2)


def priority(
    queue: Queue, words: tuple[str, ...], classifier: NaiveBayes, worth: HubWorth
) -> float:
    """Where a link stands in the order of both queues."""
    chance = classifier.log_probability(words)
    return chance if queue is Queue.FORWARD else chance + math.log(worth.a_download)
