"""When discovery learns, and what it makes of it: the two classifiers and their iterations.

Examples are taken in as they come. They count from the first iteration on: after a number of
pages, and again each time as many have come, everything that waits is ranked anew.
"""

from bilingual_crawler.discovery.calibration import Calibration
from bilingual_crawler.discovery.naive_bayes import NaiveBayes
from bilingual_crawler.discovery.queues import NO_PRIORITY, HubWorth, Queue, priority

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
