"""When discovery learns, and what it makes of it: the two classifiers and their iterations.

Examples are taken in as they come. They count from the first iteration on: after a number of
pages, and again each time as many have come, everything that waits is ranked anew.
"""

import math
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from enum import StrEnum

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


MOST_KEPT = 2_000
STEPS = 20
LEAST_SLOPE = 0.05
"""A score that turned out to say nothing, or the contrary, keeps the order it gives."""
RIDGE = 1.0
"""How much it takes to move from the scores as they are, in outcomes."""


class Calibration:
    """A sigmoid over the scores of one classifier; at first the scores as they are."""

    def __init__(self) -> None:
        self.slope, self.offset = 1.0, 0.0
        self._kept: deque[tuple[float, bool]] = deque(maxlen=MOST_KEPT)

    def note(self, score: float, relevant: bool) -> None:
        """Keep what was said of a link, and what it was."""
        self._kept.append((score, relevant))

    def fit(self) -> None:
        """Find the sigmoid that makes the outcomes likeliest, by Newton's steps.

        The slope is drawn towards 1 and the offset towards 0, as far as outcomes are few.
        """
        slope, offset = self.slope, self.offset
        for _ in range(STEPS):
            by_slope, by_offset = RIDGE * (slope - 1), RIDGE * offset
            slope2, both, offset2 = RIDGE, 0.0, RIDGE
            for score, relevant in self._kept:
                chance = math.exp(_log_sigmoid(slope * score + offset))
                error, weight = chance - relevant, chance * (1 - chance)
                by_slope += error * score
                by_offset += error
                slope2 += weight * score * score
                both += weight * score
                offset2 += weight
            determinant = slope2 * offset2 - both * both
            slope -= (offset2 * by_slope - both * by_offset) / determinant
            offset -= (slope2 * by_offset - both * by_slope) / determinant
            slope = min(max(slope, LEAST_SLOPE), 1.0)
        self.slope, self.offset = slope, offset

    def log_probability(self, score: float) -> float:
        """The logarithm of P(relevant), exact also where the probability is all but 1."""
        return _log_sigmoid(self.slope * score + self.offset)


def _log_sigmoid(score: float) -> float:
    return -math.log1p(math.exp(-score)) if score > 0 else score - math.log1p(math.exp(score))


CHECK_PRIORITY = 2.0
"""Pages of sites under examination: they end soon, and keep memory while they do not."""

NO_PRIORITY = math.log(0.5)
"""Links of both queues before anything was learned: first come, first served."""


REMEMBERED = 200
"""Downloads after which what hubs have been worth is forgotten to a third."""
LEAST_FOUND = 0.1


class Queue(StrEnum):
    """Where a link waits."""

    BACKLINK = "backlink"
    FORWARD = "forward"


class HubWorth:
    """What good hubs have been worth: the sites found through them against the downloads.

    What is long past counts less and less: the sites that are easy to find are found first.
    It begins with one find in two downloads, which a few hubs soon correct.
    """

    def __init__(self) -> None:
        self._found, self._downloads = 1.0, 2.0

    def add(self, found: int, downloads: int) -> None:
        """Count what a good hub, or a link of one, has cost and brought."""
        kept = math.exp(-downloads / REMEMBERED)
        self._found = self._found * kept + found
        self._downloads = self._downloads * kept + downloads

    @property
    def a_download(self) -> float:
        """Bilingual sites for each download; a little, where there were none."""
        return max(self._found, LEAST_FOUND) / self._downloads


def priority(queue: Queue, chance: float, worth: HubWorth) -> float:
    """Where a link stands in the order of both queues; `chance` is the log of its probability."""
    return chance if queue is Queue.FORWARD else chance + math.log(worth.a_download)


FEWEST = 3
"""Examples of each kind that a classifier must have before it is asked."""


class Learner:
    """Both classifiers; before the first iteration all links are worth the same."""

    def __init__(self, learn_after: int, *, learns: bool = True, pages: int = 0) -> None:
        self._learn_after = learn_after
        self._learns = learns
        self._classifiers = {queue: NaiveBayes() for queue in Queue}
        self._calibrations = {queue: Calibration() for queue in Queue}
        self.pages = pages
        """Pages that were read."""
        self.learned = learns and pages >= learn_after

    def teach(self, queue: Queue, words: tuple[str, ...], relevant: bool) -> None:
        """Take in where a link has led."""
        if not (self._learns and words):
            return
        classifier = self._classifiers[queue]
        if min(classifier.examples) >= FEWEST:
            self._calibrations[queue].note(classifier.log_odds(words), relevant)
        classifier.learn(words, relevant)

    def page_read(self) -> bool:
        """Count a page; whether it is time to rank everything anew is told."""
        self.pages += 1
        is_time = self._learns and self.pages % self._learn_after == 0
        if is_time:
            self.learned = True
            self.calibrate()
        return is_time

    def calibrate(self) -> None:
        """Weigh what the classifiers have said by what came of it."""
        for calibration in self._calibrations.values():
            calibration.fit()

    def priority(self, queue: Queue, words: tuple[str, ...], worth: HubWorth) -> float:
        """Where a link stands in the order of both queues."""
        classifier = self._classifiers[queue]
        if not self.learned or min(classifier.examples) < FEWEST:
            return NO_PRIORITY
        chance = self._calibrations[queue].log_probability(classifier.log_odds(words))
        return priority(queue, chance, worth)

    def strongest(self, queue: Queue, most: int) -> list[tuple[str, float]]:
        """The words that speak most for a link, for people to read."""
        return self._classifiers[queue].strongest(most)
