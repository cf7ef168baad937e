"""What the word of a classifier is worth: its scores made into probabilities that hold.

Naive Bayes takes words for independent. A word that stands in the anchor, in the host and
around the link counts three times, so its odds are far too sure of themselves. Within a queue
that does no harm, since the order stays; between two queues it does. So each score that was
given before the outcome was known is kept with the outcome, and Platt's sigmoid is fitted to
them: P(relevant) = 1 / (1 + exp(-(slope * score + offset))).
"""

import math
from collections import deque

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
