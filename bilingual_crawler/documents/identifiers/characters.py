"""A model of the spelling of a language: how likely a word is, letter by letter.

Each letter is predicted from up to four before it, with the interpolation of Witten and Bell, which
is the usual choice for little text (as in PPM). Words stand alone, with their beginning and end, so
that the short words of a language ("af", "da") are whole sequences. No library fits: those that
identify languages have fixed models, and general ones for n-grams work on words.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping

from bilingual_crawler.languages.normal_forms import MARKS

LONGEST_CONTEXT = 4
ALPHABET = 200
"""Letters that may follow if nothing is known."""
LONGEST_WORD = 30
BEGIN, END = "\x02", "\x03"
_LETTERS = rf"(?:[^\W\d_]|[{MARKS}])"
_WORDS = re.compile(
    rf"{_LETTERS}{{1,{LONGEST_WORD}}}(?:['\u2019\u02bc\u00b7-]{_LETTERS}{{1,{LONGEST_WORD}}})*"
)


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, without numbers."""
    return [word[:LONGEST_WORD] for word in _WORDS.findall(text.lower())]


class SpellingModel:
    """Learned from the words of a text with their counts."""

    def __init__(self, words: Mapping[str, int] | Iterable[str]) -> None:
        self._seen: Counter[str] = Counter()
        self._totals: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()
        for word, count in Counter(words).items():
            self._learn(f"{BEGIN}{word}{END}", count)

    def _learn(self, text: str, count: int) -> None:
        for end in range(1, len(text)):
            for start in range(end, max(-1, end - LONGEST_CONTEXT - 1), -1):
                sequence, context = text[start : end + 1], text[start:end]
                if sequence not in self._seen:
                    self._kinds[context] += 1
                self._seen[sequence] += count
                self._totals[context] += count

    def log_probability(self, word: str) -> float:
        """Return the logarithm of the probability of a word."""
        text = f"{BEGIN}{word}{END}"
        seen, totals, kinds = self._seen, self._totals, self._kinds
        result = 0.0
        for end in range(1, len(text)):
            probability = 1 / ALPHABET
            for start in range(end, max(-1, end - LONGEST_CONTEXT - 1), -1):
                context = text[start:end]
                total = totals.get(context)
                if not total:
                    break
                kind = kinds[context]
                times = seen.get(text[start : end + 1], 0)
                probability = (times + kind * probability) / (total + kind)
            result += math.log(probability)
        return result
