"""Evaluation of document pairs against a gold list, which may be incomplete.

A pair is wrong if one of its pages has another partner in the gold list. A pair with neither page
in the list is not judged but counted separately: such lists are made from a site's own claims,
which never name all of its translations.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from bilingual_crawler.documents.document import Unwanted
from bilingual_crawler.pairing.one_to_one import ACCEPT, greedy_choice
from bilingual_crawler.pairing.pair import DocumentPair

DIGITS = 4

_UNUSED = {
    "no_text": "page without text",
    "off_language": "page in another language",
    "mixed_language": "page in several languages",
}

Urls = tuple[str, str]


class PairFigures(NamedTuple):
    """How many pairs were found, and how many of them are correct."""

    gold: int
    found: int
    correct: int
    wrong: int

    @property
    def unjudged(self) -> int:
        """The number of pairs with neither page in the gold list."""
        return self.found - self.correct - self.wrong

    @property
    def precision(self) -> float | None:
        """The share of the judged pairs that is correct; None if none was judged."""
        judged = self.correct + self.wrong
        return self.correct / judged if judged else None

    @property
    def recall(self) -> float:
        """The share of the gold pairs that was found."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        total = self.gold + self.correct + self.wrong
        return 2 * self.correct / total if total else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as `--json` prints them."""
        precision = self.precision
        return {
            "precision": None if precision is None else round(precision, DIGITS),
            "recall": round(self.recall, DIGITS),
            "f1": round(self.f1, DIGITS),
            "unjudged": self.unjudged,
            "found": self.found,
            "correct": self.correct,
            "wrong": self.wrong,
        }


class Judge:
    """Compares pairs with gold pairs, whose URLs must be spelt as those of the pages."""

    def __init__(self, gold: Iterable[Urls]) -> None:
        self.gold = list(dict.fromkeys((min(pair), max(pair)) for pair in gold))
        self._true = set(self.gold)
        self._pages = {url for pair in self.gold for url in pair}

    def figures(self, pairs: Iterable[Urls]) -> PairFigures:
        """Return the figures of some pairs; the order of the two URLs does not matter."""
        distinct = {(min(pair), max(pair)) for pair in pairs}
        correct = len(distinct & self._true)
        wrong = sum(1 for pair in distinct - self._true if not self._pages.isdisjoint(pair))
        return PairFigures(len(self.gold), len(distinct), correct, wrong)

    def is_true(self, first: str, second: str) -> bool:
        """Return True if two pages are a gold pair."""
        return (min(first, second), max(first, second)) in self._true


def alone(candidates: Iterable[DocumentPair], names: Sequence[str]) -> dict[str, list[Urls]]:
    """Return the pairs that each detector would find on its own."""
    said: dict[str, list[tuple[float, str, str]]] = {name: [] for name in names}
    for each in candidates:
        for detector, score, _ in each.evidence:
            if score >= ACCEPT:
                said.setdefault(detector, []).append((score, each.first, each.second))
    return {name: greedy_choice(scored) for name, scored in said.items()}


class Miss(NamedTuple):
    """A gold pair that was not found, and why."""

    first: str
    second: str
    reason: str
    detail: str = ""


class Inventory(Protocol):
    """What is known about the pages that were read."""

    def language_of(self, url: str) -> str | None:
        """Return the language of a page that was used; None if no page at this URL was."""

    def why_unused(self, url: str) -> Unwanted | None:
        """Return why a page that was read was not used; None if it was not read."""


def misses(
    judge: Judge,
    pairs: Sequence[DocumentPair],
    candidates: Iterable[DocumentPair],
    inventory: Inventory,
) -> list[Miss]:
    """Return every gold pair that is not among the pairs, with the first reason that applies."""
    partners = {url: pair for pair in pairs for url in (pair.first, pair.second)}
    weighed = {
        (min(each.first, each.second), max(each.first, each.second)): each
        for each in candidates
        if judge.is_true(each.first, each.second)
    }
    found = {(min(pair.first, pair.second), max(pair.first, pair.second)) for pair in pairs}
    return [
        Miss(*urls, *_reason(urls, weighed.get(urls), partners, inventory))
        for urls in judge.gold
        if urls not in found
    ]


def _reason(
    urls: Urls,
    candidate: DocumentPair | None,
    partners: Mapping[str, DocumentPair],
    inventory: Inventory,
) -> tuple[str, str]:
    for url in urls:
        if inventory.language_of(url) is None:
            return _why_missing(url, inventory.why_unused(url))
    languages = [inventory.language_of(url) for url in urls]
    if languages[0] and languages[0] == languages[1]:
        return "both pages in one language", str(languages[0])
    if candidate is None:
        return "never a candidate", ""
    return _why_refused(urls, candidate, partners)


def _why_missing(url: str, unwanted: Unwanted | None) -> tuple[str, str]:
    if unwanted is None:
        return "page not in the input", url
    return _UNUSED.get(unwanted.reason, "page not used"), f"{url}: {unwanted.message}"


def _why_refused(
    urls: Urls, candidate: DocumentPair, partners: Mapping[str, DocumentPair]
) -> tuple[str, str]:
    said = "; ".join(f"{name} {score:.2f}: {why}" for name, score, why in candidate.evidence)
    if candidate.score < ACCEPT:
        return "probability too low", f"{candidate.score:.2f} ({said})"
    for url in urls:
        rival = partners.get(url)
        if rival is not None:
            other = rival.second if rival.first == url else rival.first
            return (
                "lost to another partner",
                f"{url} has {other} at {rival.score:.2f}, this pair has {candidate.score:.2f}",
            )
    return "not chosen", f"{candidate.score:.2f} ({said})"
