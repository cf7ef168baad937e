"""Which of two languages a short text is in, by the words of the crawl itself.

An identifier that knows every language of the world is often wrong about six words with a name
among them. Here only two languages are possible, and the documents of the crawl show how each is
written on these sites. So the words of both sides are counted, and a word speaks for the side
where it is more frequent. A word that was not seen speaks by its first and last letters. Sentences
that are the same on both sides of a document are not counted: they were not translated.

The identifier still has its say about longer texts: it knows third languages, which the crawl does
not, and it is all there is while the crawl is small.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property

from bilingual_crawler.documents.language import CLD2, sure_language

MOST_WORDS = 2_000_000
"""Words of each side that are counted; more would change little."""
LEAST_WORDS = 300
"""With fewer words on a side the crawl says nothing."""
LONGEST_WORD = 40
SMOOTHING = 0.5
STRONGEST = 4.0
STRONGEST_ENDS = 1.5
"""The most that a word says: a known one, and one that is known by its ends only."""
CLEAR = 0.7
"""A word that says less than this is a name, a number, or common to both languages."""
OWN, FOREIGN = 3.0, -3.0
"""Sums in nats from which on the words decide."""
FOREIGN_SHARE = 0.6
"""The share of the clear words that must be foreign."""
LEAST_CHARACTERS, LEAST_CHARACTERS_FOR_THIRD = 40, 100
"""The identifier needs this many to tell the two languages, and this many to tell any other."""

_WORD = re.compile(r"[^\W\d_]+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


class Vocabularies:
    """The words of the two sides of a crawl, and what each says about the language of a text."""

    def __init__(self, lang1: str, lang2: str) -> None:
        self.languages = lang1, lang2
        self._counts: tuple[Counter[str], Counter[str]] = Counter(), Counter()
        self._sizes = [0, 0]
        self._known: dict[str, float] = {}

    def learn(self, first: Iterable[str], second: Iterable[str]) -> None:
        """Count the words of two documents that are translations of each other."""
        texts = list(first), list(second)
        if min(self._sizes) >= MOST_WORDS:
            return
        shared = set(texts[0]) & set(texts[1])
        for side, sentences in enumerate(texts):
            found = [word for text in sentences if text not in shared for word in _words(text)]
            self._counts[side].update(found)
            self._sizes[side] += len(found)

    @property
    def is_enough(self) -> bool:
        """True if there are enough words to judge by."""
        return min(self._sizes) >= LEAST_WORDS

    def nats(self, text: str) -> list[float]:
        """Return what each word says: above 0 for the first language, below 0 for the second."""
        known, found = self._known, []
        for word in _words(text):
            says = known.get(word)
            if says is None:
                says = known[word] = self._says(word)
            found.append(says)
        return found

    def is_foreign(self, text: str, side: int) -> bool:
        """Return True if a text of one side (0 or 1) is in the other's language, or in a third."""
        total, foreign, clear = 0.0, 0, 0
        if self.is_enough:
            sign = 1 if side == 0 else -1
            for each in self.nats(text):
                total += sign * each
                clear += abs(each) >= CLEAR
                foreign += sign * each <= -CLEAR
            if total >= OWN and 2 * foreign < clear:
                return False
            if total <= FOREIGN and foreign >= FOREIGN_SHARE * clear:
                return True
        return self._is_foreign_to_all(text, side, total)

    def _is_foreign_to_all(self, text: str, side: int, total: float) -> bool:
        """Return what the identifier says where the words of the crawl do not decide."""
        if len(text) < LEAST_CHARACTERS and not _UNSPACED.search(text):
            return False
        found = sure_language(text)
        if found is None or found == self.languages[side]:
            return False
        if found == self.languages[1 - side]:
            return total <= 0
        return len(text) >= LEAST_CHARACTERS_FOR_THIRD and CLD2.knows(self.languages[side])

    def tell_apart(self, text1: str, text2: str) -> bool:
        """Return True if what differs between two similar texts is in their own languages."""
        if not self.is_enough:
            return False
        words1, words2 = set(_words(text1)), set(_words(text2))
        only1 = sum(self.nats(" ".join(words1 - words2)))
        only2 = sum(self.nats(" ".join(words2 - words1)))
        return only1 >= CLEAR and only2 <= -CLEAR

    def _says(self, word: str) -> float:
        seen1, seen2 = self._counts[0][word], self._counts[1][word]
        if seen1 or seen2:
            return _bounded(_log_ratio(seen1, seen2, *self._sizes), STRONGEST)
        ends1, ends2 = self._ends
        says = [
            _log_ratio(ends1[end], ends2[end], *self._sizes)
            for end in _ends_of(word)
            if ends1[end] or ends2[end]
        ]
        return _bounded(sum(says) / 2, STRONGEST_ENDS) if says else 0.0

    @cached_property
    def _ends(self) -> tuple[Counter[str], Counter[str]]:
        found: tuple[Counter[str], Counter[str]] = Counter(), Counter()
        for ends, counts in zip(found, self._counts, strict=True):
            for word, times in counts.items():
                for end in _ends_of(word):
                    ends[end] += times
        return found


def _words(text: str) -> list[str]:
    """Return the words of a text; characters and pairs of them in scripts without spaces."""
    words = _WORD.findall(text.casefold())
    if not _UNSPACED.search(text):
        return words
    found: list[str] = []
    for word in words:
        if _UNSPACED.search(word):
            found += word
            found += [word[at : at + 2] for at in range(len(word) - 1)]
        else:
            found.append(word)
    return found


def _ends_of(word: str) -> tuple[str, str]:
    word = word[:LONGEST_WORD]
    return f"^{word[:3]}", f"{word[-3:]}$"


def _log_ratio(seen1: int, seen2: int, size1: int, size2: int) -> float:
    return math.log((seen1 + SMOOTHING) / (seen2 + SMOOTHING) * size2 / size1)


def _bounded(value: float, most: float) -> float:
    return max(-most, min(most, value))
