"""From a category of Wikipedia to terms, translations, seeds and sites.

As in ILSP-FC, the articles of a category and its subcategories give terms, their interlanguage
links the translations, and the external links of both articles the seeds. In addition each term has
a weight, and the linked sites are ranked by the evidence for two languages. `Wiki` holds the
questions that this asks of a Wikipedia, whatever its source.

Which titles are terms is decided by the rules of ILSP-FC too: disambiguation pages, lists, and
titles in capitals are not; abbreviations and names of people and companies can be included on
request.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from bilingual_crawler.bootstrap.external_links import LinkedSite, LinkedSites, readable_url, unique
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import Language, LanguagePair
from bilingual_crawler.suggestions import hint

_CODES = {"nob": "no", "yue": "zh-yue", "nan": "zh-min-nan", "sgs": "bat-smg", "vro": "fiu-vro"}
"""Codes of Wikipedias that differ from those of their languages."""

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

BEST_WEIGHT = 100.0
DECAY = 0.75
"""The factor of a weight for each step away from the topic's own category."""
ONE_WORD, QUALIFIED = 0.8, 0.5
"""The factors for less specific terms: one word; a word with several meanings."""
PER_CATEGORY, MOST_PER_CATEGORIES = 0.1, 1.3
"""How much more a term counts for each further category of the topic that it is in."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How far the walk goes."""

    depth: int = 2
    categories: int = 500
    articles: int = 2_000
    seeds_of_site: int = 10
    names: bool = False


class CategoryPlace(NamedTuple):
    """The place of a category: how far from the topic, and below which part of it."""

    depth: int
    subdomain: str


class WeightedTerm(NamedTuple):
    """A term of the topic in one language."""

    weight: float
    term: str
    subdomain: str
    language: str


@dataclass(slots=True)
class TopicHarvest:
    """The result of a bootstrap; `skipped` counts the titles that are not terms, by reason."""

    category: str
    topic: list[WeightedTerm] = field(default_factory=list)
    pairs: list[tuple[str, str, float]] = field(default_factory=list)
    seeds: list[str] = field(default_factory=list)
    sites: list[LinkedSite] = field(default_factory=list)
    categories: int = 0
    articles: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    reached: list[str] = field(default_factory=list)
    """The limits that cut something off, in words."""


@dataclass(slots=True)
class _Found:
    """An article of the topic: its place, and how many of the categories it is in."""

    place: CategoryPlace
    categories: int = 1

    @property
    def rank(self) -> tuple[int, int]:
        return self.place.depth, -self.categories


def harvest(
    topic: str, wikis: tuple[Wiki, Wiki], pair: LanguagePair, limits: Limits
) -> TopicHarvest:
    """Collect everything about a topic; its category is sought in one language, then the other."""
    category, here, there = _find(topic, wikis)
    result = TopicHarvest(category)
    places = _walk(here, category, limits, result)
    found = _articles(here, places, limits, result)
    articles = {each.title: each for each in here.articles(found.keys(), there.language)}
    result.categories, result.articles = len(places), len(articles)
    translations = {each.translation for each in articles.values() if each.translation}
    others = {each.title: each for each in there.articles(translations, None)}
    terms = _Terms(pair, limits)
    sites, seeds = LinkedSites(pair), []
    for title, article in articles.items():
        other = others.get(article.translation)
        weight = terms.add(article, found[title], here, there, result)
        for one, wiki in ((article, here), (other, there)):
            for url in _links(one):
                sites.add(url, wiki.language.code, one.title if one else "", title)
                seeds.append((url, weight))
    result.topic, result.pairs = terms.ranked()
    result.seeds = list(unique(seeds, limits.seeds_of_site))
    result.sites = sites.ranked()
    return result


def weight_of(place: CategoryPlace, term: TitleTerm, categories: int = 1) -> float:
    """Return how much a term says about the topic, up to 100.

    Less with each step from the topic; less for a single word, and for one that has other meanings;
    more for an article that is in several categories of the topic.
    """
    specific = 1.0 if " " in term.text else ONE_WORD
    if term.was_qualified:
        specific *= QUALIFIED
    central = min(1.0 + PER_CATEGORY * (categories - 1), MOST_PER_CATEGORIES)
    return round(min(BEST_WEIGHT, BEST_WEIGHT * DECAY**place.depth * specific * central), 1)


def _find(topic: str, wikis: tuple[Wiki, Wiki]) -> tuple[str, Wiki, Wiki]:
    for here, there in (wikis, wikis[::-1]):
        category = here.find_category(topic)
        if category is not None:
            return category, here, there
    near = [title for wiki in wikis for title in wiki.like(topic)]
    meant = hint(near[:5], "write one that exists.")
    names = " nor in ".join(wiki.name for wiki in wikis)
    raise ConfigurationError(f"There is no category {topic!r} in {names}: {meant}")


def _walk(wiki: Wiki, root: str, limits: Limits, result: TopicHarvest) -> dict[str, CategoryPlace]:
    """Return the categories of a topic, nearest first, each visited once."""
    places = {root: CategoryPlace(0, root)}
    level = [root]
    for depth in range(1, limits.depth + 1):
        following: list[str] = []
        for parent, child in wiki.subcategories(level):
            if child in places:
                continue
            if is_maintenance(child):
                result.skipped["maintenance_category"] += 1
            elif len(places) >= limits.categories:
                result.reached.append(f"--categories {limits.categories}")
                return places
            else:
                places[child] = CategoryPlace(
                    depth, child if depth == 1 else places[parent].subdomain
                )
                following.append(child)
        level = following
        if not level:
            break
    return places


def _articles(
    wiki: Wiki, places: dict[str, CategoryPlace], limits: Limits, result: TopicHarvest
) -> dict[str, _Found]:
    """Return the articles in the categories, each at its place nearest to the topic."""
    found: dict[str, _Found] = {}
    for category, title in wiki.members(places.keys()):
        place = places[category]
        known = found.get(title)
        if known is None:
            found[title] = _Found(place)
        else:
            known.categories += 1
            known.place = min(known.place, place)
    if len(found) <= limits.articles:
        return found
    result.reached.append(f"--articles {limits.articles}")
    best = sorted(found, key=lambda title: (*found[title].rank, title))
    return {title: found[title] for title in best[: limits.articles]}


def _links(article: Article | None) -> Iterator[str]:
    if article is not None and not article.is_disambiguation:
        for link in dict.fromkeys(article.links):
            if (url := readable_url(link)) is not None:
                yield url


class _Terms:
    """The terms of both languages, each with its best weight."""

    def __init__(self, pair: LanguagePair, limits: Limits) -> None:
        self._pair = pair
        self._names = limits.names
        self._best: dict[tuple[str, str], WeightedTerm] = {}
        self._pairs: dict[tuple[str, str], float] = {}

    def add(
        self, article: Article, found: _Found, here: Wiki, there: Wiki, result: TopicHarvest
    ) -> float:
        """Add the titles of an article and its translation; return the weight."""
        term = term_of(article.title)
        weight = weight_of(found.place, term, found.categories)
        objection = "disambiguation" if article.is_disambiguation else None
        objection = objection or objection_to(article.title, here.language, names=self._names)
        if objection is not None:
            result.skipped[objection] += 1
            return weight
        subdomain = found.place.subdomain
        self._keep(WeightedTerm(weight, term.text, subdomain, here.language.code))
        if not article.translation:
            return weight
        if objection_to(article.translation, there.language, names=True) is not None:
            return weight
        translated = term_of(article.translation)
        other_weight = weight_of(found.place, translated, found.categories)
        self._keep(WeightedTerm(other_weight, translated.text, subdomain, there.language.code))
        both = {here.language.code: term.text, there.language.code: translated.text}
        first, second = (both[code] for code in self._pair.codes)
        best = max(weight, self._pairs.get((first, second), 0.0))
        self._pairs[first, second] = best
        return weight

    def _keep(self, term: WeightedTerm) -> None:
        key = term.term, term.language
        if key not in self._best or self._best[key].weight < term.weight:
            self._best[key] = term

    def ranked(self) -> tuple[list[WeightedTerm], list[tuple[str, str, float]]]:
        """Return all terms and all pairs of terms, the heaviest first."""
        order = {code: at for at, code in enumerate(self._pair.codes)}
        topic = sorted(
            self._best.values(), key=lambda each: (order[each.language], -each.weight, each.term)
        )
        pairs = [(*both, weight) for both, weight in self._pairs.items()]
        return topic, sorted(pairs, key=lambda each: (-each[2], each[0], each[1]))
