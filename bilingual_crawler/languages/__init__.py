"""The languages of the world: codes, names, scripts."""

from bilingual_crawler.languages.sets import (
    Languages,
    LanguageSet,
    ParallelLanguages,
    parse_languages,
    parse_parallel,
)
from bilingual_crawler.languages.table import (
    LONGEST_TEXT,
    Language,
    LanguagePair,
    LanguagePairError,
    OneLanguage,
    UnknownLanguageError,
    all_languages,
    find_language,
    language_code,
    language_of_cld2,
    language_of_tag,
    language_tag,
    languages_of_token,
    recognise,
)

__all__ = [
    "LONGEST_TEXT",
    "Language",
    "LanguagePair",
    "LanguagePairError",
    "LanguageSet",
    "Languages",
    "OneLanguage",
    "ParallelLanguages",
    "UnknownLanguageError",
    "all_languages",
    "find_language",
    "language_code",
    "language_of_cld2",
    "language_of_tag",
    "language_tag",
    "languages_of_token",
    "parse_languages",
    "parse_parallel",
    "recognise",
]
