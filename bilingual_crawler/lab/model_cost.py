"""Measure what a URL model costs per link, as a crawl uses it: one thread, one page at a time.

The addresses are made up and as long as real ones. Processor time is measured, so that other work
on the machine hardly matters.
"""

import random
import time
from collections.abc import Sequence
from importlib.resources.abc import Traversable
from statistics import median
from typing import Any, NamedTuple

from bilingual_crawler.scoring.classifier import ParallelUrls, Url2Lang
from bilingual_crawler.scoring.models import Task

LINKS_PER_PAGE = 50
PAGES = 20
ENOUGH = 5.0
"""Seconds of processor time after which no further page is asked about."""
SYLLABLES = ("ba", "co", "di", "fe", "gu", "la", "me", "ni", "po", "ru", "sa", "ti", "vo", "za")


class ModelCost(NamedTuple):
    """Milliseconds of one core per new link, and the number of links that this was measured on."""

    milliseconds: float
    links: int


def model_cost(folder: Traversable, task: Task) -> ModelCost:
    """Ask a model about pages of links, none of them twice; return the median cost.

    The first page is not counted: it includes what is done once.
    """
    model: Any = (Url2Lang if task == "url2lang" else ParallelUrls)(folder, remembered=0)
    pages = _pages()
    _ask(model, pages[0])
    times: list[float] = []
    for page in pages[1:]:
        times.append(_ask(model, page))
        if sum(times) > ENOUGH:
            break
    return ModelCost(1000 * median(times) / LINKS_PER_PAGE, len(times) * LINKS_PER_PAGE)


def _ask(model: Any, links: Sequence[str]) -> float:
    """Return the seconds that a model takes for the links of a page."""
    pairs = [(links[0], link) for link in links]
    start = time.process_time()
    model.probabilities(pairs if model.task == "parallel" else links)
    return time.process_time() - start


def _pages() -> list[list[str]]:
    choice = random.Random(0)  # noqa: S311 - made-up addresses, not secrets

    def word() -> str:
        return "".join(choice.choices(SYLLABLES, k=choice.randint(1, 4)))

    def page(host: str) -> list[str]:
        return [
            f"https://www.{host}.org/{choice.choice(('es', 'eu', 'en'))}/{word()}/"
            f"{'-'.join(word() for _ in range(choice.randint(1, 7)))}-{number}.html"
            for number in range(LINKS_PER_PAGE)
        ]

    return [page(word() + word()) for _ in range(PAGES)]
