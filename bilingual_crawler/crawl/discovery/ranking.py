"""Giving everything that waits in the two queues its place by what was learned."""

from collections.abc import Iterable, Iterator

from bilingual_crawler.crawl.discovery.looks import Look
from bilingual_crawler.discovery.search import Search

Waiting = tuple[int, str, bytes | None]
"""A fingerprint, its URL, and its request as it lies in the frontier."""


def ranked(search: Search, waiting: Iterable[Waiting]) -> Iterator[tuple[int, float]]:
    """The new priority of every link that waits in a queue; nothing of what does not.

    It reads counts that may grow meanwhile, which changes a priority by a hair.
    """
    for fingerprint, url, payload in waiting:
        look = Look.from_payload(payload)
        if look is not None and look.queue is not None:
            approach = search.best_approach(look.queue, look.approach(url))
            yield fingerprint, search.priority(look.queue, approach)
