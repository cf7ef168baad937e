"""Which documents may be part of a pair: the same in a crawl and for what others fetched."""

from typing import NamedTuple

from bilingual_crawler.documents.document import Document
from bilingual_crawler.languages import LanguagePair

NO_TEXT = "no_text"


class Unwanted(NamedTuple):
    """Why a document is not used: a word for counts, and a sentence."""

    reason: str
    message: str


def why_unwanted(document: Document, pair: LanguagePair, least_share: int) -> Unwanted | None:
    """Why a document can have no part in a pair; None if it can.

    `least_share` is the percentage of its text that must be in its language.
    """
    if all(paragraph.boilerplate for paragraph in document.paragraphs):
        return Unwanted(NO_TEXT, "no text on the page but menus")
    language = document.language or "unknown"
    if language not in pair:
        return Unwanted("off_language", f"the page is in neither language but in {language}")
    share = dict(document.language_shares).get(language, 100)
    if share < least_share:
        return Unwanted("mixed_language", f"only {share}% of the page is in its language")
    return None
