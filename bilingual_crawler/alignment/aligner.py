"""Two texts to beads with scores: overlaps gathered, the cheapest way searched, finds judged."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from bilingual_crawler.alignment.beads import Bead
from bilingual_crawler.alignment.costs import BeadCosts, Floats, SentenceSide, Weighed
from bilingual_crawler.alignment.lexicon import Lexicon
from bilingual_crawler.alignment.overlap import (
    Overlap,
    anchor_overlap,
    lexicon_overlap,
    vector_overlap,
)
from bilingual_crawler.alignment.path import cheapest_beads
from bilingual_crawler.alignment.scores import scores
from bilingual_crawler.alignment.segment import Segment
from bilingual_crawler.alignment.weights import FIRST_PASS, SECOND_PASS, Weights

BAND = 100
"""How many sentences off the expected way the search looks at first."""

Encoder = Callable[[list[str]], Floats]
"""Gives sentences vectors, a row each, that are near each other for the same meaning."""


class Scored(NamedTuple):
    """A bead, and how sure it is that its sides are translations, from 0 to 1."""

    bead: Bead
    score: float


class Aligner:
    """Aligns texts of two languages with what is known of them.

    Without a lexicon this is the first pass, with one the second.
    """

    def __init__(
        self,
        lexicon: Lexicon | None = None,
        encoder: Encoder | None = None,
        weights: Weights | None = None,
    ) -> None:
        self._lexicon, self._encoder = lexicon, encoder
        self.weights = weights or (FIRST_PASS if lexicon is None else SECOND_PASS)

    def align(self, first: Sequence[Segment], second: Sequence[Segment]) -> list[Scored]:
        """Beads that cover both texts, each sentence once and in order.

        Beads without text on one side have the score 0.
        """
        if not first or not second:
            alone = [Bead(at, at + 1, 0, 0) for at in range(len(first))]
            alone += [Bead(0, 0, at, at + 1) for at in range(len(second))]
            return [Scored(bead, 0.0) for bead in alone]
        overlaps = self._overlaps(first, second)
        costs = BeadCosts(
            SentenceSide.of(first), SentenceSide.of(second), self.weights, list(overlaps.values())
        )
        beads, _ = cheapest_beads(costs, costs.expected(), BAND)
        judged = self.judge(beads, costs, {name: each.overlap for name, each in overlaps.items()})
        return list(map(Scored, beads, judged))

    def judge(
        self, beads: Sequence[Bead], costs: BeadCosts, overlaps: Mapping[str, Overlap]
    ) -> list[float]:
        """The scores of beads that were found; measurements look in here."""
        return scores(beads, costs, overlaps)

    def _overlaps(self, first: Sequence[Segment], second: Sequence[Segment]) -> dict[str, Weighed]:
        weights, found = self.weights, {}
        texts1, texts2 = [each.text for each in first], [each.text for each in second]
        if weights.anchors:
            anchored = anchor_overlap(texts1, texts2)
            found["anchors"] = Weighed(anchored, weights.anchors, weights.anchors_expected)
        if self._lexicon is not None and weights.lexicon:
            known = lexicon_overlap(texts1, texts2, self._lexicon)
            found["lexicon"] = Weighed(known, weights.lexicon, weights.lexicon_expected)
        if self._encoder is not None:
            vectors = vector_overlap(self._encoder(texts1), self._encoder(texts2))
            found["vectors"] = Weighed(vectors, weights.vectors, weights.vectors_expected)
        return found
