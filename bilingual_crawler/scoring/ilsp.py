"""The link score of ILSP-FC: c + p / L + the terms of the topic around the link.

c is high for a link that leads from one language to the other, p is how much the page is about the
topic, L its number of links, and the last part how often terms of the topic occur near the link,
times their weights. Without a topic only c is left, and in a crawl of one language only the topic.
"""

from collections.abc import Sequence

from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.languages import language_of_tag
from bilingual_crawler.scoring.rules import anchor_languages
from bilingual_crawler.scoring.scorer import Factor, LinkScorer
from bilingual_crawler.urls.language_tokens import announced_languages

TO_THE_OTHER_LANGUAGE = 1000.0
"""c, in occurrences of a usual term: more than a topic adds on real pages, so that likely
translations come first.
"""


class IlspScorer(LinkScorer):
    """Likely translations first, then what seems to be about the topic.

    Pages that are not kept give links like any other, as in the paper.
    """

    off_language = 1.0
    for_one_language = True

    def score(self, document: Document, links: Sequence[Link]) -> list[float]:
        """Return the sum of the three parts; never negative, since weights are above 0."""
        page, lacks = self._page_part(document), self._lacks(document)
        return [self._crossing(link, lacks) + page + self._around(document, link) for link in links]

    def explain(self, document: Document, link: Link) -> tuple[float, list[Factor]]:
        """Return the three parts."""
        c, page, around = (
            self._crossing(link, self._lacks(document)),
            self._page_part(document),
            self._around(document, link),
        )
        crosses = "leads" if c else "is not known to lead"
        return c + page + around, [
            Factor("language", c, f"the link {crosses} from one language to the other"),
            Factor("page", page, f"score of the page over its {len(document.links)} links"),
            Factor("surroundings", around, "terms of the topic in the anchor and around it"),
        ]

    def _lacks(self, document: Document) -> frozenset[str]:
        """Return the language to which a link may cross; none from a page that is not wanted."""
        if document.language not in self.languages:
            return frozenset()
        return self.wanted(document) - {document.language}

    def _crossing(self, link: Link, lacks: frozenset[str]) -> float:
        if not lacks:
            return 0.0
        declared = language_of_tag(link.hreflang) if link.hreflang else None
        named = (
            frozenset({declared.code})
            if declared is not None
            else anchor_languages(link, self.languages) or announced_languages(link.url)
        )
        return TO_THE_OTHER_LANGUAGE * self.topic.unit if named & lacks else 0.0

    def _page_part(self, document: Document) -> float:
        return document.topic.score / max(1, len(document.links)) if document.topic else 0.0

    def _around(self, document: Document, link: Link) -> float:
        return self.topic_around(document, link) if self.topic else 0.0
