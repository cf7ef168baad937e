"""From a category to terms, translations, seeds and sites.

As in ILSP-FC, the articles of a category and its subcategories give terms, their interlanguage
links the translations, and the external links of both articles the seeds. In addition each term has
a weight, and the linked sites are ranked by the evidence for two languages.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from bilingual_crawler.bootstrap.external_links import LinkedSite, LinkedSites, readable_url, unique
from bilingual_crawler.bootstrap.titles import TitleTerm, is_maintenance, objection_to, term_of
from bilingual_crawler.bootstrap.wiki import Article, Wiki
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.suggestions import hint

BEST_WEIGHT = 100.0
DECAY = 0.75
"""The factor of a weight for each step away from the topic's own category."""
ONE_WORD, QUALIFIED = 0.8, 0.5
"""The factors for less specific terms: one word; a word with several meanings."""
PER_CATEGORY, MOST_PER_CATEGORIES = 0.1, 1.3
"""How much more a term counts for each further category of the topic that it is in."""


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
