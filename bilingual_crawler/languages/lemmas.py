"""Base forms of words: the one place that asks simplemma (the extras `lemmas`, `concordance`).

simplemma has dictionaries of some fifty languages. A dictionary takes a tenth of a second to load
when its language is first asked for. Its guesses about words that are in none take a hundred times
as long as the dictionary, and most words of a large corpus are in none, so they are left out.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages.table import language_of_tag

if TYPE_CHECKING:
    from simplemma.strategies import DictionaryLookupStrategy

_SERBO_CROATIAN = {"hrv": "hbs", "srp": "hbs", "bos": "hbs", "nor": "nb"}
"""Languages that simplemma has under another name."""

LemmaOf = Callable[[str], str]
"""Returns a word as a dictionary lists it; the word itself if it is in none."""


@cache
def lemmas_of(language: str) -> LemmaOf | None:
    """Return what finds the base forms of a language (ISO 639-3), None without a dictionary.

    Raise a ConfigurationError if simplemma is not installed.
    """
    try:
        from simplemma.strategies import DictionaryLookupStrategy  # noqa: PLC0415 - an extra
        from simplemma.strategies.dictionaries import dictionary_factory  # noqa: PLC0415
    except ImportError as error:
        raise ConfigurationError(
            "Base forms of words need simplemma: pip install 'bilingual-crawler[lemmas]'."
        ) from error
    found = language_of_tag(language)
    if found is None:
        return None
    names = (_SERBO_CROATIAN.get(found.code, ""), found.iso639_1 or "", found.code)
    known = dictionary_factory.SUPPORTED_LANGUAGES
    name = next((each for each in names if each in known), None)
    if name is None:
        return None
    return partial(_looked_up, DictionaryLookupStrategy(), name)


def _looked_up(dictionary: "DictionaryLookupStrategy", name: str, word: str) -> str:
    return dictionary.get_lemma(word, name) or word
