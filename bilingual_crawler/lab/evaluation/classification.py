"""Evaluation of both URL models on labelled rows, side by side with the rules, and their cost.

The cost of a model per link is measured as a crawl uses it: with one thread, a page at a time, on
made-up addresses as long as real ones. It is processor time, so that other work hardly matters.
"""

import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from statistics import median
from typing import Any, NamedTuple, TypeVar

from bilingual_crawler.lab.evaluation.metrics import Confusion, Scores, scores
from bilingual_crawler.lab.labels import LabelledPair, LabelledUrl
from bilingual_crawler.scoring.classifier import ParallelUrls, Url2Lang
from bilingual_crawler.scoring.models import UNKNOWN, Task
from bilingual_crawler.scoring.pair_features import stripped
from bilingual_crawler.urls.language_tokens import UrlKey, announced_languages

LINKS_PER_PAGE = 50
PAGES = 20
ENOUGH = 5.0
"""Seconds of processor time after which no further page is asked about."""
SYLLABLES = ("ba", "co", "di", "fe", "gu", "la", "me", "ni", "po", "ru", "sa", "ti", "vo", "za")


class ModelCost(NamedTuple):
    """Milliseconds of one core per new link, and the number of links that this was measured on."""

    milliseconds: float
    links: int


def model_cost(folder: Traversable, task: Task) -> ModelCost:
    """Ask a model about pages of links, none of them twice; return the median cost.

    The first page is not counted: it includes what is done once.
    """
    model: Any = (Url2Lang if task == "url2lang" else ParallelUrls)(folder, remembered=0)
    pages = _pages()
    _ask(model, pages[0])
    times: list[float] = []
    for page in pages[1:]:
        times.append(_ask(model, page))
        if sum(times) > ENOUGH:
            break
    return ModelCost(1000 * median(times) / LINKS_PER_PAGE, len(times) * LINKS_PER_PAGE)


def _ask(model: Any, links: Sequence[str]) -> float:
    """Return the seconds that a model takes for the links of a page."""
    pairs = [(links[0], link) for link in links]
    start = time.process_time()
    model.probabilities(pairs if model.task == "parallel" else links)
    return time.process_time() - start


def _pages() -> list[list[str]]:
    choice = random.Random(0)  # noqa: S311 - made-up addresses, not secrets

    def word() -> str:
        return "".join(choice.choices(SYLLABLES, k=choice.randint(1, 4)))

    def page(host: str) -> list[str]:
        return [
            f"https://www.{host}.org/{choice.choice(('es', 'eu', 'en'))}/{word()}/"
            f"{'-'.join(word() for _ in range(choice.randint(1, 7)))}-{number}.html"
            for number in range(LINKS_PER_PAGE)
        ]

    return [page(word() + word()) for _ in range(PAGES)]


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
