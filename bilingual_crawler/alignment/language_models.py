"""How likely a sentence is in its language, by the characters of a crawl or of a user's text.

Barbosa et al. (2011) filter their sentence pairs with a language model. Here it is a model of
characters, which needs no more text than a small crawl has, and serves all languages and scripts.
What it finds is text that nobody writes: codes, rows of numbers and names, words run together.

How surprising a text may be is measured, not set: sentences of the crawl that were surely paired
say what is usual for texts of about the same length, since short ones vary more. A model of the
crawl itself is really two, each of one half of the sentences, so that no sentence is judged by a
model that has learned it.

It is written by hand because KenLM has no package for Python without a compiler and nltk's models
are slower by two orders of magnitude.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import quantiles
from typing import Self
from zlib import crc32

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import UnknownLanguageError, find_language
from bilingual_crawler.store.input_files import DAMAGED_GZIP, bounded_lines, open_unpacked

ORDER = 4
"""Characters that are looked at together."""
MOST_CHARACTERS = 500_000
"""Characters that a model learns; more would change little, and take memory."""
LEAST_TEXTS = 200
"""With fewer surely paired sentences, what is usual is not known."""
LEAST_ALIKE = 50
"""Sentences of about one length that say what is usual for it."""
WIDTH = 4.0
"""How many times the usual deviation a sentence may be less likely than the median."""
LONGEST = 500
"""Characters of a sentence that are judged."""

_DIGITS = re.compile(r"\d")
_EDGE = "\n"


OWN = "own"
OPTION = "--language-models"


@dataclass(frozen=True)
class LanguageModelFiles:
    """From what text the models of languages are learned: the crawl's own, or a user's."""

    files: Mapping[str, Path]
    """A text by ISO 639-3 code; a language without one has the crawl's own sentences."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read "own" or "eng=FILE,spa=FILE", and check that the files are there."""
        files: dict[str, Path] = {}
        for part in text.split(",") if text.strip() != OWN else ():
            name, equals, path = part.strip().partition("=")
            try:
                language = find_language(name.strip())
            except UnknownLanguageError as error:
                raise ConfigurationError(f"{OPTION} {text}: {error}") from error
            file = Path(path.strip()).expanduser()
            if not equals or not file.is_file():
                raise ConfigurationError(
                    f"{OPTION} {text}: there is no file {path.strip()!r} for {language}; write"
                    f" {OWN} for the sentences of the crawl, or LANGUAGE=FILE, with commas between"
                    " two."
                )
            files[language.code] = file
        return cls(files)

    def side(self, language: str, sure: Sequence[str]) -> "LikelySide":
        """Return what is likely in one language, given surely paired sentences."""
        return LikelySide(sure, self.files.get(language))


class CharacterModel:
    """Probabilities of characters after up to three others, with Witten and Bell's smoothing."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._times: Counter[str] = Counter()
        learned = 0
        for text in texts:
            if learned >= MOST_CHARACTERS:
                break
            padded = _padded(text[: MOST_CHARACTERS - learned])
            learned += len(text)
            for length in range(1, ORDER + 1):
                ends = range(ORDER, len(padded) + 1)
                self._times.update([padded[end - length : end] for end in ends])
        self._totals: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()
        for piece, times in self._times.items():
            self._totals[piece[:-1]] += times
            self._kinds[piece[:-1]] += 1
        self._nats: dict[str, float] = {}

    def nats(self, text: str) -> float:
        """Return how surprising a text is: the mean over its characters, in nats."""
        padded, known = _padded(text[:LONGEST]), self._nats
        total = 0.0
        for end in range(ORDER, len(padded) + 1):
            piece = padded[end - ORDER : end]
            said = known.get(piece)
            if said is None:
                said = -math.log(self._share(piece))
                if len(known) < MOST_CHARACTERS:
                    known[piece] = said
            total += said
        return total / (len(padded) - ORDER + 1)

    def _share(self, piece: str) -> float:
        share = 1.0 / (1 + self._kinds[""])
        for start in range(len(piece) - 1, -1, -1):
            context = piece[start:-1]
            total, kinds = self._totals[context], self._kinds[context]
            if total:
                share = (self._times[piece[start:]] + kinds * share) / (total + kinds)
        return share


def _padded(text: str) -> str:
    """Return a text as it is learned: case and digits say nothing about how likely it is."""
    plain = _DIGITS.sub("0", " ".join(text.casefold().split()))
    return _EDGE * (ORDER - 1) + plain + _EDGE


@dataclass(frozen=True)
class Usual:
    """How surprising sentences of each length may be: nats by the power of two of the length."""

    limits: Mapping[int, float]
    otherwise: float

    def allows(self, text: str, nats: float) -> bool:
        """Return True if a sentence is not much less likely than others of its length."""
        return nats <= self.limits.get(_length(text), self.otherwise)


class LikelySide:
    """The model of one side of a language pair, and what is usual there."""

    def __init__(self, sure: Sequence[str], own: Path | None = None) -> None:
        texts = list(dict.fromkeys(sure))
        if own is None:
            halves = [[text for text in texts if _half(text) != half] for half in (0, 1)]
            self._models = [CharacterModel(each) for each in halves]
        else:
            self._models = [CharacterModel(texts_of(own))] * 2
        self._usual = None if len(texts) < LEAST_TEXTS else self._measured(texts)

    def is_unlikely(self, text: str) -> bool:
        """Return True if hardly any sentence of the crawl is as unlikely as this one."""
        return self._usual is not None and not self._usual.allows(text, self.nats(text))

    def nats(self, text: str) -> float:
        """Return how surprising a text is for a model that has not learned it."""
        return self._models[_half(text)].nats(text)

    def _measured(self, texts: Sequence[str]) -> Usual:
        by_length: defaultdict[int, list[float]] = defaultdict(list)
        for text in texts:
            by_length[_length(text)].append(self.nats(text))
        every = [nats for some in by_length.values() for nats in some]
        return Usual(
            {
                length: _limit(some)
                for length, some in by_length.items()
                if len(some) >= LEAST_ALIKE
            },
            _limit(every),
        )


def _length(text: str) -> int:
    return len(text).bit_length()


def _half(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass")) & 1


def _limit(nats: Sequence[float]) -> float:
    """Return the most that is usual; the deviation is that of the unlikelier half."""
    cuts = quantiles(nats, n=100)
    return cuts[49] + WIDTH * (cuts[83] - cuts[49])


def texts_of(file: Path) -> Iterator[str]:
    """Yield the lines of a user's text, as far as a model learns them."""
    try:
        with open_unpacked(file) as content:
            for line in islice(bounded_lines(content), MOST_CHARACTERS):
                if line is not None:
                    yield line.decode("utf-8", "replace")
    except (*DAMAGED_GZIP, OSError) as error:
        raise ConfigurationError(f"{file} cannot be read as a text: {error}.") from error
