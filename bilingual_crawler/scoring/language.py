"""Breadth-first with one rule: links of pages in neither language are not followed."""

from bilingual_crawler.scoring.breadth_first import BreadthFirstScorer


class LanguageScorer(BreadthFirstScorer):
    """The middle one of the three crawlers that SBFC compares: what CLD2 alone is worth."""

    off_language = 0.0
