"""How good pairs of documents are, judged by a gold list that need not be complete.

A pair is wrong when one of its pages has another partner in the gold. A pair whose pages are
both outside of it says nothing and is counted apart: a site's own claims, from which such
lists are made, never name all of its translations.
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
    """How many pairs were found, and how many of them are right."""

    gold: int
    found: int
    correct: int
    wrong: int

    @property
    def unjudged(self) -> int:
        """Pairs of which the gold says nothing."""
        return self.found - self.correct - self.wrong

    @property
    def precision(self) -> float | None:
        """The part of the judged pairs that is right; None if none is judged."""
        judged = self.correct + self.wrong
        return self.correct / judged if judged else None

    @property
    def recall(self) -> float:
        """The part of the gold pairs that was found."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of the two."""
        total = self.gold + self.correct + self.wrong
        return 2 * self.correct / total if total else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The figures as `--json` prints them."""
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
    """Judges pairs by gold pairs whose URLs are spelt as those of the pages are."""

    def __init__(self, gold: Iterable[Urls]) -> None:
        self.gold = list(dict.fromkeys((min(pair), max(pair)) for pair in gold))
        self._true = set(self.gold)
        self._pages = {url for pair in self.gold for url in pair}

    def figures(self, pairs: Iterable[Urls]) -> PairFigures:
        """The figures of some pairs; the order of the two URLs does not count."""
        distinct = {(min(pair), max(pair)) for pair in pairs}
        correct = len(distinct & self._true)
        wrong = sum(1 for pair in distinct - self._true if not self._pages.isdisjoint(pair))
        return PairFigures(len(self.gold), len(distinct), correct, wrong)

    def is_true(self, first: str, second: str) -> bool:
        """Whether two pages are a gold pair."""
        return (min(first, second), max(first, second)) in self._true


def alone(candidates: Iterable[DocumentPair], names: Sequence[str]) -> dict[str, list[Urls]]:
    """The pairs that each detector would make if there were no other."""
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
    """What is known of the pages that were read."""

    def language_of(self, url: str) -> str | None:
        """The language of a page that took part; None if none did under this URL."""

    def why_unused(self, url: str) -> Unwanted | None:
        """Why a page was read and took no part; None if it was not read."""


def misses(
    judge: Judge,
    pairs: Sequence[DocumentPair],
    candidates: Iterable[DocumentPair],
    inventory: Inventory,
) -> list[Miss]:
    """Every gold pair that is not among the pairs, each with the first reason that holds."""
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
