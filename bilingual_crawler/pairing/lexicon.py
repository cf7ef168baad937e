"""Which words translate which, as crawls have learned it: counts that can be kept and added up.

A lexicon holds how often each two words were linked in translated text, and how often each was
seen. So the lexicons of several crawls are added up to one, and a crawl goes on from where another
ended. It also holds how it did on pairs of pages that it had not learned from: a lexicon that does
not beat chance there is not used.

The file is a table for people, gzipped: a line that says what it is, then one line per two words.
It may come from anywhere, so it is read as untrusted input: bounded, and row by row.
"""

import gzip
import logging
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import product
from math import isfinite, sqrt
from pathlib import Path
from typing import NamedTuple, Self
from unicodedata import combining

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages.normal_forms import normalize
from bilingual_crawler.pairing.profile import word_hash
from bilingual_crawler.pairing.word_list import WordList
from bilingual_crawler.store.durable import replacing
from bilingual_crawler.store.input_files import open_unpacked

logger = logging.getLogger(__name__)

MARK, FORMAT = "#bilingual-lexicon", "1"
PREFIX, SUFFIX = "lexicon.", ".tsv.gz"
"""Of the names of files in the folder of a crawl."""
MOST_ENTRIES = 50_000
"""The most entries that are kept or read: those linked most often."""
MOST_BYTES = 1 << 24
"""The most that is read of a file, unpacked."""
LONGEST_WORD = 60
LARGEST_COUNT = 1e9
CELLS = 5
LEAST_SHARE, LEAST_TIMES = 0.1, 1.0
"""What an entry needs to be used: a share of both words, and times that they were linked."""
LEAST_TESTED = 5
"""The fewest pairs of pages that a lexicon must have been tested on."""
CHANCE_DEVIATIONS = 2.0
"""How many standard deviations better than chance it must be."""
MOST_REMEMBERED = 10
"""Tests of earlier crawls that count in the next one, so that it can still lose its trust."""

_SLUG_WORD = re.compile(r"[^\W\d_]{3,}")


class LexiconEntry(NamedTuple):
    """Two words that translate each other."""

    first: str
    second: str
    share: float
    """The share of the occurrences of both that are linked, from 0 to 1."""
    times: float
    """How often they were linked."""


class LexiconTest(NamedTuple):
    """How a lexicon did on pairs of pages that it did not learn from.

    Each was compared with a wrong pair, made of the same pages.
    """

    tested: int = 0
    won: int = 0
    """How many of them agreed more than the wrong pair did."""

    @property
    def beats_chance(self) -> bool:
        """Return True if this can hardly be luck: a sign test."""
        if self.tested < LEAST_TESTED:
            return False
        return 2 * self.won - self.tested >= CHANCE_DEVIATIONS * sqrt(self.tested)

    def __add__(self, other: tuple[object, ...]) -> "LexiconTest":
        """Return the sum of two tests."""
        assert isinstance(other, LexiconTest)
        return LexiconTest(self.tested + other.tested, self.won + other.won)

    def shortened(self) -> "LexiconTest":
        """Return a test of the same result that counts no more than a few pairs of pages."""
        if self.tested <= MOST_REMEMBERED:
            return self
        return LexiconTest(MOST_REMEMBERED, round(self.won * MOST_REMEMBERED / self.tested))


UNTESTED = LexiconTest()
Seen = Mapping[str, float]
Together = Mapping[tuple[str, str], float]


class TranslationLexicon:
    """Words of two languages, how often each was seen, and how often each two were linked."""

    def __init__(
        self,
        languages: tuple[str, str],
        together: Together,
        seen: tuple[Seen, Seen],
        test: LexiconTest = UNTESTED,
        pages: int = 0,
    ) -> None:
        self.languages = languages
        """ISO 639-3 codes."""
        self.test = test
        self.pages = pages
        """How many pairs of pages it was learned from."""
        kept = sorted(together.items(), key=lambda each: (-each[1], each[0]))[:MOST_ENTRIES]
        self._together = dict(kept)
        self._seen = (
            {first: seen[0][first] for first, _ in self._together},
            {second: seen[1][second] for _, second in self._together},
        )

    def __len__(self) -> int:
        return len(self._together)

    @property
    def is_trusted(self) -> bool:
        """Return True if it has beaten chance on pages that it did not learn from."""
        return bool(self) and self.test.beats_chance

    def entries(
        self, least_share: float = LEAST_SHARE, least_times: float = LEAST_TIMES
    ) -> Iterator[LexiconEntry]:
        """Yield the words that translate each other, those linked most often first."""
        seen1, seen2 = self._seen
        for (first, second), times in self._together.items():
            share = min(1.0, times / sqrt(seen1[first] * seen2[second]))
            if share >= least_share and times >= least_times:
                yield LexiconEntry(first, second, share, times)

    def frequency(self, entry: LexiconEntry) -> float:
        """Return how often the two words of an entry were seen."""
        return self._seen[0][entry.first] + self._seen[1][entry.second]

    def word_list(self) -> WordList:
        """Return what the lexicon knows by hash, as pages are compared."""
        return WordList((each.first, each.second) for each in self.entries())

    def share(self, first: str, second: str) -> float:
        """Return how much one word translates another, from 0 to 1."""
        times = self._together.get((first, second), 0.0)
        return min(1.0, times / sqrt(self._seen[0][first] * self._seen[1][second])) if times else 0

    def translations(self, word: str) -> frozenset[str]:
        """Return the words of the other language that translate a word of either."""
        return self._translations.get(word, frozenset())

    @cached_property
    def _translations(self) -> dict[str, frozenset[str]]:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for each in self.entries():
            found[each.first].add(each.second)
            found[each.second].add(each.first)
        return {word: frozenset(others) for word, others in found.items()}

    def slugs_agree(self, first: str, second: str) -> float | None:
        """Return the share of known words in two slugs that have their translation in the other.

        None if it knows no word of one of them. Words that are on both are left out, and accents,
        which slugs often lack, do not count.
        """
        mine, theirs = (set(_SLUG_WORD.findall(_bare(each))) for each in (first, second))
        known1, known2 = self._by_bare_word
        ones = [known1[word] for word in mine - theirs if word in known1]
        others = [known2[word] for word in theirs - mine if word in known2]
        if not ones or not others:
            return None
        found1 = sum(any(self._linked(one, other) for other in others) for one in ones)
        found2 = sum(any(self._linked(one, other) for one in ones) for other in others)
        return (found1 + found2) / (len(ones) + len(others))

    def _linked(self, firsts: Iterable[str], seconds: Iterable[str]) -> bool:
        return any(self.share(*both) >= LEAST_SHARE for both in product(firsts, seconds))

    @cached_property
    def _by_bare_word(self) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        found: tuple[dict[str, set[str]], dict[str, set[str]]] = ({}, {})
        for words, seen in zip(found, self._seen, strict=True):
            for word in seen:
                words.setdefault(_bare(word), set()).add(word)
        return found

    def swapped(self) -> "TranslationLexicon":
        """Return the same lexicon with its second language first."""
        return TranslationLexicon(
            (self.languages[1], self.languages[0]),
            {(second, first): times for (first, second), times in self._together.items()},
            (self._seen[1], self._seen[0]),
            self.test,
            self.pages,
        )

    def is_of(self, languages: tuple[str, str]) -> bool:
        """Return True if it is of these languages, in any order."""
        return sorted(self.languages) == sorted(languages)

    def for_languages(self, languages: tuple[str, str]) -> "TranslationLexicon | None":
        """Return the lexicon with its languages in this order; None if it is of others."""
        if self.languages == languages:
            return self
        return self.swapped() if self.languages == (languages[1], languages[0]) else None

    def tested(self, test: LexiconTest) -> "TranslationLexicon":
        """Return the same lexicon with another test."""
        return TranslationLexicon(self.languages, self._together, self._seen, test, self.pages)

    def __add__(self, other: "TranslationLexicon") -> "TranslationLexicon":
        """Return the sum of what two lexicons of the same languages have counted."""
        assert self.languages == other.languages
        together = dict(self._together)
        for both, times in other._together.items():
            together[both] = together.get(both, 0.0) + times
        seen = (dict(self._seen[0]), dict(self._seen[1]))
        for mine, theirs in zip(seen, other._seen, strict=True):
            for word, times in theirs.items():
                mine[word] = mine.get(word, 0.0) + times
        test, pages = self.test + other.test, self.pages + other.pages
        return TranslationLexicon(self.languages, together, seen, test, pages)

    def write(self, path: Path) -> None:
        """Write the lexicon; a kill at any moment leaves the old file or the new one."""
        head = "\t".join(map(str, (MARK, FORMAT, *self.languages, self.pages, *self.test)))
        with (
            replacing(path) as fresh,
            fresh.open("wb") as raw,
            gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed,
        ):
            packed.writelines(line.encode() for line in (f"{head}\n", *self.lines()))

    def lines(self, least_share: float = 0.0, least_times: float = 0.0) -> Iterator[str]:
        """Yield a line of the table per entry: words, times linked, times seen."""
        seen1, seen2 = self._seen
        for first, second, _, times in self.entries(least_share, least_times):
            yield f"{first}\t{second}\t{times:.3f}\t{seen1[first]:.0f}\t{seen2[second]:.0f}\n"

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a file that `write` wrote; raise a ConfigurationError if it is no such file."""
        file = Path(path).expanduser()
        try:
            with open_unpacked(file) as content:
                lines = content.read(MOST_BYTES).decode("utf-8", "replace").split("\n")
        except (OSError, EOFError, zlib.error) as error:
            raise ConfigurationError(
                f"The lexicon {file} cannot be read: {error}.",
                "Give a file lexicon.*.tsv.gz from the folder of a crawl.",
            ) from None
        languages, pages, test = _read_head(lines[0].split("\t"), file)
        together: dict[tuple[str, str], float] = {}
        seen: tuple[dict[str, float], dict[str, float]] = ({}, {})
        damaged = 0
        for line in lines[1 : MOST_ENTRIES + 1]:
            row = _read_row(line.split("\t"))
            if row is None:
                damaged += bool(line)
                continue
            first, second, times, *counts = row
            together[first, second] = times
            for words, word, count in zip(seen, (first, second), counts, strict=True):
                words[word] = max(count, words.get(word, 0.0))
        if damaged:
            logger.warning("%s: %d damaged lines were skipped.", file, damaged)
        return cls(languages, together, seen, test, pages)


def _bare(text: str) -> str:
    """Return a text in small letters without accents."""
    parts = normalize("NFKD", text.casefold())
    return "".join(each for each in parts if not combining(each))


def lexicon_file(languages: str) -> str:
    """Return the name of a lexicon in the folder of a crawl."""
    return f"{PREFIX}{languages}{SUFFIX}"


def read_lexicons(places: str) -> list[TranslationLexicon]:
    """Return the lexicons that a setting names: files and folders of crawls, with commas."""
    named = (place.strip() for place in places.split(","))
    return [each for place in named if place for each in _read_place(Path(place).expanduser())]


def _read_place(path: Path) -> list[TranslationLexicon]:
    if not path.is_dir():
        return [TranslationLexicon.read(path)]
    files = sorted(path.glob(lexicon_file("*")))
    if not files:
        raise ConfigurationError(
            f"There is no lexicon in the folder {path}.",
            "Name the folder of a crawl that has learned one, or a file lexicon.*.tsv.gz.",
        )
    return list(map(TranslationLexicon.read, files))


def of_languages(
    languages: tuple[str, str], lexicons: Iterable[TranslationLexicon]
) -> TranslationLexicon | None:
    """Return the sum of those lexicons that are of two languages, in this order of them."""
    found = (each.for_languages(languages) for each in lexicons)
    return sum_of(each for each in found if each is not None)


def sum_of(lexicons: Iterable[TranslationLexicon]) -> TranslationLexicon | None:
    """Return the sum of some lexicons of the same languages; None if there are none."""
    total: TranslationLexicon | None = None
    for each in lexicons:
        total = each if total is None else total + each
    return total


def _read_head(cells: list[str], file: Path) -> tuple[tuple[str, str], int, LexiconTest]:
    """Return the languages, the pairs of pages, and the test."""
    problem = "it is not the lexicon of a crawl"
    if cells[0] == MARK and cells[1:2] != [FORMAT]:
        problem = "another version of the crawler wrote it"
    elif cells[0] == MARK:
        try:
            _, _, first, second, *numbers = cells
            pages, tested, won = map(int, numbers)
        except ValueError:
            problem = "its first line is damaged"
        else:
            if 0 <= won <= tested <= LARGEST_COUNT and 0 <= pages <= LARGEST_COUNT:
                return (first, second), pages, LexiconTest(tested, won)
    raise ConfigurationError(
        f"The lexicon {file} cannot be used: {problem}.",
        "Give a file lexicon.*.tsv.gz from the folder of a crawl.",
    )


def _read_row(cells: list[str]) -> tuple[str, str, float, float, float] | None:
    """Return an entry, or None if it cannot be one."""
    if len(cells) != CELLS or max(map(len, cells)) > LONGEST_WORD:
        return None
    first, second = cells[:2]
    try:
        times, seen1, seen2 = map(float, cells[2:])
    except ValueError:
        return None
    numbers_fit = all(
        isfinite(each) and 0 < each <= LARGEST_COUNT for each in (times, seen1, seen2)
    )
    if not numbers_fit or word_hash(first) is None or word_hash(second) is None:
        return None
    return first, second, times, max(seen1, times), max(seen2, times)
