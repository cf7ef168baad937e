"""What a word list and a sentence model of the user's add to the odds of two pages.

The project ships neither, so the combined model has not learned what to make of them. Each
adds odds of its own instead: a straight line through the point where it says nothing, cut off
on both sides, so that it can decide where all else is in doubt and never outvotes everything.
`docs/experiments/pairing.md` has the measurement that the numbers are from.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from bilingual_crawler.pairing.dictionary import Dictionary
from bilingual_crawler.pairing.embeddings import Nearness, TextEmbedder
from bilingual_crawler.pairing.encoder import load_encoder
from bilingual_crawler.pairing.known_pages import KnownPage
from bilingual_crawler.pairing.pair import Evidence
from bilingual_crawler.pairing.similarity import passing
from bilingual_crawler.pairing.word_list import WordList

RESOURCES = ("dictionary", "embeddings")
"""The detectors that speak only where the user has a resource for them."""


class AgreementOdds(NamedTuple):
    """What an agreement beyond chance adds to the logarithm of the odds."""

    neutral: float
    """The agreement that speaks neither for nor against two pages."""
    slope: float
    least: float
    most: float

    def odds(self, beyond_chance: float) -> float:
        """The contribution; the greater the agreement, the greater."""
        return max(self.least, min(self.most, self.slope * (beyond_chance - self.neutral)))

    def score(self, beyond_chance: float) -> float:
        """From 0 to 1, at least 0.5 where the contribution is not negative."""
        return round(passing(beyond_chance, self.neutral), 3)


DICTIONARY = AgreementOdds(0.15, 10.0, 0.0, 3.0)
"""Never against two pages: a list that lacks their words, or their endings, is no sign."""
EMBEDDINGS = AgreementOdds(0.4, 8.0, -2.0, 3.0)


def read_resources(word_list: str, embeddings: str) -> tuple[WordList | None, TextEmbedder | None]:
    """The word list in a file and the sentence model of a name, each None where none is named."""
    words = WordList.read(word_list) if word_list else None
    embedder = TextEmbedder(load_encoder(embeddings), Path(embeddings).name) if embeddings else None
    return words, embedder


class Resources:
    """The user's resources, as far as they are asked."""

    def __init__(self, word_list: WordList | None, asked: Collection[str]) -> None:
        wanted = word_list if "dictionary" in asked else None
        self._dictionary = None if wanted is None else Dictionary(wanted)
        self._nearness = Nearness() if "embeddings" in asked else None

    def __bool__(self) -> bool:
        """Whether there is anything that could be said of any page."""
        return self._dictionary is not None or bool(self._nearness)

    def add(self, page: KnownPage) -> None:
        """Learn of one more page."""
        if self._dictionary is not None:
            self._dictionary.add(page)
        if self._nearness is not None:
            self._nearness.add(page)

    def forget(self) -> None:
        """Let what is common be counted anew."""
        if self._dictionary is not None:
            self._dictionary.forget()

    def odds(self, first: KnownPage, second: KnownPage) -> float:
        """What is added to the logarithm of the odds of two pages."""
        odds = 0.0
        if self._dictionary is not None:
            agreement = self._dictionary.compare(first, second)
            if agreement is not None:
                odds += DICTIONARY.odds(agreement.beyond_chance)
        if self._nearness is not None:
            near = self._nearness.compare(first, second)
            if near is not None:
                odds += EMBEDDINGS.odds(near)
        return odds

    def evidence(self, first: KnownPage, second: KnownPage) -> Iterator[Evidence]:
        """The same in words."""
        if self._dictionary is not None:
            agreement = self._dictionary.compare(first, second)
            if agreement is not None:
                why = (
                    f"{agreement.found} of the {agreement.known} words in the word list have their"
                    f" translation on the other page, {agreement.beyond_chance:.0%} beyond chance"
                )
                yield Evidence("dictionary", DICTIONARY.score(agreement.beyond_chance), why)
        if self._nearness is not None:
            near = self._nearness.compare(first, second)
            if near is not None:
                why = f"the sentence model finds the texts near, {near:.0%} beyond chance"
                yield Evidence("embeddings", EMBEDDINGS.score(near), why)
