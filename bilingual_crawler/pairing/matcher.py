"""One matcher combines all evidence into one-to-one pairs, while pages are coming in.

The result is what a greedy choice over all candidates would give (best first, each page
once), whatever the order of arrival: a better candidate displaces a worse pair, and the
partners it sets free look for their next best. Costs grow with the candidates, never with
all pairs of pages.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.alternates import AlternateDetector
from bilingual_crawler.pairing.pair import (
    Candidate,
    Detector,
    DocumentPair,
    Evidence,
    Page,
    combined_score,
)
from bilingual_crawler.pairing.url_key import UrlKeyDetector

ACCEPT = 0.5
"""A pair needs more evidence than doubt."""

Rank = tuple[float, int, str, str]


class Changes:
    """What one event did to the pairs; what was found and lost again is left out."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], DocumentPair] = {}
        self.lost: dict[tuple[str, str], DocumentPair] = {}
        self.better_explained = False

    def add(self, pair: DocumentPair) -> None:
        """Note a new pair."""
        key = (pair.first, pair.second)
        if self.lost.pop(key, None) is None:
            self.found[key] = pair

    def drop(self, pair: DocumentPair) -> None:
        """Note a pair that was given up."""
        key = (pair.first, pair.second)
        if self.found.pop(key, None) is None:
            self.lost[key] = pair


class Matcher:
    """Keeps the best one-to-one pairs of a language pair."""

    def __init__(self, pair: LanguagePair, detectors: Sequence[Detector] | None = None) -> None:
        self._pair = pair
        default: list[Detector] = [AlternateDetector(), UrlKeyDetector(pair)]
        self._detectors = default if detectors is None else detectors
        self._pages: dict[str, Page] = {}
        self._edges: defaultdict[str, dict[str, dict[str, Evidence]]] = defaultdict(dict)
        self._partner: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._partner) // 2

    @property
    def pairs(self) -> list[DocumentPair]:
        """Every pair, as things stand."""
        firsts = [url for url in self._partner if self._is_first(url)]
        return [self._pair_of(url, self._partner[url]) for url in firsts]

    def add(self, page: Page) -> Changes:
        """Take in a page; tell which pairs it completed, improved or replaced."""
        self._pages[page.url] = page
        return self._weigh(each for detector in self._detectors for each in detector.add(page))

    def alias(self, source: str, target: str) -> Changes:
        """Learn that `source` leads to the page at `target`."""
        return self._weigh(
            each for detector in self._detectors for each in detector.alias(source, target)
        )

    def remove(self, url: str) -> Changes:
        """Give up a page; its partner looks for another."""
        changes = Changes()
        page = self._pages.pop(url, None)
        if page is None:
            return changes
        for detector in self._detectors:
            detector.remove(page)
        for other in self._edges.pop(url, {}):
            self._edges[other].pop(url, None)
        if url in self._partner:
            other = self._partner[url]
            changes.drop(self._pair_of(url, other, page))
            del self._partner[url], self._partner[other]
            self._settle([other], changes)
        return changes

    def _weigh(self, candidates: Iterable[Candidate]) -> Changes:
        changes = Changes()
        touched: dict[str, None] = {}
        for one, other, evidence in candidates:
            edge = self._edges[one].setdefault(other, {})
            self._edges[other][one] = edge
            if evidence.score > edge.get(evidence.detector, evidence._replace(score=-1)).score:
                edge[evidence.detector] = evidence
                touched[one] = None
                changes.better_explained |= self._partner.get(one) == other
        self._settle(list(touched), changes)
        return changes

    def _settle(self, urls: list[str], changes: Changes) -> None:
        """Give each page the best partner that it can win, and so on for the displaced."""
        while urls:
            url = urls.pop()
            for rank, other in sorted(
                ((self._rank(url, other), other) for other in self._edges[url]), reverse=True
            ):
                if rank[0] < ACCEPT or not self._wins(url, rank):
                    break
                if self._wins(other, rank):
                    urls.extend(self._join(url, other, changes))
                    break

    def _wins(self, url: str, rank: Rank) -> bool:
        partner = self._partner.get(url)
        return partner is None or rank > self._rank(url, partner)

    def _join(self, url: str, other: str, changes: Changes) -> list[str]:
        displaced = []
        for page in (url, other):
            partner = self._partner.pop(page, None)
            if partner is not None:
                changes.drop(self._pair_of(page, partner))
                del self._partner[partner]
                displaced.append(partner)
        self._partner[url], self._partner[other] = other, url
        changes.add(self._pair_of(url, other))
        return displaced

    def _rank(self, one: str, other: str) -> Rank:
        """Best evidence first, then the plainest URLs; never equal for two candidates."""
        score = combined_score(self._edges[one][other].values())
        first, second = min(one, other), max(one, other)
        return (round(score, 6), -len(one) - len(other), first, second)

    def _pair_of(self, one: str, other: str, removed: Page | None = None) -> DocumentPair:
        if removed is None:
            evidence = tuple(self._edges[one][other].values())
            in_order = self._is_first(one)
        else:
            evidence, in_order = (), removed.language == self._pair.first.code
        first, second = (one, other) if in_order else (other, one)
        return DocumentPair(first, second, self._pair.codes, evidence)

    def _is_first(self, url: str) -> bool:
        return self._pages[url].language == self._pair.first.code
