"""No judgement at all: pages near the seeds first, in the order they were found."""

from collections.abc import Sequence

from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.languages import LanguagePair


class BreadthFirstScorer:
    """What crawlers without a focus do, and what the others are compared with."""

    sees_context = False

    def __init__(self, pair: LanguagePair) -> None:
        self._pair = pair

    def score(self, document: Document, links: Sequence[Link]) -> list[float]:
        """Equal for all links of a page; less for each step away from the seeds."""
        return [1.0 / (2.0 + document.depth)] * len(links)
