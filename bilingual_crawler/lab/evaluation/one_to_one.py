"""Document alignment from URLs alone, as in the shared task of WMT16 (SBFC, section 3.3).

All URLs of a site in the gold list are candidates: every URL in the first column is compared with
every URL in the second. The likeliest pair is taken, its two URLs are removed, and so on. Nothing
is pruned: the whole product is scored, in batches.

Recall is the share of gold pairs that were taken. WMT16's soft recall compares texts, and also
counts a pair in which one page is a near-duplicate of the right one. Here there are only URLs, so
soft recall counts a gold pair if one of its two URLs is paired with a URL that equals the right
partner once language tokens are stripped from both.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bilingual_crawler.lab.evaluation.classification import (
    AT_ONCE,
    HALF,
    Advance,
    same_but_for_language,
)
from bilingual_crawler.lab.labels import GoldPair
from bilingual_crawler.scoring.classifier import ParallelUrls
from bilingual_crawler.scoring.pair_features import stripped
from bilingual_crawler.urls.hosts import host_of, site_of
from bilingual_crawler.urls.language_tokens import UrlKey

Found = dict[tuple[str, str], float]
"""The pairs that were taken, with their probabilities."""


class CandidateSite(NamedTuple):
    """The candidates of one site, one list per language, in alphabetical order.

    That order decides between equally likely pairs, so the order of the gold list does not.
    """

    firsts: list[str]
    seconds: list[str]

    @property
    def pairs(self) -> int:
        """The number of pairs to compare."""
        return len(self.firsts) * len(self.seconds)


@dataclass(frozen=True, slots=True)
class Recalls:
    """Return the shares of gold pairs that were found."""

    recall: float
    soft_recall: float
    sure_recall: float
    """The recall of the pairs with a probability of at least 0.5."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """What the model and token stripping find; `model` is None if there is none."""

    gold: int
    sites: int
    candidates: int
    model: Recalls | None
    rules: Recalls
    seconds: float

    def figures(self) -> dict[str, Any]:
        """Return the figures by name, for `--json`."""
        named: dict[str, Any] = {
            "gold_pairs": self.gold,
            "sites": self.sites,
            "candidate_pairs": self.candidates,
        }
        for prefix, side in (("", self.model), ("baseline_", self.rules)):
            if side is not None:
                named[f"{prefix}recall"] = side.recall
                named[f"{prefix}soft_recall"] = side.soft_recall
        if self.model is not None:
            named["sure_recall"] = self.model.sure_recall
            named["urls_per_second"] = self.candidates / self.seconds
        return named


def align(
    gold: Iterable[GoldPair],
    model: ParallelUrls | None,
    tokens: frozenset[str],
    *,
    advance: Advance = lambda _: None,
) -> Alignment:
    """Pair the URLs of each site one to one, by the model and by token stripping."""
    wanted = list(dict.fromkeys(gold))
    sites = group_by_site(wanted)
    keys = {url: stripped(url, tokens) for pair in wanted for url in pair}
    rules: Found = {}
    found: Found = {}
    seconds = 0.0
    for site in sites:
        rules |= take_one_to_one(site, rule_table(site, keys), at_least=HALF)
        if model is not None:
            start = time.perf_counter()
            found |= take_one_to_one(site, model_table(site, model, advance))
            seconds += time.perf_counter() - start
    return Alignment(
        gold=len(wanted),
        sites=len(sites),
        candidates=sum(site.pairs for site in sites),
        model=None if model is None else recalls(wanted, found, keys),
        rules=recalls(wanted, rules, keys),
        seconds=seconds,
    )


def candidate_pairs(gold: Iterable[GoldPair]) -> int:
    """Return how many pairs `align` will score."""
    return sum(site.pairs for site in group_by_site(gold))


def group_by_site(gold: Iterable[GoldPair]) -> list[CandidateSite]:
    """Group URLs by registered domain; domains that a gold pair connects are one site."""
    parents: dict[str, str] = {}

    def root(name: str) -> str:
        while parents.setdefault(name, name) != name:
            parents[name] = name = parents[parents[name]]
        return name

    pairs = list(gold)
    for first, second in pairs:
        parents[root(_domain(first))] = root(_domain(second))
    firsts: defaultdict[str, set[str]] = defaultdict(set)
    seconds: defaultdict[str, set[str]] = defaultdict(set)
    for first, second in pairs:
        name = root(_domain(first))
        firsts[name].add(first)
        seconds[name].add(second)
    return [CandidateSite(sorted(firsts[name]), sorted(seconds[name])) for name in sorted(firsts)]


def _domain(url: str) -> str:
    return site_of(host_of(url))


def model_table(site: CandidateSite, model: ParallelUrls, advance: Advance) -> NDArray[np.float64]:
    """Return the probability of every pair of a site; a URL is not its own translation."""
    product = _product(site)
    parts = []
    while part := list(islice(product, AT_ONCE)):
        numbers = model.probabilities(part)
        parts.append(np.where([first == second for first, second in part], -1.0, numbers))
        advance(len(part))
    return np.concatenate(parts).reshape(len(site.firsts), len(site.seconds))


def _product(site: CandidateSite) -> Iterator[tuple[str, str]]:
    return ((first, second) for first in site.firsts for second in site.seconds)


def rule_table(site: CandidateSite, keys: dict[str, UrlKey]) -> NDArray[np.float64]:
    """Return 1 where URLs differ only in language tokens of both, 0.75 if of one, else 0."""
    table = np.zeros((len(site.firsts), len(site.seconds)))
    columns: defaultdict[str, list[int]] = defaultdict(list)
    for column, url in enumerate(site.seconds):
        columns[keys[url].key].append(column)
    for row, url in enumerate(site.firsts):
        mine = keys[url]
        for column in columns[mine.key]:
            other = keys[site.seconds[column]]
            if same_but_for_language(mine, other):
                table[row, column] = 1.0 if mine.tokens and other.tokens else 0.75
    return table


def take_one_to_one(
    site: CandidateSite, table: NDArray[np.float64], at_least: float = 0.0
) -> Found:
    """Take the likeliest pair whose URLs are both free, until none is left."""
    found: Found = {}
    free_rows, free_columns = set(range(table.shape[0])), set(range(table.shape[1]))
    numbers = table.ravel()
    candidates = np.flatnonzero(numbers >= at_least)
    for number in candidates[np.argsort(-numbers[candidates], kind="stable")].tolist():
        row, column = divmod(number, table.shape[1])
        if row in free_rows and column in free_columns:
            found[site.firsts[row], site.seconds[column]] = float(numbers[number])
            free_rows.remove(row)
            free_columns.remove(column)
            if not free_rows or not free_columns:
                break
    return found


def recalls(gold: Sequence[GoldPair], found: Found, keys: dict[str, UrlKey]) -> Recalls:
    """Return the shares of gold pairs that were found."""
    if not gold:
        return Recalls(0.0, 0.0, 0.0)
    partner_of_first = dict(found.keys())
    partner_of_second = {second: first for first, second in found}
    right = [pair for pair in gold if pair in found]
    near = 0
    for pair in gold:
        second = partner_of_first.get(pair.first)
        first = partner_of_second.get(pair.second)
        near += any(
            other is not None and keys[other].key == keys[wanted].key
            for other, wanted in ((second, pair.second), (first, pair.first))
        )
    sure = sum(found[pair] >= HALF for pair in right)
    return Recalls(len(right) / len(gold), near / len(gold), sure / len(gold))
