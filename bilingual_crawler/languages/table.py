"""The one table of languages: codes, names, countries and the tokens they leave in URLs.

A language is known everywhere in the project by its ISO 639-3 code; for macrolanguages
that is the code people write (`zho`, `ara`, `nor`, `msa`), and the codes of their standard
varieties (`cmn`, `arb`, `nob`, `zsm`) lead to it. The table is made by `tools/languages.py`
and read on first use, in a few milliseconds. All other languages with an ISO 639-3 code are in
`further.py`: they are found where the table has no answer, and their tokens mean them in URLs only
once a crawl is for them.

If a text may mean several languages, the first kind of name that fits decides: ISO 639-3,
ISO 639-1, ISO 639-2, CLD2, any other code, English name, endonym, other English name. Within a
kind, languages that CLD2 can identify come first, then those with an ISO 639-1 code, then the
alphabetical order of codes. A URL token comes last, and only if it means a single language.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, ClassVar, NamedTuple, Self

from bilingual_crawler.languages.further import (
    FurtherLanguage,
    further_by_name,
    further_language,
    further_names,
)
from bilingual_crawler.languages.normal_forms import normalize
from bilingual_crawler.suggestions import hint, nearest

SUGGESTIONS = 3
LONGEST_TEXT = 100

_SEPARATORS = re.compile("[-_,]")


class UnknownLanguageError(ValueError):
    """A text that names no language; the message suggests similar ones."""


class LanguagePairError(ValueError):
    """A text that is not two different languages; the message gives an example."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language with its codes, names, countries and URL tokens.

    `cld2` are its CLD2 codes, none if CLD2 does not know it. `countries` are
    ISO 3166-1 codes in lower case, most speakers first. `tokens` are the lower-case pieces
    of URLs that may mean it: codes, names, endonyms (also without diacritics), code with
    country ("es-es", "es_es"). `macrolanguage` is the code of a language in this table or in the
    further list that this one is a variety of. Two languages are equal if their codes are.
    """

    code: str
    iso639_1: str | None = field(compare=False)
    iso639_2: tuple[str, ...] = field(compare=False)
    cld2: tuple[str, ...] = field(compare=False)
    name: str = field(compare=False)
    endonyms: tuple[str, ...] = field(compare=False)
    countries: tuple[str, ...] = field(compare=False, repr=False)
    tokens: frozenset[str] = field(compare=False, repr=False)
    macrolanguage: str = field(compare=False, repr=False, default="")

    def __str__(self) -> str:
        return f"{self.name} ({self.code})"


@dataclass(frozen=True, slots=True)
class LanguagePair:
    """Two different languages, in the order they were given."""

    first: Language
    second: Language
    harvest: ClassVar[str] = "pairs"
    """What a crawl for them collects."""

    def __post_init__(self) -> None:
        if self.first == self.second:
            raise LanguagePairError(
                f"A pair needs two different languages, not {self.first} twice; "
                "write for instance spa-eus."
            )

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the pair that "spa-eus", "es,eu" or "Spanish-Basque" means.

        Names may contain the separator ("Serbo-Croatian-English"), so every split is tried.
        """
        splits = _splits(text)
        pairs = dict.fromkeys(_read(splits))
        readings = [pair for pair in pairs if pair[0] != pair[1]] or list(pairs)
        if len(readings) == 1:
            return cls(*map(recognise, readings[0]))
        if readings:
            choice = " or ".join(f"{first.code}-{second.code}" for first, second in readings)
            raise LanguagePairError(f"'{text}' may mean {choice}; write which one.")
        if len(splits) == 1 and all(part.strip() for part in splits[0]):
            for part in splits[0]:
                find_language(part)
        raise LanguagePairError(
            f"'{_short(text)}' is not a pair of languages; write two ISO 639-3 codes "
            "with a hyphen between them, such as spa-eus."
        )

    @property
    def codes(self) -> tuple[str, str]:
        """The two ISO 639-3 codes."""
        return self.first.code, self.second.code

    def other(self, code: str) -> Language:
        """Return the language of the pair that is not `code`."""
        if code == self.first.code:
            return self.second
        if code == self.second.code:
            return self.first
        raise ValueError(f"'{code}' is not a language of the pair {self}.")

    def sought_from(self, code: str | None) -> frozenset[str]:
        """Return the codes to look for on a page in `code`: the other, or both if it is neither."""
        return frozenset(self.codes) - {code}

    @property
    def names(self) -> str:
        """Both names, for a sentence."""
        return f"{self.first.name} and {self.second.name}"

    @property
    def file_name(self) -> str:
        """The pair as a part of a file name."""
        return str(self)

    @property
    def tokens(self) -> frozenset[str]:
        """The pieces of URLs that may mean one of the two."""
        return self.first.tokens | self.second.tokens

    def pair_of(self, one: str, other: str) -> Self:  # noqa: ARG002 - there are only two
        """Return the pair that two different languages of it make: itself."""
        return self

    def admits(self, one: str, other: str) -> bool:
        """Return True if these are the two languages, in any order."""
        return {one, other} == {self.first.code, self.second.code}

    def pivots(self) -> Iterator[Self]:
        """Yield the pair: the first language with each other one."""
        yield self

    def pairs(self) -> Iterator[Self]:
        """Yield the pair: every two languages."""
        yield self

    def named_by(self, tokens: Collection[str]) -> frozenset[str]:
        """Return the codes of the languages that some words or pieces of a URL may name."""
        return frozenset(each.code for each in self if not each.tokens.isdisjoint(tokens))

    def __contains__(self, code: object) -> bool:
        return code in self.codes

    def __iter__(self) -> Iterator[Language]:
        return iter((self.first, self.second))

    def __str__(self) -> str:
        return "-".join(self.codes)


@dataclass(frozen=True, slots=True)
class OneLanguage:
    """The language of a crawl that looks for texts, not for translations."""

    only: Language
    harvest: ClassVar[str] = "documents"
    """What a crawl for it collects."""

    @property
    def codes(self) -> tuple[str]:
        """The ISO 639-3 code."""
        return (self.only.code,)

    def sought_from(self, code: str | None) -> frozenset[str]:  # noqa: ARG002 - the same from all
        """Return the codes to look for on a page in any language."""
        return frozenset(self.codes)

    @property
    def names(self) -> str:
        """The name, for a sentence."""
        return self.only.name

    @property
    def file_name(self) -> str:
        """The language as a part of a file name."""
        return self.only.code

    @property
    def tokens(self) -> frozenset[str]:
        """The pieces of URLs that may mean it."""
        return self.only.tokens

    def named_by(self, tokens: Collection[str]) -> frozenset[str]:
        """Return the code if some words or pieces of a URL may name the language."""
        return frozenset(self.codes) if not self.only.tokens.isdisjoint(tokens) else frozenset()

    def __contains__(self, code: object) -> bool:
        return code == self.only.code

    def __iter__(self) -> Iterator[Language]:
        return iter((self.only,))

    def __str__(self) -> str:
        return self.only.code


def parse_pair_or_one(text: str) -> LanguagePair | OneLanguage:
    """Return the two languages that "spa-eus" means, or the one that "spa" or "Spanish" means.

    A text that can be read as a pair is a pair.
    """
    try:
        return LanguagePair.parse(text)
    except (LanguagePairError, UnknownLanguageError):
        splits = _splits(text)
        if len(text) > LONGEST_TEXT or any(_read(splits)):
            raise
        if not splits:
            return OneLanguage(recognise(find_language(text)))
        language = _lookup(text)
        if language is None:
            raise
        return OneLanguage(recognise(language))


def find_language(text: str) -> Language:
    """Return the language with this code, English name or endonym, in any case."""
    language = _lookup(text)
    if language is None:
        raise UnknownLanguageError(_complaint(text))
    return language


@lru_cache(maxsize=1 << 12)
def language_code(text: str) -> str | None:
    """Return the ISO 639-3 code of the language that `find_language` finds; None if it does not."""
    language = _lookup(text)
    return None if language is None else language.code


def language_of_tag(tag: str) -> Language | None:
    """Return the language of an `hreflang` or `lang` value such as "eu-ES" or "zh-Hant-TW".

    Only codes are tags: "x-default" and "english" give None.
    """
    first, *rest = tag.strip().lower().replace("_", "-").split("-")
    by_code = _table().by_code
    if rest and (exact := by_code.get(f"{first}-{rest[-1]}")):
        return exact
    return by_code.get(first) or _further(first)


def language_tag(code: str) -> str:
    """Return the BCP 47 tag of an ISO 639-3 code: the two-letter code if there is one."""
    language = _table().by_code.get(code) or _further(code)
    return code if language is None else language.iso639_1 or language.code


def language_of_cld2(code: str) -> Language | None:
    """Return the language of a CLD2 code; None for "un" and for scripts."""
    return _table().by_cld2.get(code)


def languages_of_token(token: str) -> frozenset[str]:
    """Return the ISO 639-3 codes of the languages that a piece of a URL may mean."""
    return _table().by_token.get(token.lower(), frozenset())


def all_languages() -> tuple[Language, ...]:
    """Return every language of the table, sorted by code."""
    return _table().languages


def recognise(language: Language) -> Language:
    """Let the tokens of a language that a crawl is for mean it in URLs; return the language.

    Those of the table always do. This is for all others, whose codes and names are too often
    something else where nobody looks for them.
    """
    table = _table()
    if language.code not in table.by_code:
        alone = frozenset((language.code,))
        for token in language.tokens:
            table.by_token[token] = table.by_token.get(token, frozenset()) | alone
    return language


class _Table(NamedTuple):
    languages: tuple[Language, ...]
    by_code: dict[str, Language]
    by_cld2: dict[str, Language]
    by_name: dict[str, Language]
    by_token: dict[str, frozenset[str]]


@cache
def _table() -> _Table:
    source = files("bilingual_crawler").joinpath("data/languages.json")
    rows = json.loads(source.read_text(encoding="utf-8"))["languages"]
    languages = tuple(map(_language, rows))
    by_token: dict[str, frozenset[str]] = {}
    for language in languages:
        alone = frozenset((language.code,))
        for token in language.tokens:
            by_token[token] = by_token.get(token, frozenset()) | alone
    by_code, by_name = _names(languages, rows)
    by_cld2 = {code: language for language in languages for code in language.cld2}
    return _Table(languages, by_code, by_cld2, by_name, by_token)


def _language(row: dict[str, Any]) -> Language:
    code, short = row["code"], row.get("iso639_1")
    countries = row.get("countries", ())
    tokens = {code, *row.get("iso639_2", ()), *row.get("tokens", ())}
    tokens.update(f"{short or code}-{country}" for country in countries)
    if short:
        tokens.add(short)
    tokens.update([token.replace("-", "_") for token in tokens if "-" in token])
    return Language(
        code=code,
        iso639_1=short,
        iso639_2=tuple(row.get("iso639_2", ())),
        cld2=tuple(row.get("cld2", ())),
        name=row["name"],
        endonyms=tuple(row.get("endonyms", ())),
        countries=tuple(countries),
        tokens=frozenset(tokens),
    )


@lru_cache(maxsize=1 << 10)
def _further(code: str) -> Language | None:
    """Return a language that the table does not have."""
    row = further_language(code)
    return None if row is None else _of_further(row)


def _of_further(row: FurtherLanguage) -> Language:
    return Language(
        code=row.code,
        iso639_1=None,
        iso639_2=(),
        cld2=(),
        name=row.names[0],
        endonyms=row.endonyms,
        countries=row.countries,
        tokens=row.tokens | {token.replace("-", "_") for token in row.tokens},
        macrolanguage=row.macrolanguage,
    )


def _names(
    languages: Iterable[Language], rows: Iterable[dict[str, Any]]
) -> tuple[dict[str, Language], dict[str, Language]]:
    """Return the languages by code, and by code or name; see the rule at the top."""
    ranked = sorted(
        zip(languages, rows, strict=True),
        key=lambda pair: (not pair[0].cld2, not pair[0].iso639_1, pair[0].code),
    )
    by_code: dict[str, Language] = {}
    for kind in ("code", "iso639_1", "iso639_2", "cld2", "aliases"):
        for language, row in ranked:
            for code in _listed(row.get(kind, ())):
                by_code.setdefault(code.lower(), language)
    by_name = dict(by_code)
    for kind in ("name", "endonyms", "names"):
        for language, row in ranked:
            for name in _listed(row.get(kind, ())):
                by_name.setdefault(_key(name), language)
    return by_code, by_name


def _lookup(text: str) -> Language | None:
    table, key = _table(), _key(text)
    if key in table.by_name:
        return table.by_name[key]
    codes = table.by_token.get(key, frozenset()) & table.by_code.keys()
    if len(codes) == 1:
        return table.by_code[next(iter(codes))]
    row = further_language(key) or further_by_name(key)
    return None if row is None else _of_further(row)


def _listed(value: str | Iterable[str]) -> Iterable[str]:
    return (value,) if isinstance(value, str) else value


def _key(text: str) -> str:
    return " ".join(normalize("NFC", text).lower().split())


def _splits(text: str) -> list[tuple[str, str]]:
    """Return the ways to split a text into two: at a comma if there is one."""
    if len(text) > LONGEST_TEXT:
        return []
    separators = list(re.finditer(",", text)) or list(_SEPARATORS.finditer(text))
    return [(text[: found.start()], text[found.end() :]) for found in separators]


def _read(splits: Iterable[tuple[str, str]]) -> Iterator[tuple[Language, Language]]:
    for left, right in splits:
        first, second = _lookup(left), _lookup(right)
        if first and second:
            yield first, second


def _complaint(text: str) -> str:
    by_name = _table().by_name
    written = _key(text[:LONGEST_TEXT])
    near = dict.fromkeys(by_name[each] for each in nearest(written, by_name))
    if not near:
        rows = filter(None, map(further_by_name, nearest(written, further_names())))
        near = dict.fromkeys(map(_of_further, rows))
    otherwise = "write an ISO 639-3 code such as eus, or an English name such as Basque."
    return f"There is no language '{_short(text)}'; {hint(list(near)[:SUGGESTIONS], otherwise)}"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}..."
