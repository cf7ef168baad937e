"""From the title of an article to a term, or to the reason why it is not one.

The rules are those of ILSP-FC: disambiguation pages, lists, and titles in capitals are not terms;
abbreviations and names of people and companies can be included on request.
"""

import re
from typing import NamedTuple

from bilingual_crawler.languages import Language

LONGEST_TERM = 6
"""The most words in a term: longer titles are headlines."""
CAPITALS_ALWAYS = frozenset({"deu", "ltz"})
"""Languages that capitalise every noun, so that a capital says nothing."""

_QUALIFIER = re.compile(r"(?<!\s)\s*+\(([^()]*)\)\s*$")
_AFTER_COMMA = re.compile(r",\s.*", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_LISTS = re.compile(
    r"^(?:lists? of |index of |outline of |glossary of |timeline of |anexo:|lista de |listas de "
    r"|listes? d|liste der |liste von |glosario de |cronología de |elenco d|llista d)"
    r"| zerrenda$|^\d{3,4}\b|\b(?:in|en) \d{4}$",
    re.IGNORECASE,
)
_DISAMBIGUATION = frozenset(
    (
        *("disambiguation", "desambiguación", "desambiguação", "desambiguació", "argipena"),
        *("homonymie", "begriffsklärung", "disambigua"),
    )
)
_MAINTENANCE_STARTS = (
    *("wikipedia", "wikiproject", "all articles", "articles with", "articles needing"),
    *("articles containing", "articles lacking", "articles using", "pages using", "pages with"),
    *("cs1", "commons category", "use dmy dates", "use mdy dates", "webarchive template"),
    *("short description", "wikiproyecto", "artículos con", "artículos que", "esbozo"),
)
_MAINTENANCE_ENDS = (" stubs", " stub", " templates", " redirects", " navigational boxes")
"""The names of maintenance categories, where nothing else marks them."""


class TitleTerm(NamedTuple):
    """A term, and whether its title needed a qualifier because it has several meanings."""

    text: str
    was_qualified: bool = False


def is_maintenance(category: str) -> bool:
    """Return True if a category only serves the maintenance of a Wikipedia."""
    title = category.lower()
    return title.startswith(_MAINTENANCE_STARTS) or title.endswith(_MAINTENANCE_ENDS)


def objection_to(title: str, language: Language, *, names: bool = False) -> str | None:
    """Return the reason why a title is not a term, in one word; None if it is one."""
    qualifier = _QUALIFIER.search(title)
    words = _WORD.findall(_QUALIFIER.sub("", title))
    objections = {
        "disambiguation": qualifier is not None and qualifier[1].lower() in _DISAMBIGUATION,
        "list": _LISTS.search(title) is not None,
        "no_words": not words,
        "too_long": len(words) > LONGEST_TERM,
        "abbreviation": not names and len(title) > 1 and title.isupper(),
        "name": not names and _is_name(words, language),
    }
    return next((word for word, holds in objections.items() if holds), None)


def _is_name(words: list[str], language: Language) -> bool:
    """Return True if a title looks like a name: its long words after the first are capitalised.

    The first letter of a title is always a capital, so a single word says nothing.
    """
    if language.code in CAPITALS_ALWAYS:
        return False
    later = [word for word in words[1:] if len(word) > 3]  # noqa: PLR2004 - not "of", "the", "de"
    return bool(later) and all(word[0].isupper() for word in later)


def term_of(title: str) -> TitleTerm:
    """Return the term in a title: "barre" for "Barre (ballet)".

    The first letter is put in lower case, unless the rest has a capital too.
    """
    bare = _AFTER_COMMA.sub("", _QUALIFIER.sub("", title)).strip() or title
    first = _WORD.match(bare)
    if first and not any(letter.isupper() for letter in bare[1:]):
        bare = bare[0].lower() + bare[1:]
    return TitleTerm(bare, was_qualified=_QUALIFIER.search(title) is not None)
