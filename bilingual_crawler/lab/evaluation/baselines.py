"""What can be told from URLs without a model: the rules that the models are measured against."""

from bilingual_crawler.scoring.models import UNKNOWN
from bilingual_crawler.urls.announced import announced_languages
from bilingual_crawler.urls.url_key import UrlKey


def announced_language(url: str) -> str:
    """The language that the most trusted token of a URL names, or `unknown`.

    The handful of tokens that two languages share go to the first in the alphabet.
    """
    return min(announced_languages(url), default=UNKNOWN)


def same_but_for_language(first: UrlKey, second: UrlKey) -> bool:
    """Whether two URLs become equal by taking language tokens away, as in the WMT16 baseline.

    One and the same URL, or two spellings of one, is not a translation of itself.
    """
    return first.key == second.key and first.tokens != second.tokens
