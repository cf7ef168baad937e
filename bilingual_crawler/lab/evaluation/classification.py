"""Evaluation of both URL models on labelled rows, side by side with the rules."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from bilingual_crawler.lab.evaluation.metrics import Scores, scores
from bilingual_crawler.lab.labels import LabelledPair, LabelledUrl
from bilingual_crawler.scoring.classifier import ParallelUrls, Url2Lang
from bilingual_crawler.scoring.models import UNKNOWN
from bilingual_crawler.scoring.pair_features import stripped
from bilingual_crawler.urls.language_tokens import UrlKey, announced_languages


def announced_language(url: str) -> str:
    """Return the language that the most trusted token of a URL names, or `unknown`.

    The few tokens that two languages share go to the first in alphabetical order.
    """
    return min(announced_languages(url), default=UNKNOWN)


def same_but_for_language(first: UrlKey, second: UrlKey) -> bool:
    """Return True if two URLs differ only in language tokens, as in the WMT16 baseline.

    A URL, however spelt, is not a translation of itself.
    """
    return first.key == second.key and first.tokens != second.tokens


AT_ONCE = 2048
HALF = 0.5
POSITIVE, NEGATIVE = "parallel", "not parallel"
PREFIXES = {"model": "", "rules": "baseline_"}
Advance = Callable[[int], object]
ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """The scores of a model and of the rules on the same rows; `model` is None if there is none."""

    rows: int
    model: Scores | None
    rules: Scores
    seconds: float
    not_known: dict[str, int]
    """Rows in languages that the model has no label for, by language; it is always wrong there."""
    of_pairs: bool = False
    """True if the rows were pairs, for which no answer is `unknown`."""

    @property
    def sides(self) -> dict[str, Scores]:
        """The scores that are compared, by name."""
        rules = {"rules": self.rules}
        return rules if self.model is None else {"model": self.model} | rules

    def figures(self) -> dict[str, Any]:
        """Return the figures by name, for `--json`."""
        named: dict[str, Any] = {"rows": self.rows}
        classes: dict[str, dict[str, float]] = {
            each.label: {"rows": each.support} for each in self.rules.classes
        }
        for name, side in self.sides.items():
            prefix = PREFIXES[name]
            named[f"{prefix}macro_f1"] = side.macro_f1
            named[f"{prefix}macro_precision"] = side.macro_precision
            named[f"{prefix}macro_recall"] = side.macro_recall
            if self.of_pairs:
                named[f"{prefix}positive_f1"] = side.of(POSITIVE).f1
            else:
                named[f"{prefix}unknown_share"] = side.unknown_share
            for each in side.classes:
                classes[each.label][f"{prefix}precision"] = each.precision
                classes[each.label][f"{prefix}recall"] = each.recall
                classes[each.label][f"{prefix}f1"] = each.f1
        if self.model is not None:
            named["urls_per_second"] = self.rows / self.seconds
        return named | {"classes": classes}


def compare_languages(
    rows: Sequence[LabelledUrl],
    model: Url2Lang | None,
    *,
    only: Collection[str] | None = None,
    advance: Advance = lambda _: None,
) -> ModelComparison:
    """Compare the languages that the model and the rules give each URL."""
    gold = [row.language for row in rows]
    rules = scores(gold, [announced_language(row.url) for row in rows], only)
    if model is None:
        return ModelComparison(len(rows), None, rules, 0.0, {})
    answers: list[str] = []
    start = time.perf_counter()
    for part in _chunks([row.url for row in rows]):
        best = model.probabilities(part).argmax(axis=1)
        answers += [model.labels[column] for column in best]
        advance(len(part))
    seconds = time.perf_counter() - start
    not_known = Counter(code for code in gold if code not in model.labels)
    return ModelComparison(len(rows), scores(gold, answers, only), rules, seconds, dict(not_known))


def compare_pairs(
    rows: Sequence[LabelledPair],
    model: ParallelUrls | None,
    tokens: frozenset[str],
    *,
    advance: Advance = lambda _: None,
) -> ModelComparison:
    """Compare which pairs the model (at 0.5) and token stripping take for translations."""
    gold = [_label(row.parallel) for row in rows]
    keys = {url: stripped(url, tokens) for row in rows for url in row[:2]}
    rules = scores(
        gold, [_label(same_but_for_language(keys[row.first], keys[row.second])) for row in rows]
    )
    if model is None:
        return ModelComparison(len(rows), None, rules, 0.0, {}, of_pairs=True)
    answers: list[str] = []
    start = time.perf_counter()
    for part in _chunks([(row.first, row.second) for row in rows]):
        answers += [_label(each >= HALF) for each in model.probabilities(part).tolist()]
        advance(len(part))
    seconds = time.perf_counter() - start
    return ModelComparison(len(rows), scores(gold, answers), rules, seconds, {}, of_pairs=True)


def _label(parallel: bool) -> str:
    return POSITIVE if parallel else NEGATIVE


def _chunks(items: Sequence[ItemT]) -> Iterator[Sequence[ItemT]]:
    for begin in range(0, len(items), AT_ONCE):
        yield items[begin : begin + AT_ONCE]
