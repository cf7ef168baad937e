"""Turns the evidence for two nodes into a probability, a refusal and an explanation."""

from bilingual_crawler.pairing.comparison import rivalry
from bilingual_crawler.pairing.edges import Edge
from bilingual_crawler.pairing.model import PairModel, probability
from bilingual_crawler.pairing.one_to_one import ACCEPT
from bilingual_crawler.pairing.pair import DocumentPair, Evidence
from bilingual_crawler.pairing.substance import SubstanceModel
from bilingual_crawler.pairing.weighing import Weigher


class EdgeJudge:
    """Judges edges by the weights of a `Weigher`.

    `substance` decides which counterparts are no pairs; without it all of them are.
    """

    def __init__(
        self, weigher: Weigher, model: PairModel, substance: SubstanceModel | None
    ) -> None:
        self._weigher = weigher
        self._model = model
        self._substance = substance

    def judge(self, edge: Edge, rivals: tuple[float, float]) -> None:
        """Set the probability of a candidate, in view of its rivals.

        The lexicon is asked last, and only where its answer may matter.
        """
        base, alike = edge.verdict.base, edge.verdict.likeness
        if not edge.verdict.is_final:
            base = self._model.odds(base, rivalry(alike, *rivals))
            if edge.learned is None:
                edge.learned = self._weigher.learned(edge.verdict.urls, base)
            base += edge.learned or 0.0
        edge.probability, edge.outvoted, edge.support = probability(base), False, ()
        if edge.refused is None and edge.probability >= ACCEPT:
            self.look_inside(edge)

    def judge_alone(self, edge: Edge) -> None:
        """Set the probability of a candidate as if there were no others."""
        base = edge.verdict.base
        if not edge.verdict.is_final:
            edge.learned = self._weigher.learned(edge.verdict.urls)
            base = self._model.odds(base, rivalry(edge.verdict.likeness, 0.0, 0.0))
        edge.probability = probability(base + (edge.learned or 0.0))
        self.look_inside(edge)

    def look_inside(self, edge: Edge) -> None:
        """Ask whether two counterparts hold translated content."""
        substance = self._weigher.substance(edge.verdict.urls)
        edge.refused = ""
        if substance is not None:
            edge.translated_share = substance.translated_share
            if self._substance is not None:
                edge.refused = substance.why_refused(self._substance)

    def described(self, edge: Edge, codes: tuple[str, str]) -> DocumentPair:
        """Return an edge as a pair, with all of its evidence."""
        evidence = self._weigher.explain(
            edge.verdict.urls, edge.model, learned=edge.learned is not None
        )
        return DocumentPair(
            *edge.verdict.urls,
            codes,
            (*evidence, *(Evidence(*each) for each in edge.support)),
            edge.probability,
            edge.translated_share,
            edge.refused or "",
        )
