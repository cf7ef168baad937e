"""How promising is a link: what every scorer promises, and how one is chosen."""

from collections.abc import Sequence
from typing import Protocol, cast

from scrapy.utils.misc import load_object

from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair

SEED_PRIORITY = float("inf")
"""Seeds come first, always."""

SCORERS = {
    "breadth_first": "bilingual_crawler.scoring.breadth_first.BreadthFirstScorer",
    "rules": "bilingual_crawler.scoring.rules.RulesScorer",
}


class LinkScorer(Protocol):
    """Judges the links of a page before any of them is fetched."""

    sees_context: bool
    """Whether a score depends on more than the URL, so that a link found again may rise."""

    def score(self, document: Document, links: Sequence[Link]) -> list[float]:
        """One number a link: the higher, the sooner it is fetched."""


def make_scorer(name: str, pair: LanguagePair) -> LinkScorer:
    """The scorer of that name, or of that import path, for a pair of languages."""
    try:
        cls = load_object(SCORERS.get(name, name))
    except (ImportError, NameError, ValueError) as error:
        raise ConfigurationError(
            f"BILINGUAL_SCORER={name} cannot be loaded: {error}. "
            f"Write one of {', '.join(SCORERS)}, or package.module.Class."
        ) from error
    return cast("LinkScorer", cls(pair))
