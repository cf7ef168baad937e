"""A small statistical translation system, to see what a corpus is worth to those who train on it.

Phrases of up to four words, from word alignments by IBM Model 1 in both directions; a trigram model
of the target language; a monotone beam search. It learns twenty thousand sentence pairs in seconds
on one core, so that the same recipe can be run on many corpora, which a neural system of minutes
would not allow. It translates badly, and what matters is the difference between two corpora.

It is written by hand because none of the toolkits has both a permissive licence and a package for
Python: Moses and Thot have the LGPL, and the decoder of nltk needs a second per sentence.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Words = Sequence[str]
Links = set[tuple[int, int]]

LONGEST_SENTENCE = 40
LONGEST_PHRASE = 4
ROUNDS = 5
NULL = "\0"
"""The word that words without a counterpart come from."""
MOST_OPTIONS = 10
"""Translations of a phrase that are tried."""
BEAM = 12
PHRASE, INVERSE, LANGUAGE, PENALTY = 1.0, 1.0, 0.7, 0.5
"""Weights of the two phrase probabilities and the language model, and what each word earns."""
UNKNOWN = -8.0
"""The log probability of copying a word that no phrase has."""


class PhraseOption(NamedTuple):
    """A translation of a phrase, and its weighted log probability without the language model."""

    words: tuple[str, ...]
    score: float


class PhraseTranslator:
    """Translates sentences that are lists of words; made from pairs of such sentences."""

    def __init__(self, pairs: Iterable[tuple[Words, Words]]) -> None:
        usable = [
            (tuple(first), tuple(second))
            for first, second in pairs
            if 0 < len(first) <= LONGEST_SENTENCE and 0 < len(second) <= LONGEST_SENTENCE
        ]
        self.size = len(usable)
        self._options = _options(_phrases(usable)) if usable else {}
        self._language = TrigramModel(second for _, second in usable)

    def translate(self, words: Words) -> list[str]:
        """Return the best translation from left to right."""
        start = ("", "")
        stacks: list[dict[tuple[str, str], tuple[float, tuple[str, ...]]]] = [
            {} for _ in range(len(words) + 1)
        ]
        stacks[0][start] = (0.0, ())
        for at, stack in enumerate(stacks[:-1]):
            best = sorted(stack.items(), key=lambda each: (-each[1][0], each[1][1]))[:BEAM]
            for end in range(at + 1, min(len(words), at + LONGEST_PHRASE) + 1):
                for option in self._options_for(words, at, end):
                    for state, (score, done) in best:
                        grown, last = self._grown(score + option.score, state, option.words)
                        known = stacks[end].get(last)
                        if known is None or grown > known[0]:
                            stacks[end][last] = grown, (*done, *option.words)
        return list(max(stacks[-1].values(), default=(0.0, ()))[1])

    def _options_for(self, words: Words, at: int, end: int) -> Sequence[PhraseOption]:
        found = self._options.get(tuple(words[at:end]), ())
        if not found and end == at + 1:
            return (PhraseOption((words[at],), UNKNOWN),)
        return found

    def _grown(
        self, score: float, state: tuple[str, str], words: tuple[str, ...]
    ) -> tuple[float, tuple[str, str]]:
        for word in words:
            score += LANGUAGE * self._language.log_share(*state, word) + PENALTY
            state = state[1], word
        return score, state


class TrigramModel:
    """Probabilities of words after two others, with Witten and Bell's smoothing."""

    def __init__(self, sentences: Iterable[Words]) -> None:
        self._times: Counter[tuple[str, ...]] = Counter()
        self._kinds: Counter[tuple[str, ...]] = Counter()
        for sentence in sentences:
            padded = ("", "", *sentence)
            for at in range(2, len(padded)):
                for length in range(3):
                    self._count(padded[at - length : at], padded[at])
        self._share: dict[tuple[str, ...], float] = {}

    def log_share(self, before: str, last: str, word: str) -> float:
        """Return the log probability of a word after two others."""
        key = (before, last, word)
        found = self._share.get(key)
        if found is None:
            found = self._share[key] = math.log(self._smoothed(key))
        return found

    def _count(self, context: tuple[str, ...], word: str) -> None:
        self._kinds[context] += (*context, word, NULL) not in self._times
        self._times[(*context, word, NULL)] += 1
        self._times[context] += 1

    def _smoothed(self, words: tuple[str, ...]) -> float:
        share = 1.0 / (1 + self._kinds[()])
        for length in range(len(words)):
            context = words[len(words) - 1 - length : -1]
            total, kinds = self._times[context], self._kinds[context]
            if total:
                times = self._times[(*context, words[-1], NULL)]
                share = (times + kinds * share) / (total + kinds)
        return share


def word_shares(pairs: Sequence[tuple[Words, Words]]) -> dict[tuple[str, str], float]:
    """Return how likely the second word is, given the first, by IBM Model 1."""
    ids1: dict[str, int] = {NULL: 0}
    ids2: dict[str, int] = {}
    ones: list[int] = []
    others: list[int] = []
    places: list[int] = []
    place = 0
    for first, second in pairs:
        sources = [0, *(ids1.setdefault(word, len(ids1)) for word in first)]
        for word in second:
            target = ids2.setdefault(word, len(ids2))
            ones += sources
            others += [target] * len(sources)
            places += [place] * len(sources)
            place += 1
    if not places:
        return {}
    keys, entry = np.unique(
        np.asarray(ones, np.int64) * len(ids2) + np.asarray(others), return_inverse=True
    )
    of1, at = keys // len(ids2), np.asarray(places)
    shares = _normalised(np.ones(len(keys), np.float64), of1)
    for _ in range(ROUNDS):
        belief = shares[entry]
        belief /= np.bincount(at, belief)[at]
        shares = _normalised(np.bincount(entry, belief, len(keys)).astype(np.float64), of1)
    names1, names2 = list(ids1), list(ids2)
    found = zip((keys // len(ids2)).tolist(), (keys % len(ids2)).tolist(), shares, strict=True)
    return {(names1[one], names2[other]): float(share) for one, other, share in found}


def _normalised(counts: NDArray[np.float64], of: NDArray[np.int64]) -> NDArray[np.float64]:
    shares: NDArray[np.float64] = counts / np.maximum(np.bincount(of, counts)[of], 1e-12)
    return shares


def links_of(
    first: Words,
    second: Words,
    forth: dict[tuple[str, str], float],
    back: dict[tuple[str, str], float],
) -> Links:
    """Return which words translate each other: both directions agree, grown by neighbours."""
    there = {_best(word, at, first, forth) for at, word in enumerate(second)}
    again = {
        (one, other)
        for other, one in (_best(word, at, second, back) for at, word in enumerate(first))
    }
    agreed = {link for link in there & again if min(link) >= 0}
    either = {link for link in there | again if min(link) >= 0}
    growing = True
    while growing:
        growing = False
        for one, other in sorted(either - agreed):
            near = any(
                (one + step1, other + step2) in agreed
                for step1 in (-1, 0, 1)
                for step2 in (-1, 0, 1)
            )
            taken1 = any(link[0] == one for link in agreed)
            taken2 = any(link[1] == other for link in agreed)
            if near and not (taken1 and taken2):
                agreed.add((one, other))
                growing = True
    return agreed


def _best(
    word: str, at: int, others: Words, shares: dict[tuple[str, str], float]
) -> tuple[int, int]:
    """Return the place of the likeliest origin of a word, -1 for none, and its own place."""
    best, where = shares.get((NULL, word), 0.0), -1
    for place, other in enumerate(others):
        share = shares.get((other, word), 0.0)
        if share > best:
            best, where = share, place
    return where, at


def phrases_of(
    first: Words, second: Words, links: Links
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield the phrases of a sentence pair that no link leads out of."""
    for start in range(len(first)):
        for end in range(start + 1, min(len(first), start + LONGEST_PHRASE) + 1):
            inside = [other for one, other in links if start <= one < end]
            if not inside:
                continue
            low, high = min(inside), max(inside) + 1
            if high - low > LONGEST_PHRASE:
                continue
            if all(start <= one < end for one, other in links if low <= other < high):
                yield tuple(first[start:end]), tuple(second[low:high])


def _phrases(
    pairs: Sequence[tuple[Words, Words]],
) -> Counter[tuple[tuple[str, ...], tuple[str, ...]]]:
    forth = word_shares(pairs)
    back = word_shares([(second, first) for first, second in pairs])
    found: Counter[tuple[tuple[str, ...], tuple[str, ...]]] = Counter()
    for first, second in pairs:
        found.update(phrases_of(first, second, links_of(first, second, forth, back)))
    return found


def _options(
    times: Counter[tuple[tuple[str, ...], tuple[str, ...]]],
) -> dict[tuple[str, ...], list[PhraseOption]]:
    """Return the likeliest translations of each phrase."""
    of1: Counter[tuple[str, ...]] = Counter()
    of2: Counter[tuple[str, ...]] = Counter()
    for (first, second), count in times.items():
        of1[first] += count
        of2[second] += count
    found: defaultdict[tuple[str, ...], list[PhraseOption]] = defaultdict(list)
    for (first, second), count in times.items():
        score = PHRASE * math.log(count / of1[first]) + INVERSE * math.log(count / of2[second])
        found[first].append(PhraseOption(second, score))
    return {
        first: sorted(options, key=lambda each: (-each.score, each.words))[:MOST_OPTIONS]
        for first, options in found.items()
    }
