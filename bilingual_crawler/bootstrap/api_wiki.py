"""An edition of Wikipedia, read through its API."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from bilingual_crawler.bootstrap.api_client import ApiClient
from bilingual_crawler.bootstrap.wiki import Article, Membership, wiki_code, with_spaces
from bilingual_crawler.languages import Language

BATCH = 50
"""Titles per query, as many as the API accepts."""
MOST_LIKE = 5
_NAMESPACE = "Category:"
"""The namespace name that every edition understands."""


class ApiWiki:
    """Answers by querying; what one query says about other things is kept for them."""

    def __init__(self, client: ApiClient, language: Language) -> None:
        self.language = language
        self.name = client.url
        self._client = client
        self._members: dict[str, list[str]] = {}

    def find_category(self, name: str) -> str | None:
        """Return the title of a category as the wiki writes it; None if it does not exist."""
        title = _NAMESPACE + name.replace("|", " ")  # which parts titles
        for part in self._client.query(titles=title, prop="categoryinfo"):
            for page in _dicts(part.get("pages")):
                if "categoryinfo" in page and not page.get("invalid"):
                    return _bare(page)
        return None

    def like(self, name: str) -> list[str]:
        """Return a few categories that a search finds."""
        found = self._client.query(
            list="search", srnamespace="14", srsearch=name, srlimit=str(MOST_LIKE), srinfo=""
        )
        first = next(found, {})
        return [_bare(each) for each in _dicts(first.get("search"))]

    def subcategories(self, categories: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield category and subcategory, for all visible subcategories of some categories."""
        below: dict[str, list[str]] = {}
        for category in categories:
            below[category] = self._look_into(category, "page|subcat")
        hidden = self._hidden({title for titles in below.values() for title in titles})
        for category, titles in below.items():
            yield from ((category, title) for title in titles if title not in hidden)

    def members(self, categories: Collection[str]) -> Iterator[Membership]:
        """Yield the articles in some categories, once per category."""
        for category in categories:
            if category not in self._members:
                self._look_into(category, "page")
            yield from (Membership(category, title) for title in self._members[category])

    def articles(self, titles: Collection[str], other: Language | None) -> Iterator[Article]:
        """Yield the articles with these titles; with translations, if `other` is a language."""
        more = {"prop": "info|extlinks|pageprops", "ellimit": "max", "ppprop": "disambiguation"}
        if other is not None:
            more |= {
                "prop": "info|langlinks|extlinks|pageprops",
                "lllang": wiki_code(other),
                "lllimit": "max",
            }
        for some in _batches(titles):
            found: dict[str, Article] = {}
            for part in self._client.query(titles="|".join(some), **more):
                for page in _dicts(part.get("pages")):
                    if not any(page.get(word) for word in ("missing", "invalid", "redirect")):
                        title = with_spaces(str(page.get("title")))
                        _add(found.setdefault(title, Article(title)), page)
            yield from found.values()

    def _look_into(self, category: str, kinds: str) -> list[str]:
        """Return the subcategories of a category, and remember its articles."""
        articles, below = self._members.setdefault(category, []), []
        for part in self._client.query(
            list="categorymembers",
            cmtitle=_NAMESPACE + category,
            cmtype=kinds,
            cmnamespace="0|14",
            cmprop="title|type",
            cmlimit="max",
        ):
            for member in _dicts(part.get("categorymembers")):
                if member.get("ns") == 14:  # noqa: PLR2004 - the number of the namespace
                    below.append(_bare(member))
                elif member.get("ns") == 0:
                    articles.append(with_spaces(str(member.get("title"))))
        return below

    def _hidden(self, categories: Collection[str]) -> set[str]:
        """Return those of some categories that readers do not see."""
        hidden = set()
        for some in _batches(categories):
            titles = "|".join(_NAMESPACE + title for title in some)
            for part in self._client.query(titles=titles, prop="categoryinfo"):
                for page in _dicts(part.get("pages")):
                    info = page.get("categoryinfo")
                    if isinstance(info, dict) and info.get("hidden"):
                        hidden.add(_bare(page))
        return hidden


def _add(article: Article, page: dict[str, Any]) -> None:
    """Add what one part of an answer says about an article."""
    for link in _dicts(page.get("langlinks")):
        article.translation = with_spaces(str(link.get("title", link.get("*", ""))))
    for link in _dicts(page.get("extlinks")):
        article.links.append(str(link.get("url", link.get("*", ""))))
    if "disambiguation" in (page.get("pageprops") or {}):
        article.is_disambiguation = True


def _bare(page: dict[str, Any]) -> str:
    """Return the title of a category without its namespace, whatever that is called there."""
    return with_spaces(str(page.get("title")).partition(":")[2])


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects in a list or object of an answer; nothing for anything else."""
    values: Iterable[Any] = value.values() if isinstance(value, dict) else value or ()
    if isinstance(values, str):
        return
    yield from (each for each in values if isinstance(each, dict))


def _batches(titles: Collection[str]) -> Iterator[list[str]]:
    remaining = iter(titles)
    while some := list(islice(remaining, BATCH)):
        yield some
