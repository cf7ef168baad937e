"""Discovery with one of its differences from the paper undone, to see what each is worth.

`benchmarks.discovery` starts this in place of scrapy for its arms with a variant: it changes one
function of the search and then runs the command.

    python -m benchmarks.discovery --size small --arm classifier --arm "classifier, laplace"
    python -m benchmarks.discovery_variants laplace crawl discovery -a langs=eng-spa ...
"""

import math
import sys
from collections.abc import Callable

from scrapy.cmdline import execute

from bilingual_crawler.discovery.learner import NaiveBayes
from bilingual_crawler.discovery.search import Hubs, Search


def laplace() -> None:
    """Add one to every count of a word, as the textbook's Naive Bayes does (R43)."""

    def says(self: NaiveBayes, word: str) -> float:
        seen = [counts.get(word, 0) for counts in self._counts]
        if not sum(seen):
            return 0.0
        vocabulary = len(self._counts[0].keys() | self._counts[1].keys())
        irrelevant, relevant = (
            (n + 1) / (total + vocabulary) for n, total in zip(seen, self._totals, strict=True)
        )
        return math.log(relevant / irrelevant)

    NaiveBayes.says = says  # type: ignore[method-assign]


def seeds_are_sites() -> None:
    """Do not read seeds as hubs (R39)."""

    def seed(self: Search, url: str) -> None:  # noqa: ARG001 - nothing is wanted
        return None

    Search.seed = seed  # type: ignore[method-assign]


def every_hub_is_good() -> None:
    """Call a hub good that links to a bilingual site, also if that is why it is known (R45)."""
    read = Hubs.read

    def read_as_good(self: Hubs, url: str, waiting: int, bilingual: int) -> None:
        hub = self._hubs[url]
        if hub.cause and hub.good is None:
            self._call(url, hub, good=True)
        read(self, url, waiting, 0 if hub.good else bilingual)

    Hubs.read = read_as_good  # type: ignore[method-assign]


VARIANTS: dict[str, Callable[[], None]] = {
    "laplace": laplace,
    "seeds as sites": seeds_are_sites,
    "plain hubs": every_hub_is_good,
}


if __name__ == "__main__":
    VARIANTS[sys.argv[1]]()
    execute(["scrapy", *sys.argv[2:]])
