"""Uses taught languages beside another identifier, without harm to the languages that it knows.

The other identifier is always asked first. A taught language is only considered where that answers
nothing or one of its neighbours, and it overrules only where the text is far enough from all
neighbours, and near enough to the taught text, by thresholds that were measured when it was taught.
"""

from collections.abc import Sequence

from bilingual_crawler.documents.identifiers.characters import SpellingModel, words_of
from bilingual_crawler.documents.identifiers.teaching import (
    Comparison,
    NearLanguage,
    TaughtLanguage,
    model_of,
)
from bilingual_crawler.documents.language import Identification, LanguageIdentifier

LONGEST_TEXT = 20_000
"""Characters of a page that are compared."""
MARGIN = 4.0
"""How much more likely (as a logarithm) a text must be than asked for, so that a short one of a
few words stays undecided."""
LEAST_SHARE = 20
"""Percent of a page in a neighbour at which a taught language is considered."""
WHOLE = 95


class _Judge:
    """Compares texts with one taught language."""

    def __init__(self, taught: TaughtLanguage, others: Sequence[TaughtLanguage]) -> None:
        self.code = taught.code
        self.confused = {each.code for each in taught.neighbours} | set(taught.guesses)
        self.confused |= {taught.code}
        self._taught = taught
        rivals = {each.code: each for each in taught.neighbours}
        rivals |= {each.code: NearLanguage(each.code, each.lines) for each in others}
        models = [model_of(each) for each in rivals.values()]
        self._compare = Comparison(SpellingModel(words_of("\n".join(taught.lines))), models)

    def certainty(self, text: str) -> float:
        """Return by how much a text is above the threshold: the sum over its letters."""
        gain, fit, letters = self._compare(words_of(text))
        if not letters or fit < self._taught.floor * letters:
            return -MARGIN if letters else 0.0
        return gain - self._taught.threshold * letters


class TaughtIdentifier(LanguageIdentifier):
    """Asks another identifier, and then whether its answer is a taught language instead."""

    def __init__(self, base: LanguageIdentifier, taught: Sequence[TaughtLanguage]) -> None:
        self._base = base
        self._judges = [
            _Judge(each, [other for other in taught if other.code != each.code]) for each in taught
        ]
        self._codes = {each.code for each in taught}

    def identify(self, text: str, hints: Sequence[str] = (), domain: str = "") -> Identification:
        """Return what the other identifier says, unless the text is in a taught language."""
        answer = self._base.identify(text, hints, domain)
        possible = {code for code, percent in answer.shares if percent >= LEAST_SHARE}
        judges = [
            judge
            for judge in self._judges
            if not possible or not judge.confused.isdisjoint(possible)
        ]
        if not judges or not text.strip():
            return answer
        return self._weighed(text, answer, judges, hints, domain)

    def knows(self, code: str) -> bool:
        """Return True for taught languages, and for those that the other identifier knows."""
        return code in self._codes or self._base.knows(code)

    def _weighed(
        self,
        text: str,
        answer: Identification,
        judges: Sequence[_Judge],
        hints: Sequence[str],
        domain: str,
    ) -> Identification:
        """Return the shares of taught languages by lines, and those of the rest."""
        lines = [line for line in text[:LONGEST_TEXT].splitlines() if line.strip()]
        whole = "\n".join(lines)
        judge = max(judges, key=lambda each: each.certainty(whole))
        sure = [judge.certainty(line) for line in lines]
        own = sum(len(line) for line, each in zip(lines, sure, strict=True) if each >= MARGIN)
        other = sum(len(line) for line, each in zip(lines, sure, strict=True) if each <= -MARGIN)
        mostly = judge.certainty(whole) >= MARGIN if own == other else own > other
        least = -MARGIN if mostly else MARGIN  # what is undecided goes with most of the page
        rest = [line for line, each in zip(lines, sure, strict=True) if not each > least]
        percent = 100 - round(100 * sum(map(len, rest)) / max(1, sum(map(len, lines))))
        if percent >= WHOLE:
            return Identification(reliable=True, shares=[(judge.code, 100)])
        if percent <= 100 - WHOLE:
            return answer
        left = self._base.identify("\n".join(rest), hints, domain).shares
        shares = [(judge.code, percent)]
        shares += [(code, round(part * (100 - percent) / 100)) for code, part in left]
        known = [(code, part) for code, part in shares if part]
        return Identification(reliable=False, shares=sorted(known, key=lambda each: -each[1]))
