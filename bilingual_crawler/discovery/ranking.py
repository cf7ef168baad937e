"""Giving everything that waits in the two queues its place by what was learned."""

from collections.abc import Iterable, Iterator

from bilingual_crawler.discovery.looks import Look
from bilingual_crawler.discovery.search import Search

Waiting = tuple[int, bytes | None]
"""A fingerprint, and its request as it lies in the frontier."""


def ranked(search: Search, waiting: Iterable[Waiting]) -> Iterator[tuple[int, float]]:
    """The new priority of every link that waits in a queue; nothing of what does not.

    It reads counts that may grow meanwhile, which changes a priority by a hair.
    """
    for fingerprint, payload in waiting:
        look = Look.from_payload(payload)
        if look is not None and look.queue is not None:
            yield fingerprint, search.priority(look.queue, look.words)
