"""Finds the language that a link names: "Euskara", "EU", the file `eu.png`, a flag.

Readers change the language with such links, so they lead to translations if a site has any. They
are evidence for pairing, and a reason for scoring to follow them.
"""

import re
from functools import lru_cache
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from bilingual_crawler.documents.document import Link
from bilingual_crawler.languages import all_languages, language_of_tag, languages_of_token

MOST_WORDS = 3
"""A language switch is short; a longer anchor merely mentions the language."""
LEAST_NAME = 4
MOST_COUNTRIES = 3
LONGEST_SOURCE = 200
ENGLISH_FLAGS = ("gb", "uk", "us")

_WORDS = re.compile(r"[^\W\d_]+")
_NONE: frozenset[str] = frozenset()


def languages_of_link(link: Link) -> frozenset[str]:
    """Return the ISO 639-3 codes that a link names, by its `hreflang`, its words or its image."""
    if link.hreflang and (declared := language_of_tag(link.hreflang)):
        return frozenset((declared.code,))
    return languages_written(link.anchor, link.image_alt, link.image_src)


def languages_written(anchor: str, image_alt: str, image_src: str) -> frozenset[str]:
    """Return the codes that a reader sees in a link: by its words or its image."""
    return (
        (languages_named(anchor) if anchor else _NONE)
        or (languages_named(image_alt) if image_alt else _NONE)
        or (languages_shown(image_src[-LONGEST_SOURCE:]) if image_src else _NONE)
    )


@lru_cache(maxsize=1 << 14)
def languages_named(text: str) -> frozenset[str]:
    """Return the codes that a short text means: a code, a name, or a name with a word."""
    words = _WORDS.findall(text.lower())
    if not words or len(words) > MOST_WORDS:
        return _NONE
    if whole := languages_of_token("-".join(words)):
        return whole
    for word in words:
        if len(word) >= LEAST_NAME and (found := languages_of_token(word)):
            return found
    return _NONE


@lru_cache(maxsize=1 << 12)
def languages_shown(source: str) -> frozenset[str]:
    """Return the languages of a flag, by the name of its file."""
    try:
        path = PurePosixPath(urlsplit(source).path.lower())
    except ValueError:
        return _NONE
    words = _WORDS.findall(path.stem)
    if not words or len(words) > MOST_WORDS:
        return _NONE
    is_flag = "flag" in source.lower()
    found: set[str] = set()
    for word in words:
        if is_flag and word in _flags():
            found |= _flags()[word]
        elif is_flag or len(words) == 1:
            found |= languages_of_token(word)
    return frozenset(found)


@lru_cache(maxsize=1)
def _flags() -> dict[str, frozenset[str]]:
    """Return the languages that a country's flag may stand for.

    If a language of the country has the same code as the country, the flag only means that one:
    that of Spain is Spanish, not Basque.
    """
    flags: dict[str, set[str]] = {}
    named: dict[str, str] = {}
    for language in all_languages():
        for country in language.countries[:MOST_COUNTRIES] if language.cld2 else ():
            flags.setdefault(country, set()).add(language.code)
        if language.cld2 and language.iso639_1 in language.countries:
            named[language.iso639_1] = language.code
    named |= dict.fromkeys(ENGLISH_FLAGS, "eng")
    own = {country: frozenset((code,)) for country, code in named.items()}
    return {country: frozenset(codes) for country, codes in flags.items()} | own
