"""One matcher combines all evidence into one-to-one pairs, while pages are coming in.

The result is what a greedy choice over all candidates would give (best first, each page
once), whatever the order of arrival: a better candidate displaces a worse pair, and the
partners it sets free look for their next best. Costs grow with the candidates, never with
all pairs of pages.

Pages with the same text are one node: the node is paired once, under whichever of its
URLs has the best evidence.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

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

DETECTORS = ("alternates", "url_key")
"""The names of all detectors."""

Urls = tuple[str, str]
Rank = tuple[float, int, str, str]


class Changes:
    """What one event did to the pairs; what was found and lost again is left out."""

    def __init__(self) -> None:
        self.found: dict[Urls, DocumentPair] = {}
        self.lost: dict[Urls, DocumentPair] = {}
        self.better_explained = False

    @property
    def urls(self) -> set[str]:
        """Every page that gained or lost a partner."""
        return {url for pair in (*self.found, *self.lost) for url in pair}

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


class _Edge:
    """What speaks for two nodes: the evidence of each two of their URLs, and the best."""

    __slots__ = ("best", "evidence", "rank")

    def __init__(self) -> None:
        self.evidence: dict[Urls, dict[str, Evidence]] = {}
        self.best: Urls = ("", "")
        self.rank: Rank = (-1.0, 0, "", "")

    def add(self, urls: Urls, evidence: Evidence) -> bool:
        """Add to what is known; whether it is news is told."""
        known = self.evidence.setdefault(urls, {})
        if evidence.detector in known and known[evidence.detector].score >= evidence.score:
            return False
        known[evidence.detector] = evidence
        rank = _rank(urls, known)
        if urls == self.best or rank > self.rank:
            self.best, self.rank = urls, rank
        return True


def _rank(urls: Urls, evidence: dict[str, Evidence]) -> Rank:
    """Best evidence first, then the plainest URLs; never equal for two candidates."""
    score = combined_score(evidence.values())
    return (round(score, 6), -len(urls[0]) - len(urls[1]), min(urls), max(urls))


class Matcher:
    """Keeps the best one-to-one pairs of a language pair."""

    def __init__(
        self,
        pair: LanguagePair,
        detectors: Collection[str] | Sequence[Detector] | None = None,
    ) -> None:
        self._pair = pair
        default: dict[str, Detector] = {
            "alternates": AlternateDetector(),
            "url_key": UrlKeyDetector(pair),
        }
        chosen = list(default) if detectors is None else detectors
        self._detectors = [default[x] if isinstance(x, str) else x for x in chosen]
        self._languages: dict[str, str] = {}
        self._node_of: dict[str, str] = {}
        self._edges: defaultdict[str, dict[str, _Edge]] = defaultdict(dict)
        self._partner: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._partner) // 2

    @property
    def pairs(self) -> list[DocumentPair]:
        """Every pair, as things stand."""
        firsts = [n for n in self._partner if self._languages[n] == self._pair.first.code]
        return [self._pair_of(node, self._partner[node]) for node in firsts]

    def paired_url(self, node: str) -> str | None:
        """The URL under which a node is paired; None if it is not."""
        partner = self._partner.get(node)
        if partner is None:
            return None
        one, other = self._edges[node][partner].best
        return one if self._node_of[one] == node else other

    def partner_of(self, url: str) -> str | None:
        """The page that one is paired with, itself or as another with the same text."""
        node = self._node_of.get(url)
        partner = None if node is None else self._partner.get(node)
        return None if partner is None else self.paired_url(partner)

    def add(self, page: Page, node: str | None = None) -> Changes:
        """Take in a page; tell which pairs it completed, improved or replaced.

        `node` is the URL of an earlier page with the same text, if there is one.
        """
        self._languages[page.url] = page.language
        self._node_of[page.url] = node or page.url
        return self._weigh(each for detector in self._detectors for each in detector.add(page))

    def alias(self, source: str, target: str) -> Changes:
        """Learn that `source` leads to the page at `target`."""
        return self._weigh(
            each for detector in self._detectors for each in detector.alias(source, target)
        )

    def finish(self) -> Changes:
        """Settle everything once more, with all pages known."""
        return Changes()

    def candidates(self) -> Iterator[DocumentPair]:
        """Everything that was weighed, accepted or not."""
        for node, edges in self._edges.items():
            if self._languages[node] == self._pair.first.code:
                for other in edges:
                    yield self._pair_of(node, other)

    def _weigh(self, candidates: Iterable[Candidate]) -> Changes:
        changes = Changes()
        touched: dict[str, None] = {}
        for one, other, evidence in candidates:
            node, other_node = self._node_of[one], self._node_of[other]
            edge = self._edges[node].get(other_node)
            if edge is None:
                edge = self._edges[node][other_node] = self._edges[other_node][node] = _Edge()
            paired = self._partner.get(node) == other_node
            before = self._pair_of(node, other_node) if paired else None
            urls = (one, other) if self._languages[one] == self._pair.first.code else (other, one)
            if not edge.add(urls, evidence):
                continue
            touched[node] = None
            if before is not None:
                self._tell_renewed(before, self._pair_of(node, other_node), changes)
        self._settle(list(touched), changes)
        return changes

    def _tell_renewed(self, before: DocumentPair, now: DocumentPair, changes: Changes) -> None:
        """A pair that stands has got better evidence, perhaps under another URL."""
        if (before.first, before.second) != (now.first, now.second):
            changes.drop(before)
            changes.add(now)
        changes.better_explained = True

    def _settle(self, nodes: list[str], changes: Changes) -> None:
        """Give each node the best partner that it can win, and so on for the displaced."""
        while nodes:
            node = nodes.pop()
            edges = sorted(
                ((edge.rank, other) for other, edge in self._edges[node].items()), reverse=True
            )
            for rank, other in edges:
                if rank[0] < ACCEPT or not self._wins(node, rank):
                    break
                if self._wins(other, rank):
                    nodes.extend(self._join(node, other, changes))
                    break

    def _wins(self, node: str, rank: Rank) -> bool:
        partner = self._partner.get(node)
        return partner is None or rank > self._edges[node][partner].rank

    def _join(self, node: str, other: str, changes: Changes) -> list[str]:
        displaced = []
        for each in (node, other):
            partner = self._partner.pop(each, None)
            if partner is not None:
                changes.drop(self._pair_of(each, partner))
                del self._partner[partner]
                displaced.append(partner)
        self._partner[node], self._partner[other] = other, node
        changes.add(self._pair_of(node, other))
        return displaced

    def _pair_of(self, node: str, other: str) -> DocumentPair:
        edge = self._edges[node][other]
        evidence = tuple(edge.evidence[edge.best].values())
        return DocumentPair(*edge.best, self._pair.codes, evidence)
