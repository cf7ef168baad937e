"""A scorer of yields with a topic: each score times the odds of a page on topic.

Scores of `adaptive` and `smart` are the expected yield of a download, so that they can be
multiplied by the probability that the page is on topic. That is learned from the crawl itself: a
link is of one of a few kinds (is its page about the topic, is the text around it, does it lead to
that page in the other language), and the share of links of each kind that led to a page on topic is
known after a few pages. Until then a usual share is assumed.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgpack

from bilingual_crawler.documents.document import Document, Link
from bilingual_crawler.documents.switches import languages_of_link
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.scoring.scorer import Factor, LinkScorer, Proposal
from bilingual_crawler.urls.fingerprint import url_fingerprint

USUAL = {
    "plain": (0.05, 0.1, 0.25),
    "near": (0.3, 0.35, 0.5),
    "crossing": (0.03, 0.2, 0.85),
}
"""The initial share of links of each kind that lead to a page on topic: from a page without terms,
with too few, on topic.
"""
BELIEVED = 5.0
"""How many pages that is worth."""
MOST_REMEMBERED = 500_000
"""The most waiting links of better kinds than the worst; any others count as the worst."""


class LinkKind(NamedTuple):
    """What is known about a link: its place on its page, and how much that is about the topic."""

    place: str
    page: int


LEAST = LinkKind("plain", 0)
KINDS = tuple(
    LinkKind(place, page) for place, shares in USUAL.items() for page in range(len(shares))
)


class TopicOdds:
    """How likely links of each kind lead to a page on topic, as this crawl has seen it."""

    def __init__(self) -> None:
        self._seen = [0] * len(KINDS)
        self._on_topic = [0] * len(KINDS)
        self._waiting: dict[int, int] = {}

    def of(self, kind: LinkKind) -> float:
        """Return the share for a kind of link: the usual one, weighed with what was seen."""
        at = KINDS.index(kind)
        usual = BELIEVED * USUAL[kind.place][kind.page]
        return (usual + self._on_topic[at]) / (BELIEVED + self._seen[at])

    def best_of(self, url: str, kind: LinkKind) -> LinkKind:
        """Record a link; of several to one URL the most promising counts."""
        fingerprint = url_fingerprint(url)
        if fingerprint in self._waiting:
            known = KINDS[self._waiting[fingerprint]]
            if self.of(kind) <= self.of(known):
                return known
        elif kind == LEAST or len(self._waiting) >= MOST_REMEMBERED:
            return LEAST
        self._waiting[fingerprint] = KINDS.index(kind)
        return kind

    def kind_of(self, url: str) -> LinkKind:
        """Return what is known about a waiting URL."""
        return KINDS[self._waiting.get(url_fingerprint(url), KINDS.index(LEAST))]

    def learn(self, url: str, on_topic: bool) -> None:
        """Learn from a page that has come."""
        at = self._waiting.pop(url_fingerprint(url), KINDS.index(LEAST))
        self._seen[at] += 1
        self._on_topic[at] += on_topic

    def pack(self) -> tuple[object, ...]:
        """Return what was learned, for msgpack."""
        return self._seen, self._on_topic, self._waiting

    def unpack(self, packed: Sequence[object]) -> None:
        """Continue from what was packed."""
        seen, on_topic, waiting = packed
        if not (
            isinstance(seen, list) and isinstance(on_topic, list) and isinstance(waiting, dict)
        ):
            raise TypeError("not the odds of a topic")
        self._seen, self._on_topic, self._waiting = seen, on_topic, waiting


class TopicalScorer(LinkScorer):
    """Another scorer, whose scores are multiplied by the odds of a page on topic."""

    def __init__(self, base: LinkScorer) -> None:
        super().__init__(base.languages, base.crawl, base.config)
        self._base = base
        self._odds = TopicOdds()

    def score(self, document: Document, links: Sequence[Link]) -> list[float]:
        """Return the other scorer's scores, times the odds."""
        scores = self._base.score(document, links)
        kinds = (self._odds.best_of(link.url, self._kind(document, link)) for link in links)
        return [score * self._odds.of(kind) for score, kind in zip(scores, kinds, strict=True)]

    def explain(self, document: Document, link: Link) -> tuple[float, list[Factor]]:
        """Return the other scorer's factors, and the odds."""
        score, factors = self._base.explain(document, link)
        kind = self._odds.best_of(link.url, self._kind(document, link))
        odds = self._odds.of(kind)
        return score * odds, [*factors, Factor("topic", odds, WHY[kind.place] + PAGES[kind.page])]

    def weight_of(self, document: Document) -> float:
        """Return the other scorer's weight."""
        return self._base.weight_of(document)

    def arrived(self, document: Document) -> None:
        """Learn whether a page is on topic."""
        on_topic = document.topic is not None and document.topic.on_topic
        self._odds.learn(document.requested_url or document.url, on_topic)
        self._base.arrived(document)

    def found(self, pair: DocumentPair, kept: bool) -> None:
        """Pass it on to the other scorer."""
        self._base.found(pair, kept)

    def failed(self, url: str, reason: str) -> None:
        """Pass it on to the other scorer."""
        self._base.failed(url, reason)

    def redirected(self, source: str, target: str) -> None:
        """Pass it on to the other scorer."""
        self._base.redirected(source, target)

    def proposals(self) -> list[Proposal]:
        """Return the other scorer's proposals, with scores that can be compared with the rest."""
        return [
            each._replace(score=each.score * self._odds_of(each.url))
            for each in self._base.proposals()
        ]

    def changes(self) -> list[tuple[str, float]]:
        """Return the other scorer's changes, times the odds."""
        return [(url, score * self._odds_of(url)) for url, score in self._base.changes()]

    def exhausted(self) -> list[str]:
        """Return the other scorer's answer."""
        return self._base.exhausted()

    def state(self) -> bytes:
        """Return what both have learned."""
        packed: bytes = msgpack.packb((self._odds.pack(), self._base.state()))
        return packed

    def restore(self, state: bytes) -> None:
        """Continue from what both had learned."""
        try:
            odds, base = msgpack.unpackb(state, strict_map_key=False)
            self._odds.unpack(odds)
        except (TypeError, ValueError, msgpack.UnpackException) as error:
            raise ValueError(f"not what a crawl with a topic has learned: {error}") from error
        if base is not None:
            self._base.restore(base)

    def _odds_of(self, url: str) -> float:
        return self._odds.of(self._odds.kind_of(url))

    def _kind(self, document: Document, link: Link) -> LinkKind:
        relevance = document.topic
        page = 0 if relevance is None else bool(relevance.hits) + relevance.on_topic
        if languages_of_link(link) & (self.wanted(document) - {document.language}):
            return LinkKind("crossing", page)
        return LinkKind("near" if self.topic_around(document, link) else "plain", page)


WHY = {
    "plain": "no terms of the topic around the link, ",
    "near": "terms of the topic around the link, ",
    "crossing": "the link leads to the other language, ",
}
PAGES = ("on a page without any", "on a page with some", "on a page that is on topic")
