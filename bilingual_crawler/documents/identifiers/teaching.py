"""Makes a small identifier of one language from a page or more of text.

The identifier compares how likely the words of a text are in the taught language and in each of its
neighbours: those that CLD2 takes the text for, those that are spelt most alike, English, and those
that the user names. Text of the neighbours comes from the user; otherwise the counts of words in
the Universal Declaration of Human Rights stand for them.

What a text must reach to be taken for the language is measured on text that the model has not
learned from: the taught text is held out in parts, and so is the text of the neighbours. Half of
what the language's own text usually reaches is asked for, because text of a neighbour about the
same things looks more like the taught text than any other does; and less than half after a page
or two, because other parts of the same page say little about other pages. The constants were
chosen on six languages that are not among those of the table in docs/experiments/languages.md
(`python -m benchmarks.taught_languages DIR --chosen-on`).
"""

import json
import lzma
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from statistics import median
from typing import Any

from bilingual_crawler.documents.identifiers.characters import SpellingModel, words_of
from bilingual_crawler.documents.language import CLD2
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import find_language

LEAST_LETTERS = 500
"""What is shorter teaches nothing: a page has 2,000 and more."""
LONGEST_TEXT = 200_000
"""Characters to learn from; the differences between languages are in far fewer."""
ALIKE = 6
"""Neighbours that are chosen by their spelling."""
LOOKED_AT = 15
"""Languages that are compared in full, after a look at pairs of letters."""
SHARE_OF_GUESSES = 0.05
"""The least share of the text that CLD2 must take for a language to make it a neighbour."""
PARTS = 5
CHUNK = 400
"""Characters of the pieces of text that thresholds are measured with: a short page."""
ASKED = 0.5
"""The share of what the language's own text reaches that is asked for, if there is a lot of it."""
HALF_TAUGHT = 2_700
"""Letters of taught text at which half of that is asked for."""
FLOOR_SLACK, FLOOR_SLACK_UNTAUGHT = 0.35, 1.0
"""How much less likely per letter than the least likely held-out chunk a text may be, in any case
and for a language with no text at all."""
MOST_REPEATED = 3
"""Times that a word counts in one text: a page about mice is not a language of its own."""


@dataclass(frozen=True, slots=True)
class NearLanguage:
    """A language that a taught one is told from; without lines, its built-in counts are used."""

    code: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaughtLanguage:
    """A language, the text it was taught with, its neighbours and the measured thresholds."""

    code: str
    lines: tuple[str, ...]
    neighbours: tuple[NearLanguage, ...]
    guesses: Mapping[str, float]
    """What CLD2 takes the text for, with shares; "und" is what it does not know."""
    threshold: float
    """How much more likely per letter than in any neighbour a text must be."""
    floor: float
    """How likely per letter it must be at least."""
    recognised: float
    """The share of held-out chunks of the taught text that reach the threshold."""
    mistaken: Mapping[str, float]
    """The share of held-out chunks of each neighbour that reach it."""

    @property
    def characters(self) -> int:
        """The length of the taught text."""
        return sum(map(len, self.lines))


def teach(
    code: str,
    lines: Iterable[str],
    against: Mapping[str, Sequence[str]] | None = None,
    identify: Any = CLD2.identify,
) -> TaughtLanguage:
    """Learn a language from lines of text; raise a ConfigurationError if they do not do.

    `against` are neighbours with lines of their text, or without any for the built-in counts.
    """
    name = find_language(code)
    given = {each: clean_lines(text) for each, text in (against or {}).items()}
    taught = clean_lines(lines)
    letters = sum(map(len, words_of("\n".join(taught))))
    if letters < LEAST_LETTERS:
        raise ConfigurationError(
            f"There are only {letters:,} letters of {name}: a page or more is needed,"
            f" at least {LEAST_LETTERS:,}."
        )
    if code in given:
        raise ConfigurationError(f"{name} cannot be a neighbour of itself.")
    guesses = _guesses(taught, code, identify)
    neighbours = _neighbours(code, taught, given, guesses)
    return _measured(code, taught, neighbours, guesses)


def clean_lines(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the different lines that have words, as many as are learned from."""
    kept = dict.fromkeys(" ".join(line.split()) for line in lines)
    found, length = [], 0
    for line in kept:
        if words_of(line) and length < LONGEST_TEXT:
            found.append(line[: LONGEST_TEXT - length])
            length += len(line)
    return tuple(found)


def built_in_neighbours() -> frozenset[str]:
    """Return the languages whose counts of words come with the crawler."""
    return frozenset(_counts())


def model_of(neighbour: NearLanguage) -> SpellingModel:
    """Return the spelling of a neighbour: from its own text if there is any."""
    words = Counter(words_of("\n".join(neighbour.lines)))
    return SpellingModel(words + Counter(_counts().get(neighbour.code, {})))


@cache
def _counts() -> dict[str, dict[str, int]]:
    packed = files("bilingual_crawler").joinpath("data/neighbours.json.xz").read_bytes()
    found: dict[str, dict[str, int]] = json.loads(lzma.decompress(packed))
    return found


def _letter_pairs(words: Mapping[str, int]) -> dict[str, float]:
    """Return how often letters follow each other, as shares."""
    found: Counter[str] = Counter()
    for word, count in words.items():
        padded = f" {word} "
        for two in map("".join, pairwise(padded)):
            found[two] += count
    total = found.total() or 1
    return {two: count / total for two, count in found.items()}


@cache
def _profiles() -> dict[str, dict[str, float]]:
    return {code: _letter_pairs(counts) for code, counts in _counts().items()}


def _guesses(lines: Sequence[str], code: str, identify: Any) -> dict[str, float]:
    """Return what CLD2 takes chunks of the text for."""
    found: Counter[str] = Counter()
    chunks = list(chunks_of(lines))
    for chunk in chunks:
        shares = identify("\n".join(chunk)).shares
        found[shares[0][0] if shares else "und"] += 1
    return {each: number / len(chunks) for each, number in found.most_common() if each != code}


def _neighbours(
    code: str,
    lines: Sequence[str],
    given: Mapping[str, tuple[str, ...]],
    guesses: Mapping[str, float],
) -> tuple[NearLanguage, ...]:
    guessed = [each for each, share in guesses.items() if share >= SHARE_OF_GUESSES]
    words = Counter(words_of("\n".join(lines[:100])))
    letters = _letter_pairs(words)
    overlap = {
        other: sum(min(share, shares.get(two, 0.0)) for two, share in letters.items())
        for other, shares in _profiles().items()
        if other != code
    }
    near = sorted(overlap, key=lambda each: -overlap[each])[:LOOKED_AT]
    models = {other: SpellingModel(_counts()[other]) for other in near if overlap[other] > 0}
    likely = {other: sum(map(model.log_probability, words)) for other, model in models.items()}
    alike = sorted(likely, key=lambda each: -likely[each])[:ALIKE]
    codes = dict.fromkeys([*given, *guessed, *alike, "eng"])
    return tuple(
        NearLanguage(each, given.get(each, ()))
        for each in codes
        if each != code and (given.get(each) or each in _counts())
    )


def chunks_of(lines: Iterable[str]) -> Iterable[list[str]]:
    """Yield neighbouring lines of about the length of a short page; a short rest is left out."""
    waiting: list[str] = []
    length = 0
    found = 0
    for line in lines:
        waiting.append(line)
        length += len(line)
        if length >= CHUNK:
            found += 1
            yield waiting
            waiting, length = [], 0
    if waiting and (length >= CHUNK // 2 or not found):
        yield waiting


class Comparison:
    """Compares a language with its neighbours on the words of a text."""

    def __init__(self, own: SpellingModel, others: Sequence[SpellingModel]) -> None:
        self._own, self._others = own, others
        self._known: dict[str, tuple[float, ...]] = {}

    def __call__(self, words: Iterable[str]) -> tuple[float, float, int]:
        """Return the gain over the best neighbour, the logarithm of the probability, the letters.

        The first two are for the whole text.
        """
        counts = Counter(words)
        letters = 0
        sums = [0.0] * (len(self._others) + 1)
        for word, times in counts.items():
            number = min(times, MOST_REPEATED)
            letters += number * (len(word) + 1)
            for place, value in enumerate(self._weigh(word)):
                sums[place] += number * value
        return sums[0] - max(sums[1:], default=0.0), sums[0], letters

    def _weigh(self, word: str) -> tuple[float, ...]:
        found = self._known.get(word)
        if found is None:
            models = (self._own, *self._others)
            found = tuple(model.log_probability(word) for model in models)
            if len(self._known) < REMEMBERED:
                self._known[word] = found
        return found


REMEMBERED = 1 << 16


def _measured(
    code: str,
    lines: tuple[str, ...],
    neighbours: tuple[NearLanguage, ...],
    guesses: Mapping[str, float],
) -> TaughtLanguage:
    """Measure the thresholds on held-out parts."""
    models = [model_of(each) for each in neighbours]
    gains, fits = [], []
    for held_out, rest in _parts(_pieces_of(lines)):
        compare = Comparison(SpellingModel(words_of("\n".join(rest))), models)
        for chunk in chunks_of(held_out):
            gain, fit, letters = compare(words_of("\n".join(chunk)))
            if letters:
                gains.append(gain / letters)
                fits.append(fit / letters)
    whole = SpellingModel(words_of("\n".join(lines)))
    wrong = {
        each.code: _gains_of(each, place, models, whole) for place, each in enumerate(neighbours)
    }
    letters = sum(map(len, words_of("\n".join(lines))))
    learned = letters / (letters + HALF_TAUGHT)
    asked = ASKED * learned * median(gains)
    threshold = max(0.0, asked, *(_high(found) for found in wrong.values()))
    recognised = sum(gain > threshold for gain in gains) / len(gains)
    mistaken = {
        each: sum(gain > threshold for gain in found) / len(found)
        for each, found in wrong.items()
        if found
    }
    floor = min(fits) - FLOOR_SLACK - FLOOR_SLACK_UNTAUGHT * (1 - learned)
    return TaughtLanguage(code, lines, neighbours, guesses, threshold, floor, recognised, mistaken)


def _gains_of(
    neighbour: NearLanguage, place: int, models: Sequence[SpellingModel], own: SpellingModel
) -> list[float]:
    """Return what held-out text of a neighbour gains from being taken for the taught language."""
    found = []
    for held_out, rest in _parts(list(chunks_of(neighbour.lines))):
        others = list(models)
        others[place] = model_of(NearLanguage(neighbour.code, tuple(rest)))
        compare = Comparison(own, others)
        for chunk in chunks_of(held_out):
            gain, _, letters = compare(words_of("\n".join(chunk)))
            if letters:
                found.append(gain / letters)
    return found


def _high(gains: Sequence[float]) -> float:
    """Return what nearly all text of a neighbour stays below; 0 if nothing is known of it."""
    ranked = sorted(gains)
    return ranked[int(0.95 * (len(ranked) - 1))] if ranked else 0.0


def _pieces_of(lines: Sequence[str]) -> list[list[str]]:
    """Return the chunks of the taught text; one that is a single chunk, or line, is cut."""
    chunks = list(chunks_of(lines))
    if len(chunks) > 1:
        return chunks
    text = " ".join(lines)
    size = -(-len(text) // PARTS)
    return [[text[at : at + size]] for at in range(0, len(text), size)]


def _parts(chunks: Sequence[list[str]]) -> Iterable[tuple[list[str], list[str]]]:
    """Yield parts of a text, each with the rest; lines beside each other stay together."""
    for part in range(min(PARTS, len(chunks))) if len(chunks) > 1 else ():
        begin, end = (len(chunks) * at // min(PARTS, len(chunks)) for at in (part, part + 1))
        held_out = [line for chunk in chunks[begin:end] for line in chunk]
        rest = [line for chunk in (*chunks[:begin], *chunks[end:]) for line in chunk]
        yield held_out, rest
