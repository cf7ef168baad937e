"""The languages of a crawl: one, two, several, or whatever the sites have.

Two languages are the common case and have a class of their own (`LanguagePair`). More than two are
a `LanguageSet`: any two different languages of it can make a pair, in the order in which the user
named them. An open set takes every language: `eng-*` is English and whatever a site has, `all` is
whatever a site has.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import ClassVar

from bilingual_crawler.languages.table import (
    Language,
    LanguagePair,
    LanguagePairError,
    OneLanguage,
    UnknownLanguageError,
    all_languages,
    find_language,
    language_code,
    languages_of_token,
    parse_pair_or_one,
    recognise,
)

MOST_LANGUAGES = 30
"""Languages that can be named; `all` and `eng-*` take any number."""
LONGEST_LIST = 600
LONGEST_NAME = 4
"""The most parts of a name with hyphens in it: Serbo-Croatian has two."""
ANY, ALL = "*", "all"
LEAST_OF_SET = 3
CODE_LENGTH = 3

_SEPARATORS = re.compile("[-_,]")


@dataclass(frozen=True, slots=True)
class LanguageSet:
    """Three or more different languages, in the order they were given; or an open set."""

    languages: tuple[Language, ...]
    is_open: bool = False
    """True if every other language is wanted as well."""
    codes: tuple[str, ...] = field(init=False, compare=False, repr=False)
    """The ISO 639-3 codes of the languages that were named."""
    _pairs: dict[tuple[str, str], LanguagePair] = field(init=False, compare=False, repr=False)
    """Every two languages that were asked for, which is done for each two pages."""
    harvest: ClassVar[str] = "pairs"
    """What a crawl for them collects."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", tuple(each.code for each in self.languages))
        object.__setattr__(self, "_pairs", {})
        seen = set()
        for each in self.languages:
            if each in seen:
                raise LanguagePairError(f"{self} names {each} twice; write each language once.")
            seen.add(each)
        if len(self.languages) > MOST_LANGUAGES:
            raise LanguagePairError(
                f"These are {len(self.languages)} languages, and a crawl can name"
                f" {MOST_LANGUAGES}: leave some out, or write langs=all for every language that"
                " the sites have."
            )
        if not self.is_open and len(self.languages) < LEAST_OF_SET:
            raise LanguagePairError(f"{self} are fewer than {LEAST_OF_SET} languages.")

    @property
    def tokens(self) -> frozenset[str]:
        """The pieces of URLs that may mean one of the languages."""
        return _tokens_of(self)

    @property
    def names(self) -> str:
        """All names, for a sentence."""
        names = [each.name for each in self.languages]
        if self.is_open:
            return _listed([*names, "every other language"]) if names else "all languages"
        return _listed(names)

    @property
    def file_name(self) -> str:
        """The set as a part of a file name."""
        return str(self).replace(ANY, "any")

    def pair_of(self, one: str, other: str) -> LanguagePair:
        """Return two of the languages in their order: as named, the others by their codes."""
        pair = self._pairs.get((one, other))
        if pair is None:
            known = {each.code: each for each in self.languages}
            ordered = sorted((one, other), key=self._place)
            pair = LanguagePair(*(known.get(code) or find_language(code) for code in ordered))
            self._pairs[one, other] = pair
        return pair

    def admits(self, one: str, other: str) -> bool:
        """Return True if these are two of the languages; of `eng-*` one must be English."""
        if self.is_open:
            return one != other and (not self.languages or one in self.codes or other in self.codes)
        return one != other and one in self.codes and other in self.codes

    def pivots(self) -> Iterator[LanguagePair]:
        """Yield the pairs of the first language with each other one that was named."""
        first, *others = self.languages or (None,)
        for other in others:
            assert first is not None
            yield LanguagePair(first, other)

    def pairs(self) -> Iterator[LanguagePair]:
        """Yield every two languages that were named."""
        return (LanguagePair(*each) for each in combinations(self.languages, 2))

    def named_by(self, tokens: Collection[str]) -> frozenset[str]:
        """Return the codes of the languages that some words or pieces of a URL may name."""
        if self.is_open:
            return frozenset[str]().union(*map(languages_of_token, tokens))
        return frozenset(each.code for each in self.languages if not each.tokens.isdisjoint(tokens))

    def sought_from(self, code: str | None) -> frozenset[str]:
        """Return the codes to look for on a page in `code`: all others."""
        return _all_codes(self) - {code}

    def _place(self, code: str) -> tuple[int, str]:
        codes = self.codes
        return (codes.index(code) if code in codes else len(codes), code)

    def __hash__(self) -> int:
        return hash((self.codes, self.is_open))

    def __contains__(self, code: object) -> bool:
        return code in self.codes or (
            self.is_open and isinstance(code, str) and len(code) == CODE_LENGTH and _is_code(code)
        )

    def __iter__(self) -> Iterator[Language]:
        return iter(self.languages)

    def __str__(self) -> str:
        if not self.is_open:
            return "-".join(self.codes)
        return "-".join((*self.codes, ANY)) if self.languages else ALL


Languages = LanguagePair | OneLanguage | LanguageSet
"""What a crawl is for: two languages, one without translations, or more than two."""
ParallelLanguages = LanguagePair | LanguageSet
"""Languages between which there are translations."""


def parse_languages(text: str) -> Languages:
    """Return the languages that "spa-eus", "spa", "spa-eus-eng", "eng-*" or "all" means.

    A text that can be read as a pair is a pair. Names with hyphens in them are easier to read if
    commas separate the languages.
    """
    if text.strip() in (ALL, ANY):
        return LanguageSet((), is_open=True)
    parts = [each.strip() for each in _parts(text)]
    if ANY in parts:
        return LanguageSet(_read([each for each in parts if each != ANY]), is_open=True)
    try:
        return parse_pair_or_one(text)
    except (LanguagePairError, UnknownLanguageError):
        if len(parts) < LEAST_OF_SET:
            raise
    return LanguageSet(_read(parts))


def parse_parallel(text: str) -> ParallelLanguages:
    """Return two or more languages; one alone is refused."""
    languages = parse_languages(text)
    if isinstance(languages, OneLanguage):
        raise LanguagePairError(
            f"'{text.strip()}' is one language, and translations need two or more;"
            " write for instance spa-eus or spa-eus-eng."
        )
    return languages


def _parts(text: str) -> list[str]:
    """Return the parts of a list of languages: at commas if there are any, otherwise at hyphens."""
    parts = text.split(",") if "," in text else _SEPARATORS.split(text)
    if len(text) > LONGEST_LIST and len(parts) >= LEAST_OF_SET:
        raise LanguagePairError(
            f"The list of languages is {len(text):,} characters long, and a crawl can name"
            f" {MOST_LANGUAGES} languages: leave some out, or write langs=all."
        )
    return parts


def _read(parts: Sequence[str]) -> tuple[Language, ...]:
    """Return the languages that are named; a name may have hyphens in it."""
    if not all(parts):
        raise LanguagePairError(
            "There is an empty name among the languages; write for instance spa-eus-eng."
        )
    found = []
    at = 0
    while at < len(parts):
        ends = range(min(len(parts), at + LONGEST_NAME), at, -1)
        names = ((end, "-".join(parts[at:end])) for end in ends)
        end, name = next(
            ((end, name) for end, name in names if end - at > 1 and _is_name(name)),
            (at + 1, parts[at]),
        )
        found.append(recognise(find_language(name)))
        at = end
    return tuple(found)


def _is_name(text: str) -> bool:
    """Return True if a text with a hyphen is the name of a language, and not a code and another."""
    return language_code(text) is not None and any(
        language_code(part) is None for part in text.split("-")
    )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


@lru_cache(maxsize=1 << 14)
def _is_code(code: str) -> bool:
    """Return True for an ISO 639-3 code; an identifier, or a folder of others, may say anything."""
    try:
        return find_language(code).code == code
    except UnknownLanguageError:
        return False


@lru_cache(maxsize=64)
def _tokens_of(languages: LanguageSet) -> frozenset[str]:
    """Return the tokens of a set; of an open one those of languages with a two-letter code too.

    The other languages have three-letter codes, and most three letters are the code of some.
    """
    wanted: Iterable[Language] = languages.languages
    if languages.is_open:
        wanted = (*languages.languages, *(each for each in all_languages() if each.iso639_1))
    return frozenset[str]().union(*(each.tokens for each in wanted))


@lru_cache(maxsize=64)
def _all_codes(languages: LanguageSet) -> frozenset[str]:
    named = frozenset(languages.codes)
    return named | {each.code for each in all_languages()} if languages.is_open else named
