"""Judgement by rules: language tokens in the URL and the anchor, and declared translations.

No model is needed, so this is the scorer for languages no model knows, and the baseline
that a model must beat.
"""

import re
from collections.abc import Sequence

from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.languages import LanguagePair, language_of_tag
from bilingual_crawler.pairing.url_key import url_key
from bilingual_crawler.scoring.url_language import announced_languages

WORDS = re.compile(r"[^\W\d_]+")
ANCHOR_WORDS = 3
"""A language switch says "Euskara" or "EU"; a longer anchor only speaks of the language."""

DECLARED = 2.0
TRANSLATION = 1.0
OTHER_LANGUAGE = 0.8
UNDECIDED = 0.5
SAME_LANGUAGE = 0.4
FOREIGN = 0.05


class RulesScorer:
    """Declared translations first, then what looks like the other language."""

    sees_context = True

    def __init__(self, pair: LanguagePair) -> None:
        self._pair = pair
        self._tokens = pair.first.tokens | pair.second.tokens

    def score(self, document: Document, links: Sequence[Link]) -> list[float]:
        """From 0.05 (a third language) to 2 (the page itself declares its translation)."""
        wanted = self._wanted(document)
        own_key = url_key(document.url, self._tokens).key
        return [self._score(link, document, wanted, own_key) for link in links]

    def _wanted(self, document: Document) -> frozenset[str]:
        """The language a page lacks; both for a page in neither."""
        if document.language is not None and document.language in self._pair:
            return frozenset({self._pair.other(document.language).code})
        return frozenset(self._pair.codes)

    def _score(self, link: Link, document: Document, wanted: frozenset[str], own_key: str) -> float:
        declared = language_of_tag(link.hreflang) if link.hreflang else None
        if declared is not None:
            if declared.code not in self._pair:
                return FOREIGN
            if "alternate" in link.rel:
                return DECLARED if declared.code in wanted else SAME_LANGUAGE
            named = frozenset({declared.code})
        else:
            named = self._anchor_languages(link) or announced_languages(link.url)
        if not named:
            return UNDECIDED
        if named & wanted:
            is_twin = document.language in self._pair and (
                url_key(link.url, self._tokens).key == own_key
            )
            return TRANSLATION if is_twin else OTHER_LANGUAGE
        return SAME_LANGUAGE if named & frozenset(self._pair.codes) else FOREIGN

    def _anchor_languages(self, link: Link) -> frozenset[str]:
        """The languages of the pair that a short anchor, or its image, names."""
        words = WORDS.findall(f"{link.anchor} {link.image_alt}".lower())
        if not words or len(words) > ANCHOR_WORDS:
            return frozenset()
        return frozenset(
            language.code for language in self._pair if not language.tokens.isdisjoint(words)
        )
