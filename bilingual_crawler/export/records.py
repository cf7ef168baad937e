"""Sentence pairs in the records of other people's corpora: which field holds what.

A record is a row of a table or a JSON object. Its fields have the names of our own exports, of
Bitextor, of Bicleaner, of the `translation` column of Hugging Face, or are language codes
themselves. What no field says (a URL, a score) is left open.
"""

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.source import EMPTY, Account, check
from bilingual_crawler.languages import LanguagePair, find_language, language_of_tag
from bilingual_crawler.store.sentence_pair import FIELDS, SentencePair, pair_id

OTHER_LANGUAGES = "the row is in other languages"
NAMES: Mapping[str, tuple[str, ...]] = {
    "text1": ("text1", "src_text", "source_text", "source", "src", "src_sentence"),
    "text2": (
        *("text2", "trg_text", "tgt_text", "target_text", "target", "trg", "tgt"),
        *("trg_sentence", "tgt_sentence"),
    ),
    "url1": ("url1", "src_url", "source_url"),
    "url2": ("url2", "trg_url", "tgt_url", "target_url"),
    "lang1": ("lang1", "src_lang", "source_lang"),
    "lang2": ("lang2", "trg_lang", "tgt_lang", "target_lang"),
    "score": ("score", "bicleaner_ai_score", "bicleaner_score", "bicleaner", "laser_score"),
}
"""The names of the fields, in the order in which they count."""
TRANSLATION = "translation"
_SIDES = tuple(
    name.removesuffix("1") for name in FIELDS if name.endswith("1") and f"{name[:-1]}2" in FIELDS
)
"""What a sentence pair says of each of its sides."""

_NUMBERS: Mapping[str, type[int | float]] = {
    each.name: kind
    for each in dataclasses.fields(SentencePair)
    for kind in (int, float)
    if type(each.default) is kind
}
"""The fields that hold numbers, and how to read one."""

Record = Mapping[str, Any]


def field_of(name: str) -> str:
    """Return the field of a sentence pair that a column holds; its own name for any other."""
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    return next((field for field, names in NAMES.items() if plain in names), plain)


class RecordReading:
    """RecordReading, read as sentence pairs.

    Without `languages`, those of the first record that names two count; `languages` holds them
    afterwards.
    """

    def __init__(
        self,
        file: Path,
        account: Account,
        languages: LanguagePair | None,
        records: Iterable[tuple[str, Record]],
    ) -> None:
        self.languages = languages
        self._account = account
        self._file = file
        self._records = records
        self._whole = pair_id(file.name, "")
        """The document pair of records that do not name their documents."""
        self._number = 0

    def read(self) -> Iterator[SentencePair]:
        """Yield the sentence pairs in the order of the records; count what is left out."""
        for place, record in self._records:
            try:
                row = self._row(_named(record))
            except (TypeError, ValueError, OverflowError) as error:
                self._account.damage.add(place, str(error))
                continue
            if row is not None:
                self._account.written["sentence pairs"] += 1
                yield row

    def _row(self, fields: dict[str, Any]) -> SentencePair | None:
        left_out = self._account.left_out
        fields = self._in_order(fields)
        languages = self.languages
        if languages is None or not fields:
            left_out[OTHER_LANGUAGES] += 1
            return None
        if not (_text(fields, "text1").strip() and _text(fields, "text2").strip()):
            left_out[EMPTY] += 1
            return None
        url1, url2 = _text(fields, "url1"), _text(fields, "url2")
        known: dict[str, Any] = {
            **{name: _typed(name, fields[name]) for name in FIELDS if _is_told(fields, name)},
            "pair": fields.get("pair") or (pair_id(url1, url2) if url1 and url2 else self._whole),
            "at": int(fields.get("at") or self._number),
            "url1": url1,
            "url2": url2,
            "text1": _text(fields, "text1"),
            "text2": _text(fields, "text2"),
            "lang1": languages.first.code,
            "lang2": languages.second.code,
            "score": _score(fields.get("score")),
        }
        row = SentencePair.from_dict(known)
        check(row)
        self._number += 1
        return row

    def _in_order(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields with the first language first; {} if it has other languages."""
        codes = tuple(_code(fields.get(name)) for name in ("lang1", "lang2"))
        if not all(codes):
            if self.languages is None:
                raise ConfigurationError(
                    f"{self._file} does not say which languages it has: write --langs with the"
                    " language of the first text first, such as --langs eng-fra."
                )
            return fields
        first, second = codes
        if self.languages is None and first != second:
            self.languages = LanguagePair(find_language(first), find_language(second))
        wanted = self.languages.codes if self.languages else ()
        if codes == tuple(wanted):
            return fields
        return _swapped(fields) if codes == tuple(reversed(wanted)) else {}


def _named(record: Record) -> dict[str, Any]:
    """Return the fields of a record under our names."""
    told = record.get(TRANSLATION)
    sides = told if isinstance(told, Mapping) else record
    codes = [name for name, value in sides.items() if isinstance(value, str) and _code(name)]
    fields = {field_of(name): value for name, value in record.items() if name != TRANSLATION}
    if "text1" not in fields and len(codes) > 1:
        first, second = codes[:2]
        fields |= {"text1": sides[first], "text2": sides[second], "lang1": first, "lang2": second}
    if "text1" not in fields or "text2" not in fields:
        raise ValueError("no two texts")
    return fields


def _is_told(fields: Mapping[str, Any], name: str) -> bool:
    value = fields.get(name)
    return value is not None and value != ""


def _typed(name: str, value: Any) -> Any:
    """Return a value in the type of its field; tables hold everything as text."""
    number = _NUMBERS.get(name)
    return number(value) if number is not None and isinstance(value, str) else value


def _swapped(fields: Mapping[str, Any]) -> dict[str, Any]:
    swapped = dict(fields)
    for side in _SIDES:
        one, other = f"{side}1", f"{side}2"
        swapped[one], swapped[other] = fields.get(other), fields.get(one)
    beads = fields.get("beads")
    if isinstance(beads, str):
        swapped["beads"] = "-".join(reversed(beads.split("-")))
    return swapped


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"{name} is not text")
    return value.encode("utf-8", "replace").decode()


def _score(value: Any) -> float:
    if value is None or value == "":
        return 1.0
    score = float(value)
    if not math.isfinite(score):
        raise ValueError("the score is not a number")
    return score


def _code(tag: Any) -> str:
    language = language_of_tag(tag) if isinstance(tag, str) and tag else None
    return "" if language is None else language.code


def usual_columns(first: Sequence[str], file: Path) -> list[str] | None:
    """Return what the columns of a table without a header hold; None if its first row is one."""
    fields = [field_of(name) for name in first]
    if {"text1", "text2"} <= set(fields) or sum(map(bool, map(_code, first))) > 1:
        return None
    is_url = ["://" in value and " " not in value for value in first]
    if len(first) > 3 and all(is_url[:2]):  # noqa: PLR2004 - two URLs and two texts
        return ["url1", "url2", "text1", "text2", *_score_at(first, 4)]
    if len(first) > 1 and not any(is_url[:2]):
        return ["text1", "text2", *_score_at(first, 2)]
    raise ConfigurationError(
        f"{file} has no header, and its first row is {'<tab>'.join(first)[:80]!r}: say what its"
        " columns hold, such as --columns url1,url2,text1,text2,score (- for one to ignore)."
    )


def _score_at(first: Sequence[str], at: int) -> list[str]:
    try:
        float(first[at])
    except (IndexError, ValueError):
        return []
    return ["score"]
