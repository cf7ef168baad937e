"""The questions that a bootstrap asks a Wikipedia, whatever its source, and the answers."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from bilingual_crawler.languages import Language

API = "https://{lang}.wikipedia.org/w/api.php"
"""The address of an edition's API; {lang} is its code."""
_CODES = {"nob": "no", "yue": "zh-yue", "nan": "zh-min-nan", "sgs": "bat-smg", "vro": "fiu-vro"}
"""Codes of Wikipedias that differ from those of their languages."""


class Membership(NamedTuple):
    """An article in a category."""

    category: str
    article: str


@dataclass(slots=True)
class Article:
    """An article: its title, that of its translation ("" if there is none), its external links."""

    title: str
    translation: str = ""
    links: list[str] = field(default_factory=list)
    is_disambiguation: bool = False


class Wiki(Protocol):
    """One edition of Wikipedia. Titles are written with spaces and without a namespace.

    Questions about many things are answered at once, because a file is read as a whole and a server
    wants few requests. Redirects and hidden categories do not count.
    """

    language: Language
    name: str
    """The name used in messages."""

    def find_category(self, name: str) -> str | None:
        """Return the title of a category as the wiki writes it; None if it does not exist."""

    def like(self, name: str) -> list[str]:
        """Return a few categories with similar titles, as suggestions."""

    def subcategories(self, categories: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield category and subcategory, for all subcategories of some categories."""

    def members(self, categories: Collection[str]) -> Iterator[Membership]:
        """Yield the articles in some categories, once per category."""

    def articles(self, titles: Collection[str], other: Language | None) -> Iterator[Article]:
        """Yield the articles with these titles; with translations, if `other` is a language."""


def wiki_code(language: Language) -> str:
    """Return the code of a language's Wikipedia: "en", "eu", "no"."""
    return _CODES.get(language.code) or language.iso639_1 or language.code


def with_spaces(title: str) -> str:
    """Return a title with spaces instead of underscores."""
    return " ".join(title.replace("_", " ").split())


def first_upper(title: str) -> str:
    """Return a title with its first letter in upper case, as Wikipedia stores it."""
    return title[:1].upper() + title[1:]
