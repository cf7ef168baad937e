"""The languages of the world: codes, names, scripts."""

from bilingual_crawler.languages.table import (
    LONGEST_TEXT,
    Language,
    LanguagePair,
    LanguagePairError,
    Languages,
    OneLanguage,
    UnknownLanguageError,
    all_languages,
    find_language,
    language_code,
    language_of_cld2,
    language_of_tag,
    language_tag,
    languages_of_token,
    parse_languages,
    recognise,
)

__all__ = [
    "LONGEST_TEXT",
    "Language",
    "LanguagePair",
    "LanguagePairError",
    "Languages",
    "OneLanguage",
    "UnknownLanguageError",
    "all_languages",
    "find_language",
    "language_code",
    "language_of_cld2",
    "language_of_tag",
    "language_tag",
    "languages_of_token",
    "parse_languages",
    "recognise",
]
