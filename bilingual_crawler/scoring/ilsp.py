"""The link score of ILSP-FC: c + p / L + the terms of the topic around the link.

c is high for a link that leads from one language to the other, p is how much the page is
about the topic, L how many links it has, and the last part how often terms of the topic
stand near the link, times their weights. Without a topic only c is left.
"""

from collections.abc import Sequence
from typing import Protocol

from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.languages import language_of_tag
from bilingual_crawler.scoring.rules import anchor_languages
from bilingual_crawler.scoring.scorer import Factor, LinkScorer
from bilingual_crawler.scoring.url_language import announced_languages

TO_THE_OTHER_LANGUAGE = 1000.0
"""c: above whatever a topic may add, so that likely translations come before all else."""


class Topic(Protocol):
    """What a crawl is about: weighted terms."""

    def relevance(self, document: Document) -> float:
        """p: how much a page is about the topic."""

    def weight(self, text: str) -> float:
        """The sum over all terms of their occurrences in a text times their weight."""


class NoTopic:
    """A crawl for whatever there is."""

    def relevance(self, document: Document) -> float:  # noqa: ARG002 - no page is about nothing
        """Zero."""
        return 0.0

    def weight(self, text: str) -> float:  # noqa: ARG002 - no text is about nothing
        """Zero."""
        return 0.0


class IlspScorer(LinkScorer):
    """Likely translations first, then what is said to be about the topic.

    Pages that are not kept give links like any other, as in the paper.
    """

    off_language = 1.0
    topic: Topic = NoTopic()

    def score(self, document: Document, links: Sequence[Link]) -> list[float]:
        """The sum of the three parts; never negative while terms have positive weights."""
        page = self._page_part(document)
        wanted = self.wanted(document) if document.language in self.pair else frozenset()
        return [self._crossing(link, wanted) + page + self._around(link) for link in links]

    def explain(self, document: Document, link: Link) -> tuple[float, list[Factor]]:
        """The three parts."""
        wanted = self.wanted(document) if document.language in self.pair else frozenset()
        c, page, around = (
            self._crossing(link, wanted),
            self._page_part(document),
            self._around(link),
        )
        crosses = "leads" if c else "is not known to lead"
        return c + page + around, [
            Factor("language", c, f"the link {crosses} from one language to the other"),
            Factor("page", page, f"relevance of the page over its {len(document.links)} links"),
            Factor("surroundings", around, "terms of the topic in the anchor and around it"),
        ]

    def _crossing(self, link: Link, wanted: frozenset[str]) -> float:
        if not wanted:
            return 0.0
        declared = language_of_tag(link.hreflang) if link.hreflang else None
        named = (
            frozenset({declared.code})
            if declared is not None
            else anchor_languages(link, self.pair) or announced_languages(link.url)
        )
        return TO_THE_OTHER_LANGUAGE if named & wanted else 0.0

    def _page_part(self, document: Document) -> float:
        return self.topic.relevance(document) / max(1, len(document.links))

    def _around(self, link: Link) -> float:
        return self.topic.weight(f"{link.anchor} {link.context} {link.image_alt}")
