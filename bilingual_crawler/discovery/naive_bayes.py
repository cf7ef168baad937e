"""Naive Bayes over words, learned one example at a time.

Written here rather than taken from scikit-learn because it is two tables of counts: crawling
needs no scikit-learn, the counts grow while the crawl runs, and a word can be asked what it
says. The examples are few and uneven (of a hundred sites a few are bilingual), where adding
one to every count would make each word that was seen once, beside an irrelevant link, speak
for relevance. So a word begins with the share that it has among all links, as if `weight`
words had been seen in each class with just these shares:

    P(word | class) = (n(word, class) + weight * n(word) / n) / (n(class) + weight)
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

WEIGHT = 1_000.0
MOST_WORDS = 200_000
"""Words that are remembered; beyond that the rarest are forgotten."""


class NaiveBayes:
    """Tells how likely links are relevant from the words of their neighbourhood."""

    def __init__(self, weight: float = WEIGHT, most_words: int = MOST_WORDS) -> None:
        self._weight = weight
        self._most_words = most_words
        self._examples = [0, 0]
        self._totals = [0, 0]
        self._counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())

    @property
    def examples(self) -> tuple[int, int]:
        """How many irrelevant and how many relevant links it was taught."""
        return self._examples[0], self._examples[1]

    def learn(self, words: Iterable[str], relevant: bool) -> None:
        """Take in a link of which it is known now where it led."""
        counts = self._counts[relevant]
        self._examples[relevant] += 1
        for word in words:
            counts[word] += 1
            self._totals[relevant] += 1
        if len(self._counts[0]) + len(self._counts[1]) > self._most_words:
            self._forget()

    def log_odds(self, words: Sequence[str]) -> float:
        """The logarithm of P(relevant) / P(irrelevant); 0 before there are both kinds."""
        irrelevant, relevant = self._examples
        if not (irrelevant and relevant):
            return 0.0
        return math.log(relevant / irrelevant) + sum(map(self.says, words))

    def log_probability(self, words: Sequence[str]) -> float:
        """The logarithm of P(relevant), exact also where the probability is all but 1."""
        odds = self.log_odds(words)
        return -math.log1p(math.exp(-odds)) if odds > 0 else odds - math.log1p(math.exp(odds))

    def says(self, word: str) -> float:
        """What a word adds to the log odds; a word that was never seen says nothing."""
        in_irrelevant, in_relevant = (counts.get(word, 0) for counts in self._counts)
        if not in_irrelevant + in_relevant:
            return 0.0
        share = (in_irrelevant + in_relevant) / sum(self._totals)
        prior = self._weight * share
        relevant = (in_relevant + prior) / (self._totals[1] + self._weight)
        irrelevant = (in_irrelevant + prior) / (self._totals[0] + self._weight)
        return math.log(relevant / irrelevant)

    def strongest(self, most: int) -> list[tuple[str, float]]:
        """The words that speak most for relevance, for people to read."""
        said = ((word, self.says(word)) for word in self._counts[1])
        return sorted(said, key=lambda each: (-each[1], each[0]))[:most]

    def _forget(self) -> None:
        """Let go of the rarest words, until half the room is free; they say the least."""
        rarest = 1
        while sum(map(len, self._counts)) > self._most_words / 2:
            rare = [word for word, n in sum(self._counts, Counter()).items() if n <= rarest]
            for relevant, counts in enumerate(self._counts):
                self._totals[relevant] -= sum(counts.pop(word, 0) for word in rare)
            rarest += 1
