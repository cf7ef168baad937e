"""How discovery learns which links to follow: two classifiers, calibrated, and two queues.

Examples are added as they come. They count from the first iteration on: after a number of pages,
and again each time as many have come, everything that waits is ranked again.

By default both queues share one frontier and are ordered by the same figure, so the frontier's own
order chooses between them (`turns.py` has the alternative): the logarithm of the bilingual sites
that a download is expected to find. A forward link finds one if its site is bilingual. A hub finds
none by itself; its worth shows in the sites that its links lead to, per download spent on it and on
them. So a link is worth

    forward:   P(its site is bilingual)
    backlink:  P(it is a good hub) * finds of good hubs / downloads for good hubs

In logarithms, two links that are both all but certain still have an order. Every such figure is
negative: pages of sites that are being harvested (0 and more) come first where their hosts are
free, and a site whose examination has begun is finished before another is begun.
"""

import math
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from enum import StrEnum

WEIGHT = 1_000.0
MOST_WORDS = 200_000
"""Words that are remembered; beyond that the rarest are forgotten."""


class NaiveBayes:
    """Naive Bayes over the words around links, learned one example at a time.

    Written here rather than taken from scikit-learn because it is two tables of counts: crawling
    needs no scikit-learn, the counts grow while the crawl runs, and each word's contribution can be
    shown. The examples are few and uneven (a few sites in a hundred are bilingual); adding one to
    every count would make each word that was seen once, beside an irrelevant link, speak for
    relevance. So a word starts with its share among all links, as if `weight` words had been seen
    in each class with these shares:

        P(word | class) = (n(word, class) + weight * n(word) / n) / (n(class) + weight)
    """

    def __init__(self, weight: float = WEIGHT, most_words: int = MOST_WORDS) -> None:
        self._weight = weight
        self._most_words = most_words
        self._examples = [0, 0]
        self._totals = [0, 0]
        self._counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())

    @property
    def examples(self) -> tuple[int, int]:
        """The numbers of irrelevant and relevant links it has learned from."""
        return self._examples[0], self._examples[1]

    def learn(self, words: Iterable[str], relevant: bool) -> None:
        """Learn from a link whose target is now known."""
        counts = self._counts[relevant]
        self._examples[relevant] += 1
        for word in words:
            counts[word] += 1
            self._totals[relevant] += 1
        if len(self._counts[0]) + len(self._counts[1]) > self._most_words:
            self._forget()

    def log_odds(self, words: Sequence[str]) -> float:
        """Return log(P(relevant) / P(irrelevant)); 0 before there are examples of both."""
        irrelevant, relevant = self._examples
        if not (irrelevant and relevant):
            return 0.0
        return math.log(relevant / irrelevant) + sum(map(self.says, words))

    def says(self, word: str) -> float:
        """Return what a word adds to the log-odds; 0 for a word that was never seen."""
        in_irrelevant, in_relevant = (counts.get(word, 0) for counts in self._counts)
        if not in_irrelevant + in_relevant:
            return 0.0
        share = (in_irrelevant + in_relevant) / sum(self._totals)
        prior = self._weight * share
        relevant = (in_relevant + prior) / (self._totals[1] + self._weight)
        irrelevant = (in_irrelevant + prior) / (self._totals[0] + self._weight)
        return math.log(relevant / irrelevant)

    def strongest(self, most: int) -> list[tuple[str, float]]:
        """Return the words that speak most for relevance, for reports."""
        said = ((word, self.says(word)) for word in self._counts[1])
        return sorted(said, key=lambda each: (-each[1], each[0]))[:most]

    def _forget(self) -> None:
        """Drop the rarest words until half the room is free; they say the least."""
        rarest = 1
        while sum(map(len, self._counts)) > self._most_words / 2:
            rare = [word for word, n in sum(self._counts, Counter()).items() if n <= rarest]
            for relevant, counts in enumerate(self._counts):
                self._totals[relevant] -= sum(counts.pop(word, 0) for word in rare)
            rarest += 1


MOST_KEPT = 2_000
STEPS = 20
LEAST_SLOPE = 0.05
"""A score that turned out to say nothing, or the opposite, keeps the order it gives."""
RIDGE = 1.0
"""The strength of the prior, in outcomes."""


class Calibration:
    """Makes the scores of one classifier into probabilities, with Platt's sigmoid.

    Naive Bayes takes words for independent. A word in the anchor, in the host and around the link
    counts three times, so its odds are far too extreme. Within a queue that does no harm, since the
    order stays; between two queues it does. So each score given before the outcome was known is
    kept with the outcome, and a sigmoid is fitted to them: P(relevant) = 1 / (1 + exp(-(slope *
    score + offset))). At first the scores are taken as they are.
    """

    def __init__(self) -> None:
        self.slope, self.offset = 1.0, 0.0
        self._kept: deque[tuple[float, bool]] = deque(maxlen=MOST_KEPT)

    def note(self, score: float, relevant: bool) -> None:
        """Record the score of a link and its outcome."""
        self._kept.append((score, relevant))

    def fit(self) -> None:
        """Fit the sigmoid that makes the outcomes most likely, with Newton's method.

        The prior draws the slope towards 1 and the offset towards 0 while outcomes are few.
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
        """Return log P(relevant), exact even where the probability is close to 1."""
        return _log_sigmoid(self.slope * score + self.offset)


def _log_sigmoid(score: float) -> float:
    return -math.log1p(math.exp(-score)) if score > 0 else score - math.log1p(math.exp(score))


CHECK_PRIORITY = 2.0
"""Pages of sites under examination come first: they end soon, and use memory until then."""

NO_PRIORITY = math.log(0.5)
"""Links of both queues before anything was learned: first come, first served."""


REMEMBERED = 200
"""Downloads after which the past worth of hubs has decayed to a third."""
LEAST_FOUND = 0.1


class Queue(StrEnum):
    """The two queues of links."""

    BACKLINK = "backlink"
    FORWARD = "forward"


class HubWorth:
    """The worth of good hubs: sites found through them per download.

    The distant past counts less and less: the sites that are easy to find are found first. It
    starts with one find in two downloads, which a few hubs soon correct.
    """

    def __init__(self) -> None:
        self._found, self._downloads = 1.0, 2.0

    def add(self, found: int, downloads: int) -> None:
        """Add what a good hub, or a link of one, has cost and found."""
        kept = math.exp(-downloads / REMEMBERED)
        self._found = self._found * kept + found
        self._downloads = self._downloads * kept + downloads

    @property
    def per_download(self) -> float:
        """Bilingual sites per download; a little, if there were none."""
        return max(self._found, LEAST_FOUND) / self._downloads


def priority(queue: Queue, chance: float, worth: HubWorth) -> float:
    """Return the priority of a link in both queues; `chance` is the log of its probability."""
    return chance if queue is Queue.FORWARD else chance + math.log(worth.per_download)


FEWEST = 3
"""Examples of each kind that a classifier needs before it is used."""


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
        """Learn where a link has led."""
        if not (self._learns and words):
            return
        classifier = self._classifiers[queue]
        if min(classifier.examples) >= FEWEST:
            self._calibrations[queue].note(classifier.log_odds(words), relevant)
        classifier.learn(words, relevant)

    def page_read(self) -> bool:
        """Count a page; return True if it is time to rank everything again."""
        self.pages += 1
        is_time = self._learns and self.pages % self._learn_after == 0
        if is_time:
            self.learned = True
            self.calibrate()
        return is_time

    def calibrate(self) -> None:
        """Calibrate the classifiers with the outcomes of their scores."""
        for calibration in self._calibrations.values():
            calibration.fit()

    def priority(self, queue: Queue, words: tuple[str, ...], worth: HubWorth | None) -> float:
        """Return the priority of a link among all; without `worth`, among those of its queue."""
        classifier = self._classifiers[queue]
        if not self.learned or min(classifier.examples) < FEWEST:
            return NO_PRIORITY
        chance = self._calibrations[queue].log_probability(classifier.log_odds(words))
        return chance if worth is None else priority(queue, chance, worth)

    def strongest(self, queue: Queue, most: int) -> list[tuple[str, float]]:
        """Return the words that speak most for a link, for reports."""
        return self._classifiers[queue].strongest(most)
