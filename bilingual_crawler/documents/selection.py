"""Which documents may be of use: the same in a crawl and for what others fetched."""

from typing import NamedTuple

from bilingual_crawler.documents.document import Document
from bilingual_crawler.languages import Languages

NO_TEXT = "no_text"


class Unwanted(NamedTuple):
    """Why a document is not used: a word for counts, and a sentence."""

    reason: str
    message: str


def why_unwanted(document: Document, wanted: Languages, least_share: int) -> Unwanted | None:
    """Why a document is not in a language that is wanted; None if it is.

    `least_share` is the percentage of its text that must be in its language.
    """
    if all(paragraph.boilerplate for paragraph in document.paragraphs):
        return Unwanted(NO_TEXT, "no text on the page but menus")
    language = document.language or "unknown"
    if language not in wanted:
        return Unwanted("off_language", f"the page is in another language: {language}")
    share = dict(document.language_shares).get(language, 100)
    if share < least_share:
        return Unwanted("mixed_language", f"only {share}% of the page is in its language")
    return None
