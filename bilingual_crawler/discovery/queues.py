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

CHECK_PRIORITY = 2.0
"""Pages of sites under examination: they end soon, and keep memory while they do not."""

NO_PRIORITY = math.log(0.5)
"""Links of both queues before anything was learned: first come, first served."""


REMEMBERED = 200
"""Downloads after which what hubs have been worth is forgotten to a third."""
LEAST_FOUND = 0.1


class Queue(StrEnum):
    """Where a link waits."""

    BACKLINK = "backlink"
    FORWARD = "forward"


class HubWorth:
    """What good hubs have been worth: the sites found through them against the downloads.

    What is long past counts less and less: the sites that are easy to find are found first.
    It begins with one find in two downloads, which a few hubs soon correct.
    """

    def __init__(self) -> None:
        self._found, self._downloads = 1.0, 2.0

    def add(self, found: int, downloads: int) -> None:
        """Count what a good hub, or a link of one, has cost and brought."""
        kept = math.exp(-downloads / REMEMBERED)
        self._found = self._found * kept + found
        self._downloads = self._downloads * kept + downloads

    @property
    def a_download(self) -> float:
        """Bilingual sites for each download; a little, where there were none."""
        return max(self._found, LEAST_FOUND) / self._downloads


def priority(queue: Queue, chance: float, worth: HubWorth) -> float:
    """Where a link stands in the order of both queues; `chance` is the log of its probability."""
    return chance if queue is Queue.FORWARD else chance + math.log(worth.a_download)
