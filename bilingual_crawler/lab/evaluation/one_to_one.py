"""Document alignment from URLs alone, as in the shared task of WMT16 (SBFC, section 3.3).

Within each site, every URL in the first language is compared with every URL in the second. The
likeliest pair is taken, its two URLs are removed, and so on. Nothing is pruned: the whole product
is scored, in batches. The table of a large site is in a temporary file, and of each of its rows
only the best few columns are in memory, read again when all of them are taken.

The paper's candidates are all English and French pages of a site. With only the URLs of the gold
list as candidates the task is far easier, and its figures are not to be put beside the paper's.

Recall is the share of gold pairs that were taken; the paper takes those that its model finds
parallel, with a probability of at least one half. Soft recall (Buck and Koehn 2016) also counts a
gold pair if one of its pages was paired with a near-duplicate of the other. That needs the texts,
or a table of near-duplicates made from them. Without it, a near-duplicate is a URL that equals the
right one once language tokens are stripped from both.

WMT16 gives the language of every page, detected in its text. Where only URLs are at hand, it must
be decided. In this order: what the table of candidates says; the column of the gold list, if the
URL is in it; the tokens in the URL, if they are of one of the two languages; url2lang. A URL that
url2lang takes for another language, more likely than not, is no candidate.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heapreplace
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bilingual_crawler.lab.evaluation.classification import HALF, Advance, same_but_for_language
from bilingual_crawler.lab.labels import GoldPair
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.scoring.classifier import ParallelUrls, Url2Lang
from bilingual_crawler.scoring.pair_features import stripped
from bilingual_crawler.urls.hosts import host_of, site_of
from bilingual_crawler.urls.language_tokens import UrlKey

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


Found = dict[tuple[str, str], float]
"""The pairs that were taken, with their probabilities."""
SameText = Callable[[str, str], bool]
"""Whether two URLs in one language have nearly the same text."""
BLOCK = (32, 64)
"""Rows and columns that are scored together: each URL is read once for many others."""
IN_MEMORY = 1 << 20
"""Pairs of a site whose table is in memory; eight bytes each."""
KEPT = 32
"""Columns per row that are in memory."""


class SiteRecall(NamedTuple):
    """The gold pairs of a site, its candidates, and how many gold pairs each side found."""

    gold: int
    firsts: int
    seconds: int
    model: int | None
    rules: int


@dataclass(frozen=True, slots=True)
class Recalls:
    """The shares of gold pairs that were found; `sure` with a probability of at least 0.5."""

    recall: float
    soft_recall: float
    sure_recall: float
    sure_soft_recall: float


@dataclass(frozen=True, slots=True)
class Alignment:
    """What the model and token stripping find; `model` is None if there is none.

    `sides` is None if only the URLs of the gold list were candidates.
    """

    gold: int
    sites: int
    candidates: int
    model: Recalls | None
    rules: Recalls
    seconds: float
    by_site: dict[str, SiteRecall]
    sides: Sides | None = None

    def figures(self) -> dict[str, Any]:
        """Return the figures by name, for `--json`."""
        named: dict[str, Any] = {
            "candidates": "gold URLs only" if self.sides is None else "all URLs",
            "gold_pairs": self.gold,
            "sites": self.sites,
            "candidate_pairs": self.candidates,
        }
        if self.sides is not None:
            named["candidate_sides"] = self.sides.figures()
            named["gold_sides_checked"] = self.sides.gold_checked
            named["gold_sides_right"] = self.sides.gold_right
        for prefix, side in (("", self.model), ("baseline_", self.rules)):
            if side is not None:
                named[f"{prefix}recall"] = side.recall
                named[f"{prefix}soft_recall"] = side.soft_recall
        if self.model is not None:
            named["sure_recall"] = self.model.sure_recall
            named["sure_soft_recall"] = self.model.sure_soft_recall
            named["urls_per_second"] = self.candidates / self.seconds
        return named | {"by_site": {name: each._asdict() for name, each in self.by_site.items()}}


def align(
    gold: Iterable[GoldPair],
    model: ParallelUrls | None,
    tokens: frozenset[str],
    *,
    sides: Sides | None = None,
    same_text: SameText | None = None,
    advance: Advance = lambda _: None,
) -> Alignment:
    """Pair the URLs of each site one to one, by the model and by token stripping."""
    wanted = list(dict.fromkeys(gold))
    sites = group_by_site(wanted, None if sides is None else sides.of)
    rules: Found = {}
    found: Found = {}
    seconds = 0.0
    by_site = {}
    for site in sites:
        keys = {url: stripped(url, tokens) for url in (*site.firsts, *site.seconds)}
        here = take_listed(site, rule_candidates(site, keys))
        rules |= here
        said: Found | None = None
        if model is not None:
            start = time.perf_counter()
            said = take_one_to_one(site, model_table(site, model, advance))
            found |= said
            seconds += time.perf_counter() - start
        by_site[site.name] = _site_recall(site, wanted, said, here)
    same = same_text or SameKey(tokens)
    return Alignment(
        gold=len(wanted),
        sites=len(sites),
        candidates=sum(site.pairs for site in sites),
        model=None if model is None else recalls(wanted, found, same),
        rules=recalls(wanted, rules, same),
        seconds=seconds,
        by_site=by_site,
        sides=sides,
    )


def _site_recall(
    site: CandidateSite, gold: Sequence[GoldPair], found: Found | None, rules: Found
) -> SiteRecall:
    firsts = set(site.firsts)
    here = [pair for pair in gold if pair.first in firsts]
    return SiteRecall(
        len(here),
        len(site.firsts),
        len(site.seconds),
        None if found is None else sum(pair in found for pair in here),
        sum(pair in rules for pair in here),
    )


def candidate_pairs(gold: Iterable[GoldPair], sides: Sides | None = None) -> int:
    """Return how many pairs `align` will score."""
    return sum(site.pairs for site in group_by_site(gold, None if sides is None else sides.of))


def model_table(site: CandidateSite, model: ParallelUrls, advance: Advance) -> NDArray[np.float64]:
    """Return the probability of every pair of a site; a URL is not its own translation."""
    table = _empty_table(len(site.firsts), len(site.seconds))
    for top in range(0, len(site.firsts), BLOCK[0]):
        for left in range(0, len(site.seconds), BLOCK[1]):
            firsts = site.firsts[top : top + BLOCK[0]]
            seconds = site.seconds[left : left + BLOCK[1]]
            pairs = [(first, second) for first in firsts for second in seconds]
            numbers = np.where([one == two for one, two in pairs], -1, model.probabilities(pairs))
            table[top : top + BLOCK[0], left : left + BLOCK[1]] = numbers.reshape(len(firsts), -1)
            advance(len(pairs))
    return table


def _empty_table(rows: int, columns: int) -> NDArray[np.float64]:
    if rows * columns <= IN_MEMORY:
        return np.empty((rows, columns))
    with TemporaryFile() as file:  # its bytes last as long as the array
        return np.memmap(file, np.float64, "w+", shape=(rows, columns))


def rule_candidates(
    site: CandidateSite, keys: Mapping[str, UrlKey]
) -> Iterator[tuple[float, int, int]]:
    """Yield 1 for URLs that differ only in language tokens of both, 0.75 if only one has some."""
    columns: defaultdict[str, list[int]] = defaultdict(list)
    for column, url in enumerate(site.seconds):
        columns[keys[url].key].append(column)
    for row, url in enumerate(site.firsts):
        mine = keys[url]
        for column in columns[mine.key]:
            other = keys[site.seconds[column]]
            if same_but_for_language(mine, other):
                yield 1.0 if mine.tokens and other.tokens else 0.75, row, column


def take_listed(site: CandidateSite, candidates: Iterable[tuple[float, int, int]]) -> Found:
    """Take the likeliest pair whose URLs are both free, of those with a number."""
    found: Found = {}
    rows: set[int] = set()
    columns: set[int] = set()
    for number, row, column in sorted(candidates, key=lambda each: (-each[0], *each[1:])):
        if row not in rows and column not in columns:
            found[site.firsts[row], site.seconds[column]] = number
            rows.add(row)
            columns.add(column)
    return found


def take_one_to_one(
    site: CandidateSite, table: NDArray[np.float64], at_least: float = 0.0, kept: int = KEPT
) -> Found:
    """Take the likeliest pair whose URLs are both free, until none is left."""
    found: Found = {}
    free = np.ones(table.shape[1], dtype=bool)

    def best(row: int) -> Iterator[tuple[float, int, int]]:
        """Yield the free columns of a row, best first."""
        while True:
            numbers = np.where(free, table[row], -1.0)
            columns = np.flatnonzero(numbers >= at_least)
            order = columns[np.argsort(-numbers[columns], kind="stable")]
            yield from ((-float(numbers[each]), row, each) for each in order[:kept].tolist())
            if len(order) <= kept:
                return

    rows = [best(row) for row in range(table.shape[0])]
    heap = [first for row in rows if (first := next(row, None)) is not None]
    heapify(heap)
    while heap:
        number, row, column = heap[0]
        if free[column]:
            found[site.firsts[row], site.seconds[column]] = -number
            free[column] = False
            heappop(heap)
        elif (following := next(rows[row], None)) is not None:
            heapreplace(heap, following)
        else:
            heappop(heap)
    return found


class SameKey:
    """Takes two URLs for one text if they are equal without their language tokens."""

    def __init__(self, tokens: frozenset[str]) -> None:
        self._tokens = tokens

    def __call__(self, first: str, second: str) -> bool:
        """Return True if they are."""
        return stripped(first, self._tokens).key == stripped(second, self._tokens).key


class Duplicates:
    """Knows from a table which URLs have nearly the same text, also through a third one."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._parents: dict[str, str] = {}
        for first, second in pairs:
            self._parents[self._root(first)] = self._root(second)

    def __call__(self, first: str, second: str) -> bool:
        """Return True if the table says so."""
        return self._root(first) == self._root(second)

    def _root(self, url: str) -> str:
        while self._parents.get(url, url) != url:
            url = self._parents[url]
        return url


def recalls(gold: Sequence[GoldPair], found: Found, same_text: SameText) -> Recalls:
    """Return the shares of gold pairs that were found."""
    if not gold:
        return Recalls(0.0, 0.0, 0.0, 0.0)
    partner_of_first = dict(found.keys())
    partner_of_second = {second: first for first, second in found}
    near, sure_near = 0, 0
    for first, second in gold:
        other, one = partner_of_first.get(first), partner_of_second.get(second)
        numbers = []
        if other is not None and (other == second or same_text(other, second)):
            numbers.append(found[first, other])
        if one is not None and (one == first or same_text(one, first)):
            numbers.append(found[one, second])
        near += bool(numbers)
        sure_near += max(numbers, default=0.0) >= HALF
    right = [found[pair] for pair in gold if pair in found]
    sure = sum(number >= HALF for number in right)
    return Recalls(*(count / len(gold) for count in (len(right), near, sure, sure_near)))
