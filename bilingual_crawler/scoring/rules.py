"""Scorers without a model: rules, breadth-first, by page language, and the link score of ILSP-FC.

The rules use language tokens in the URL and the anchor, and declared translations. They are for
languages that no model knows, and the baseline that a model must beat.

The link score of ILSP-FC is c + p / L + the terms of the topic around the link. c is high for a
link that leads from one language to the other, p is how much the page is about the topic, L its
number of links, and the last part how often terms of the topic occur near the link, times their
weights. Without a topic only c is left, and in a crawl of one language only the topic.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from bilingual_crawler.config.settings import Config
from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.languages import Languages, language_of_tag
from bilingual_crawler.scoring.scorer import CrawlSoFar, Factor, LinkScorer
from bilingual_crawler.urls.language_tokens import announced_languages, url_key

WORDS = re.compile(r"[^\W\d_]+")
ANCHOR_WORDS = 3
"""A language switch says "Euskara" or "EU"; a longer anchor only mentions the language."""

TO_THE_OTHER_LANGUAGE = 1000.0
"""c, in occurrences of a usual term: more than a topic adds on real pages, so that likely
translations come first.
"""


class LinkRule(NamedTuple):
    """What a link is taken for, and its score."""

    score: float
    why: str


DECLARED = LinkRule(2.0, "the page declares it in the wanted language")
TRANSLATION = LinkRule(1.0, "differs from the page's URL only in the token of the other language")
OTHER_LANGUAGE = LinkRule(0.8, "announces the wanted language")
UNDECIDED = LinkRule(0.5, "announces no language")
SAME_LANGUAGE = LinkRule(0.4, "announces the language of the page")
FOREIGN = LinkRule(0.05, "announces an unwanted language")


class RulesScorer(LinkScorer):
    """Declared translations first, then what looks like the wanted language."""

    for_one_language = True
    for_many_languages = True
    is_yield = True

    def __init__(self, languages: Languages, crawl: CrawlSoFar, config: Config) -> None:
        super().__init__(languages, crawl, config)
        self._tokens = languages.tokens

    def score(self, document: Document, links: Sequence[Link]) -> list[float]:
        """Return scores from 0.05 (a third language) to 2 (the page declares its translation)."""
        return [rule.score for rule in self.rules_for(document, links)]

    def rules_for(self, document: Document, links: Sequence[Link]) -> list[LinkRule]:
        """Return the rule that decides about each link."""
        wanted = self.wanted(document)
        own_key = url_key(document.url, self._tokens).key
        return [self._rule(link, document, wanted, own_key) for link in links]

    def explain(self, document: Document, link: Link) -> tuple[float, list[Factor]]:
        """Return the one rule that decides."""
        own_key = url_key(document.url, self._tokens).key
        rule = self._rule(link, document, self.wanted(document), own_key)
        return rule.score, [Factor("rule", rule.score, rule.why)]

    def _rule(
        self, link: Link, document: Document, wanted: frozenset[str], own_key: str
    ) -> LinkRule:
        declared = language_of_tag(link.hreflang) if link.hreflang else None
        if declared is not None:
            if declared.code not in self.languages:
                return FOREIGN
            if "alternate" in link.rel:
                return DECLARED if declared.code in wanted else SAME_LANGUAGE
            named = frozenset({declared.code})
        else:
            named = anchor_languages(link, self.languages) or announced_languages(link.url)
        if not named:
            return UNDECIDED
        if named & wanted:
            crosses = document.language in self.languages and document.language not in wanted
            is_twin = crosses and url_key(link.url, self._tokens).key == own_key
            return TRANSLATION if is_twin else OTHER_LANGUAGE
        return SAME_LANGUAGE if any(code in self.languages for code in named) else FOREIGN


def anchor_languages(link: Link, languages: Languages) -> frozenset[str]:
    """Return the languages of a crawl that a short anchor, or its image, names."""
    words = WORDS.findall(f"{link.anchor} {link.image_alt}".lower())
    if not words or len(words) > ANCHOR_WORDS:
        return frozenset()
    return languages.named_by(words)


class BreadthFirstScorer(LinkScorer):
    """Pages near the seeds first, in the order they were found: the baseline of all others.

    The language of a page changes nothing: links of a page in neither are followed like any.
    """

    sees_context = False
    off_language = 1.0
    for_one_language = True
    for_many_languages = True

    def score(self, document: Document, links: Sequence[Link]) -> list[float]:
        """Return the same for all links of a page; less for each step away from the seeds."""
        return [1.0 / (2.0 + document.depth)] * len(links)

    def explain(self, document: Document, link: Link) -> tuple[float, list[Factor]]:
        """Return the depth as the only reason."""
        (score,) = self.score(document, [link])
        steps = document.depth + 1
        why = f"{steps} link{'' if steps == 1 else 's'} away from a seed"
        return score, [Factor("depth", score, why)]


class LanguageScorer(BreadthFirstScorer):
    """Breadth-first, without the links of pages in neither language.

    The second of the three crawlers that SBFC compares: it shows what CLD2 alone is worth.
    """

    off_language = 0.0


class IlspScorer(LinkScorer):
    """Likely translations first, then what seems to be about the topic.

    Pages that are not kept give links like any other, as in the paper.
    """

    off_language = 1.0
    for_one_language = True
    for_many_languages = True

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
