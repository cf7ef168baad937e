"""Base forms of words: the one place that asks simplemma (the extra `lemmas`).

simplemma has dictionaries of some fifty languages. A dictionary is read when its language is first
asked for, which takes a second or so, and stays in memory.
"""

from collections.abc import Callable
from functools import lru_cache

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages.table import language_tag

EXTRA = "pip install 'bilingual-crawler[lemmas]'"
_TOGETHER = {"srp": "hbs", "hrv": "hbs", "bos": "hbs", "nor": "nb"}
"""Languages that simplemma has under another name."""
_REMEMBERED = 1 << 16
LONGEST = 60
"""Characters; longer words are left as they are."""

LemmaOf = Callable[[str], str]
"""Returns the base form of a word; the word itself if it is not known."""


def lemmas_of(language: str) -> LemmaOf | None:
    """Return what finds base forms in a language (ISO 639-3), None if it has no dictionary.

    Raise a ConfigurationError if simplemma is not installed.
    """
    try:
        from simplemma import lemmatize  # noqa: PLC0415 - an extra
        from simplemma.strategies.dictionaries.dictionary_factory import (  # noqa: PLC0415
            SUPPORTED_LANGUAGES,
        )
    except ImportError as error:
        raise ConfigurationError(f"Base forms of words need simplemma: {EXTRA}.") from error
    tag = _TOGETHER.get(language) or language_tag(language)
    if tag not in SUPPORTED_LANGUAGES:
        return None

    @lru_cache(maxsize=_REMEMBERED)
    def lemma(word: str) -> str:
        return lemmatize(word, lang=tag) if len(word) <= LONGEST else word

    return lemma
