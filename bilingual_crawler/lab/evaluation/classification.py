"""Evaluation of both URL models on labelled rows, side by side with the rules."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from bilingual_crawler.lab.evaluation.metrics import Confusion, Scores, scores
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
    confusions: Mapping[str, Confusion] = field(default_factory=dict)
    """Which languages each side takes for which; empty for pairs."""
    language_pairs: tuple["LanguagePairScores", ...] = ()
    """The scores by languages, the most frequent ones first; empty where they are not known."""

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
            named[f"{prefix}accuracy"] = side.accuracy
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
        if self.language_pairs:
            named["language_pairs"] = {
                each.languages: each.figures() for each in self.language_pairs
            }
        return named | {"classes": classes}


@dataclass(frozen=True, slots=True)
class LanguagePairScores:
    """The scores of the pairs of URLs in two languages, as in Fig. 5 of SBFC."""

    languages: str
    sides: dict[str, Scores]

    @property
    def parallel(self) -> int:
        """The number of rows that are translations."""
        return self.sides["rules"].of(POSITIVE).support

    @property
    def others(self) -> int:
        """The number of rows that are not."""
        return self.sides["rules"].of(NEGATIVE).support

    def figures(self) -> dict[str, float]:
        """Return the figures by name, for `--json`."""
        named: dict[str, float] = {"parallel": self.parallel, "not_parallel": self.others}
        for name, side in self.sides.items():
            named[f"{PREFIXES[name]}macro_f1"] = side.macro_f1
            named[f"{PREFIXES[name]}positive_f1"] = side.of(POSITIVE).f1
        return named


def compare_languages(
    rows: Sequence[LabelledUrl],
    model: Url2Lang | None,
    *,
    only: Collection[str] | None = None,
    advance: Advance = lambda _: None,
) -> ModelComparison:
    """Compare the languages that the model and the rules give each URL."""
    gold = [row.language for row in rows]
    by_rules = [announced_language(row.url) for row in rows]
    rules = scores(gold, by_rules, only)
    confusions = {"rules": Confusion(gold, by_rules)}
    if model is None:
        return ModelComparison(len(rows), None, rules, 0.0, {}, confusions=confusions)
    answers: list[str] = []
    start = time.perf_counter()
    for part in _chunks([row.url for row in rows]):
        best = model.probabilities(part).argmax(axis=1)
        answers += [model.labels[column] for column in best]
        advance(len(part))
    seconds = time.perf_counter() - start
    not_known = Counter(code for code in gold if code not in model.labels)
    return ModelComparison(
        len(rows),
        scores(gold, answers, only),
        rules,
        seconds,
        dict(not_known),
        confusions={"model": Confusion(gold, answers)} | confusions,
    )


def compare_pairs(
    rows: Sequence[LabelledPair],
    model: ParallelUrls | None,
    tokens: frozenset[str],
    *,
    languages: Sequence[str] | None = None,
    advance: Advance = lambda _: None,
) -> ModelComparison:
    """Compare which pairs the model (at 0.5) and token stripping take for translations.

    `languages` are the language pairs that the rows count for, by default those of their URLs; two
    URLs in one language then count for none.
    """
    gold = [_label(row.parallel) for row in rows]
    keys = {url: stripped(url, tokens) for row in rows for url in row[:2]}
    answers = {
        "rules": [_label(same_but_for_language(keys[row.first], keys[row.second])) for row in rows]
    }
    seconds = 0.0
    if model is not None:
        found: list[str] = []
        start = time.perf_counter()
        for part in _chunks([(row.first, row.second) for row in rows]):
            found += [_label(each >= HALF) for each in model.probabilities(part).tolist()]
            advance(len(part))
        seconds = time.perf_counter() - start
        answers = {"model": found} | answers
    groups = [row.language_pair for row in rows] if languages is None else languages
    return ModelComparison(
        len(rows),
        None if model is None else scores(gold, answers["model"]),
        scores(gold, answers["rules"]),
        seconds,
        {},
        of_pairs=True,
        language_pairs=tuple(_by_languages(groups, gold, answers)),
    )


def _by_languages(
    groups: Sequence[str], gold: Sequence[str], answers: Mapping[str, Sequence[str]]
) -> Iterator[LanguagePairScores]:
    """Yield the scores of each language pair that has translations among its rows."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, group in enumerate(groups):
        if group:
            places[group].append(place)
    for group in sorted(places, key=lambda name: (-len(places[name]), name)):
        here = places[group]
        wanted = [gold[place] for place in here]
        if POSITIVE in wanted:
            sides = {
                name: scores(wanted, [found[place] for place in here])
                for name, found in answers.items()
            }
            yield LanguagePairScores(group, sides)


def _label(parallel: bool) -> str:
    return POSITIVE if parallel else NEGATIVE


def _chunks(items: Sequence[ItemT]) -> Iterator[Sequence[ItemT]]:
    for begin in range(0, len(items), AT_ONCE):
        yield items[begin : begin + AT_ONCE]
