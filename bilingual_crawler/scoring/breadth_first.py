"""No judgement at all: pages near the seeds first, in the order they were found."""

from collections.abc import Sequence

from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.scoring.scorer import Factor, LinkScorer


class BreadthFirstScorer(LinkScorer):
    """What crawlers without a focus do, and what the others are compared with.

    A page's language changes nothing: links of a page in neither are followed like any.
    """

    sees_context = False
    off_language = 1.0
    for_one_language = True

    def score(self, document: Document, links: Sequence[Link]) -> list[float]:
        """Equal for all links of a page; less for each step away from the seeds."""
        return [1.0 / (2.0 + document.depth)] * len(links)

    def explain(self, document: Document, link: Link) -> tuple[float, list[Factor]]:
        """The depth is the only reason."""
        (score,) = self.score(document, [link])
        steps = document.depth + 1
        why = f"{steps} link{'' if steps == 1 else 's'} away from a seed"
        return score, [Factor("depth", score, why)]
