"""What is asked of a Wikipedia, wherever it is read from, and what it answers with."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from bilingual_crawler.languages import Language

API = "https://{lang}.wikipedia.org/w/api.php"
"""Where the editions of Wikipedia are asked; {lang} is the code of one."""
_CODES = {"nob": "no", "yue": "zh-yue", "nan": "zh-min-nan", "sgs": "bat-smg", "vro": "fiu-vro"}
"""Where the code of a Wikipedia is not that of its language."""


class Membership(NamedTuple):
    """That an article stands in a category."""

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
    """One edition of Wikipedia. Titles are as people write them: with spaces, no namespace.

    Whatever is asked for many at once is answered in one go, since a file is read as a whole and
    a server wants few requests. Redirects are no articles, hidden categories are none.
    """

    language: Language
    name: str
    """What people call it, for messages."""

    def find_category(self, name: str) -> str | None:
        """The title of a category, as it is written there; None if there is none."""

    def like(self, name: str) -> list[str]:
        """A few categories whose titles are like a name, to be suggested."""

    def subcategories(self, categories: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Category and subcategory, for all subcategories of some categories."""

    def members(self, categories: Collection[str]) -> Iterator[Membership]:
        """The articles in some categories; one that stands in several comes as often."""

    def articles(self, titles: Collection[str], other: Language | None) -> Iterator[Article]:
        """The articles with these titles; their translations, if `other` is a language."""


def wiki_code(language: Language) -> str:
    """How the Wikipedia of a language is called: "en", "eu", "no"."""
    return _CODES.get(language.code) or language.iso639_1 or language.code


def with_spaces(title: str) -> str:
    """A title as people write it."""
    return " ".join(title.replace("_", " ").split())


def first_upper(title: str) -> str:
    """A title as Wikipedia keeps it: its first letter is always upper case."""
    return title[:1].upper() + title[1:]
