"""Words as the concordance counts them, and the forms by which they are found.

A text is split into words, in scripts without spaces into characters, so that a phrase finds any
part of them. The index does so in SQL and the page in Python, with the same character classes.
Words are compared in small letters. Each distinct word has three more forms: without accents, as a
lemma (the word as a dictionary lists it), and as a stem. They are made once per distinct word,
which is why the index can afford them.
"""

import re
from functools import cache
from typing import Literal, NamedTuple

import regex

from bilingual_crawler.languages.lemmas import lemmas_of
from bilingual_crawler.languages.normal_forms import UNSPACED
from bilingual_crawler.languages.stemming import ALGORITHMS, stems_of
from bilingual_crawler.web.search.query import fold

Level = Literal["word", "lemma", "stem", "exact"]
LEVELS: dict[Level, str] = {
    "word": "Words (accents ignored)",
    "exact": "Words with their accents",
    "lemma": "Lemmas (all forms of a word)",
    "stem": "Stems",
}
COLUMN_OF: dict[Level, str] = {"word": "plain", "exact": "word", "lemma": "lemma", "stem": "stem"}
"""The column of the table of words that has each form."""

LONGEST_WORD = 60
"""Characters; the index cuts anything longer."""
MOST_STEMMED = 50_000
"""Words per side that get a stem: the most frequent ones. Rarer ones stay as they are."""

_TOKEN = regex.compile(rf"[{UNSPACED}]|[[\p{{L}}\p{{N}}\p{{M}}]--[{UNSPACED}]]+", regex.V1)
_ESCAPES = re.compile(r"\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")


def _in_re2(characters: str) -> str:
    """Return a class of characters in the syntax of DuckDB's regular expressions."""
    return _ESCAPES.sub(lambda found: rf"\x{{{found[1] or found[2]}}}", characters)


SQL_WORDS = """
list_filter(string_split(regexp_replace(lower({text}), '[^\\pL\\pN\\pM ]+', ' ', 'g'), ' '),
    lambda word: word <> '')
"""
"""To blank what is between the words and split there takes half as long as to extract them."""
SPACED_OUT = """
CASE WHEN regexp_matches({text}, '[{unspaced}]')
    THEN regexp_replace({text}, '([{unspaced}])', ' \\1 ', 'g') ELSE {text} END
"""


def words_in_sql(text: str, *, all_spaced: bool = False) -> str:
    """Return an SQL expression for the list of words of a text.

    It takes a fifth less time if all texts are known to be in scripts with spaces.
    """
    spaced = text if all_spaced else SPACED_OUT.format(text=text, unspaced=_in_re2(UNSPACED))
    return SQL_WORDS.format(text=spaced)


def is_unspaced_in_sql(text: str) -> str:
    """Return an SQL expression that is true for text with a script without spaces."""
    return f"regexp_matches({text}, '[{_in_re2(UNSPACED)}]')"


class PlacedWord(NamedTuple):
    """A word of a text in small letters, and where it is."""

    word: str
    begin: int
    end: int


def placed_words(text: str) -> list[PlacedWord]:
    """Return the words of a text in order, as the index has them."""
    return [
        PlacedWord(found[0].lower()[:LONGEST_WORD], *found.span())
        for found in _TOKEN.finditer(text)
    ]


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters."""
    return [found.lower()[:LONGEST_WORD] for found in _TOKEN.findall(text)]


class WordForms(NamedTuple):
    """The forms of a word by which it can be found."""

    plain: str
    lemma: str
    stem: str


class FormMaker:
    """Makes the forms of words of one language. A form that is not known is the word itself."""

    def __init__(self, language: str) -> None:
        self._stems = stems_of(language) if language in ALGORITHMS else None
        self._lemma_of = lemmas_of(language)

    @property
    def has_lemmas(self) -> bool:
        """Return True if there is a dictionary for the language."""
        return self._lemma_of is not None

    @property
    def has_stems(self) -> bool:
        """Return True if there is a stemmer for the language."""
        return self._stems is not None

    def forms(self, word: str) -> WordForms:
        """Return all forms of a word in small letters."""
        return WordForms(fold(word), self.lemma(word), self.stem(word))

    def form(self, word: str, level: Level) -> str:
        """Return the form of a word that a level compares, cut as in the index."""
        small = word.lower()[:LONGEST_WORD]
        if level == "exact":
            return small
        return str(getattr(self.forms(small), COLUMN_OF[level]))

    def lemma(self, word: str) -> str:
        """Return the word as a dictionary lists it."""
        return word if self._lemma_of is None else self._lemma_of(word).lower()

    def stem(self, word: str) -> str:
        """Return the stem of a word."""
        if self._stems is None:
            return word
        stems = self._stems.of(word)
        return stems[0] if len(stems) == 1 else word


@cache
def form_maker(language: str) -> FormMaker:
    """Return the maker of a language; a dictionary takes a tenth of a second to load."""
    return FormMaker(language)
