"""Annotations of tokens for corpora with one token per line: lemma, part of speech.

`lemma` gives base forms in the languages of simplemma. Parts of speech need a tagger of the
user's: a class that inherits from `Tagger`, named by its import path.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, cast

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages.lemmas import LemmaOf, lemmas_of
from bilingual_crawler.plugins import PluginKind

OPTION = "--tagger"
UNDEFINED = "__UNDEF__"
"""What the Corpus Workbench itself writes where a value is missing."""
MAX_VALUE_BYTES = 4_000
"""Bytes of a value; the Workbench takes 4,095 at most."""
_COLUMN = re.compile("[a-z][a-z0-9_]{0,30}")
_TAKEN = ("word", "after")


class Tagger(ABC):
    """Annotates the tokens of sentences; one instance serves an export, made without arguments."""

    columns: ClassVar[tuple[str, ...]] = ("lemma", "pos")
    """The names of the columns beside the word."""

    def knows(self, language: str) -> bool:  # noqa: ARG002 - for those that override it
        """Return False for a language (ISO 639-3) without annotations: it gets no columns."""
        return True

    @abstractmethod
    def tag(self, words: Sequence[str], language: str) -> Sequence[Sequence[str]]:
        """Return one row per word of a sentence, with a value for each column; "" for unknown."""


class LemmaTagger(Tagger):
    """Base forms by the dictionaries of simplemma."""

    columns = ("lemma",)

    def __init__(self) -> None:
        self._lemmas: dict[str, LemmaOf | None] = {}

    def knows(self, language: str) -> bool:
        """Return True if there is a dictionary."""
        if language not in self._lemmas:
            self._lemmas[language] = lemmas_of(language)
        return self._lemmas[language] is not None

    def tag(self, words: Sequence[str], language: str) -> Sequence[Sequence[str]]:
        """Return the base form of each word."""
        lemma = self._lemmas[language]
        assert lemma is not None, "knows() comes first"
        return [(lemma(word),) for word in words]


TAGGERS = PluginKind(
    "a tagger",
    "bilingual_crawler.taggers",
    Tagger,
    {"lemma": "bilingual_crawler.export.taggers.LemmaTagger"},
)


def find_tagger(name: str) -> Tagger:
    """Return the tagger with this name or import path."""
    found = cast("Tagger", TAGGERS.make(name, OPTION))
    names = tuple(found.columns)
    unfit = [each for each in names if not _COLUMN.fullmatch(each) or each in _TAKEN]
    if not names or unfit or len(set(names)) < len(names):
        raise ConfigurationError(
            f"{OPTION}={name} has the columns {', '.join(names) or '(none)'}: give each a name of"
            f" its own of small letters, digits and _, other than {' and '.join(_TAKEN)}."
        )
    return found


def annotations(tagger: Tagger, words: Sequence[str], language: str) -> list[tuple[str, ...]]:
    """Return what a tagger says about a sentence, checked: nothing in it can break a line."""
    rows = tagger.tag(words, language)
    if len(rows) != len(words) or any(len(row) != len(tagger.columns) for row in rows):
        raise ConfigurationError(
            f"The tagger {type(tagger).__name__} must return one row with"
            f" {', '.join(tagger.columns)} for each of the {len(words)} words of"
            f" {' '.join(words)[:80]!r}."
        )
    return [tuple(map(_value, row)) for row in rows]


def _value(said: str) -> str:
    plain = " ".join(str(said).split())
    return plain.encode("utf-8", "replace")[:MAX_VALUE_BYTES].decode("utf-8", "ignore") or UNDEFINED
