"""The URLs of a site that document alignment pairs: which belong together, and in which language.

WMT16 gives the language of every page, detected in its text. Where only URLs are at hand, it must
be decided. In this order: what the table of candidates says; the column of the gold list, if the
URL is in it; the tokens in the URL, if they are of one of the two languages; url2lang. A URL that
url2lang takes for another language, more likely than not, is no candidate.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from bilingual_crawler.lab.labels import GoldPair
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.scoring.classifier import Url2Lang
from bilingual_crawler.scoring.pair_features import stripped
from bilingual_crawler.urls.hosts import host_of, site_of

FIRST, SECOND, NEITHER = 0, 1, None
Side = int | None
"""0 for the language of the first column, 1 for that of the second, None for any other."""
BY_TABLE, BY_GOLD, BY_TOKENS, BY_MODEL = "table", "gold list", "tokens", "url2lang"
AT_ONCE = 4096


class CandidateSite(NamedTuple):
    """The candidates of one site, one list per language, in alphabetical order.

    That order decides between equally likely pairs, so the order of the gold list does not.
    """

    firsts: list[str]
    seconds: list[str]
    name: str = ""

    @property
    def pairs(self) -> int:
        """The number of pairs to compare."""
        return len(self.firsts) * len(self.seconds)


@dataclass(slots=True)
class Sides:
    """The side of every URL, and how each was decided."""

    of: dict[str, Side] = field(default_factory=dict)
    how: Counter[str] = field(default_factory=Counter)
    gold_checked: int = 0
    """Gold URLs whose side was also decided without the gold list."""
    gold_right: int = 0
    """Those of them for which this gave the column of the gold list."""

    def figures(self) -> dict[str, int]:
        """Return the numbers of URLs by what decided, and those in neither language."""
        neither = sum(side is NEITHER for side in self.of.values())
        return {f"by {name}": count for name, count in self.how.items()} | {"neither": neither}


def decide_sides(
    urls: Mapping[str, str],
    gold: Iterable[GoldPair],
    pair: LanguagePair,
    model: Url2Lang,
    advance: Callable[[int], object] = lambda _: None,
) -> Sides:
    """Decide the side of every URL; `urls` are all candidates with their languages or ""."""
    columns = {url: side for each in gold for side, url in enumerate(each)}
    every = list(dict.fromkeys([*urls, *columns]))
    found = Sides()
    guessed = dict(_guessed(every, pair, model, advance))
    for url in every:
        side, how = guessed[url]
        if url in columns:
            found.gold_checked += 1
            found.gold_right += side == columns[url]
            side, how = columns[url], BY_GOLD
        if language := urls.get(url, ""):
            side, how = _stated(language, pair), BY_TABLE
        found.of[url] = side
        found.how[how] += 1
    return found


def _stated(language: str, pair: LanguagePair) -> Side:
    return pair.codes.index(language) if language in pair.codes else NEITHER


def _guessed(
    urls: Sequence[str], pair: LanguagePair, model: Url2Lang, advance: Callable[[int], object]
) -> Iterator[tuple[str, tuple[Side, str]]]:
    """Yield the side of each URL by its tokens, or else by the model."""
    tokens = pair.first.tokens | pair.second.tokens
    unclear = []
    for url in urls:
        named = set(stripped(url, tokens).tokens)
        sides = [bool(named & each.tokens) for each in (pair.first, pair.second)]
        if sides[FIRST] != sides[SECOND]:
            yield url, (FIRST if sides[FIRST] else SECOND, BY_TOKENS)
        else:
            unclear.append(url)
    advance(len(urls) - len(unclear))
    for start in range(0, len(unclear), AT_ONCE):
        part = unclear[start : start + AT_ONCE]
        both = np.stack([model.probability_of(part, code) for code in pair.codes], axis=1)
        for url, row in zip(part, both, strict=True):
            side = None if row.sum() < 1 / 2 else int(row.argmax())
            yield url, (side, BY_MODEL)
        advance(len(part))


def group_by_site(
    gold: Iterable[GoldPair], sides: Mapping[str, Side] | None = None
) -> list[CandidateSite]:
    """Group URLs by registered domain; domains that a gold pair connects are one site.

    `sides` are all URLs with their sides, of which those of other sites are left out; without them,
    the URLs of the gold list are the only candidates.
    """
    parents: dict[str, str] = {}

    def root(name: str) -> str:
        while parents.setdefault(name, name) != name:
            parents[name] = name = parents[parents[name]]
        return name

    pairs = list(gold)
    for first, second in pairs:
        parents[root(_domain(first))] = root(_domain(second))
    lists: defaultdict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for pair in pairs:
        for side, url in enumerate(pair):
            lists[root(_domain(pair.first))][side].add(url)
    for url, placed in (sides or {}).items():
        name = _domain(url)
        if name in parents and placed is not NEITHER:
            lists[root(name)][placed].add(url)
    return [
        CandidateSite(sorted(firsts), sorted(seconds), name)
        for name, (firsts, seconds) in sorted(lists.items())
    ]


def _domain(url: str) -> str:
    return site_of(host_of(url))
