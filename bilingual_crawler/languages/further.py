"""The languages with an ISO 639-3 code that the main table does not have, about 7,400.

They are kept apart because their codes and names are ordinary words of English and of URLs ("the",
"for", "web", "mono"): such a language means something only where a user or a page names it. The
list is made by `tools/languages.py` and read on the first question about such a language.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from bilingual_crawler.languages.normal_forms import normalize

_CODE = re.compile(r"[a-z]{3}")
_PRIVATE = re.compile(r"q[a-t][a-z]")
_ASIDE = re.compile("['\u2018\u2019\u02bb\u02bc]")
COLUMNS = 5
LEAST_NAME = 3


class FurtherLanguage(NamedTuple):
    """A row of the list."""

    code: str
    names: tuple[str, ...]
    """English names, the usual one first."""
    endonyms: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    macrolanguage: str = ""
    """The code of the macrolanguage or group that it belongs to; "" if there is none."""

    @property
    def tokens(self) -> frozenset[str]:
        """The pieces of URLs and switches that may mean it: its code and its names."""
        words = {name.lower() for name in (*self.names, *self.endonyms) if "(" not in name}
        words |= {_plain(word) for word in words}
        parts = [word.split() for word in words if word]
        joined = {"-".join(each) for each in parts} | {"".join(each) for each in parts}
        places = {f"{self.code}-{country}" for country in self.countries}
        return frozenset({self.code} | joined | places)


def further_language(code: str) -> FurtherLanguage | None:
    """Return the language with a code of three letters.

    The codes qaa to qtz are for private use: a language without a code can be taught under one.
    """
    if not _CODE.fullmatch(code):
        return None
    if _PRIVATE.fullmatch(code):
        return FurtherLanguage(code, (f"Language {code}",))
    line = _lines().get(code)
    return None if line is None else _row(line)


def further_by_name(name: str) -> FurtherLanguage | None:
    """Return the language with an English name or endonym, in lower case.

    What has two letters is meant for an ISO 639-1 code, although there is a language called Ma.
    """
    code = _names().get(name) if len(name) >= LEAST_NAME else None
    return None if code is None else further_language(code)


def further_names() -> Iterator[str]:
    """Yield all names, in lower case."""
    yield from _names()


@cache
def _lines() -> dict[str, str]:
    source = files("bilingual_crawler").joinpath("data/further_languages.tsv")
    lines = source.read_text(encoding="utf-8").splitlines()[1:]
    return {line[:3]: line for line in lines}


@cache
def _names() -> dict[str, str]:
    found: dict[str, str] = {}
    rows = [_row(line) for line in _lines().values()]
    for row in rows:
        found.setdefault(row.names[0].lower(), row.code)
    for row in rows:
        for name in (*row.endonyms, *row.names[1:]):
            found.setdefault(name.lower(), row.code)
    return found


def _row(line: str) -> FurtherLanguage:
    parts = line.split("\t")
    code, names, endonyms, countries, macro = parts + [""] * (COLUMNS - len(parts))
    called = tuple(filter(None, endonyms.split("|")))
    return FurtherLanguage(code, tuple(names.split("|")), called, tuple(countries.split()), macro)


def _plain(word: str) -> str:
    """Return a word as typed without apostrophes and, in Latin letters, without diacritics."""
    word = _ASIDE.sub("", word)
    bare = "".join(char for char in normalize("NFKD", word) if not _is_mark(char))
    return bare if bare.isascii() else word


def _is_mark(char: str) -> bool:
    return "\u0300" <= char <= "\u036f"
