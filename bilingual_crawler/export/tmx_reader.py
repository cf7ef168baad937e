"""Translation memories of any tool: TMX of any version, plain or gzipped, in any encoding.

Files of strangers are read without entities, network or DTD, and within the limits of the
parser (no text of more than ten million characters, no deep nesting). Memory stays flat:
each unit is forgotten once it has been read.
"""

import math
import re
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, cast

from lxml import etree

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.account import Account
from bilingual_crawler.export.source import EMPTY
from bilingual_crawler.export.tmx import AT, BEADS, KIND, PAIR, SCORE, URL
from bilingual_crawler.languages import LanguagePair, find_language, language_of_tag
from bilingual_crawler.store.input_files import DAMAGED_GZIP, unpacked
from bilingual_crawler.store.json_lines import Watch
from bilingual_crawler.store.sentence_pair import SentencePair, pair_id

ENTITY = "a text has an entity, which is not expanded"
TOO_LARGE = "the unit has too many elements"
MOST_IN_UNIT = 20_000
"""Elements of a unit; memories of real tools have a few dozen."""
ONE_LANGUAGE = "the unit does not have both languages"
SCORES = (SCORE, "score", "score-bicleaner-ai", "score-bicleaner", "score-aligner")
"""What tools call the score of a unit; the first one that a unit has counts."""
URLS = (URL, "x-url", "url")
_CODES = frozenset({"bpt", "ept", "it", "ph", "ut", "sub"})
"""Elements of a segment that hold codes of a layout, not text; `hi` holds text."""
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_POSITION = re.compile("[0-9]{1,15}")
_TELL_EVERY = 1000

Sides = dict[str, tuple[str, str]]
"""ISO 639-3 code -> text and URL of the first variant in that language."""


class TmxFile:
    """The units of a file as sentence pairs.

    Without `languages` those of the first unit with two count, the file's source language
    first; `languages` knows them afterwards.
    """

    def __init__(self, file: Path, account: Account, languages: LanguagePair | None = None) -> None:
        self.languages = languages
        self._file = file
        self._account = account
        self._source: str | None = None
        self._whole = pair_id(file.name, "")
        """The document pair of units that do not say from which documents they are."""
        self._number = 0

    def read(self, watch: Watch = lambda _share: None) -> Iterator[SentencePair]:
        """The sentence pairs in the order of the file; what is left out is counted."""
        try:
            with self._file.open("rb") as raw:
                size = max(1, self._file.stat().st_size)
                for number, unit in enumerate(self._units(raw), 1):
                    if number % _TELL_EVERY == 0:
                        watch(min(1.0, raw.tell() / size))
                    row = self._row(unit)
                    if row is not None:
                        yield row
        except etree.XMLSyntaxError as error:
            problem = (error.msg or "it is empty").rstrip(".")
            raise ConfigurationError(
                f"{self._file} is not a sound TMX file: {problem}. Nothing was imported."
            ) from error
        except DAMAGED_GZIP as error:
            raise ConfigurationError(
                f"{self._file} ends too soon: the gzip file is cut off. Nothing was imported."
            ) from error
        except OSError as error:
            reason = error.strerror or error
            raise ConfigurationError(f"{self._file} cannot be read: {reason}.") from error

    def _units(self, raw: BufferedReader) -> Iterator[etree._Element]:
        """Every unit, once it is complete; whatever else ends is freed at once."""
        events = etree.iterparse(
            cast("Any", unpacked(raw)),
            events=("start", "end"),
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        unit: etree._Element | None = None
        is_tmx, inside = False, 0
        for event, element in events:
            if event == "end" and unit is not None and element is unit:
                if inside <= MOST_IN_UNIT:
                    yield unit
                else:
                    self._account.left_out[TOO_LARGE] += 1
                _forget(unit)
                unit = None
            elif event == "end" and (unit is None or inside > MOST_IN_UNIT):
                _forget(element)
            elif event == "start" and unit is not None:
                inside += 1
            elif event == "start":
                name = etree.QName(element).localname
                is_tmx = is_tmx or (name == "tmx" and element.getparent() is None)
                if name == "header":
                    self._source = _code(element.get("srclang"))
                elif name == "tu" and is_tmx:
                    unit, inside = element, 0
        if not is_tmx:
            raise ConfigurationError(
                f"{self._file} is XML but not TMX: its first element is not <tmx>."
            )

    def _row(self, unit: etree._Element) -> SentencePair | None:
        left_out = self._account.left_out
        if next(unit.iter(etree.Entity), None) is not None:
            left_out[ENTITY] += 1
            return None
        sides = self._sides(unit)
        languages = self.languages or self._first_two(sides)
        if languages is None or not all(code in sides for code in languages.codes):
            left_out[ONE_LANGUAGE] += 1
            return None
        self.languages = languages
        (text1, url1), (text2, url2) = (sides[code] for code in languages.codes)
        if not (text1.strip() and text2.strip()):
            left_out[EMPTY] += 1
            return None
        props = _props(unit)
        at = _position(props.get(AT))
        row = SentencePair(
            pair=props.get(PAIR) or (pair_id(url1, url2) if url1 and url2 else self._whole),
            at=self._number if at is None else at,
            url1=url1,
            url2=url2,
            lang1=languages.first.code,
            lang2=languages.second.code,
            text1=text1,
            text2=text2,
            beads=props.get(BEADS, "1-1"),
            kind=props.get(KIND, "paragraph"),
            score=_score(props),
        )
        self._number += 1
        self._account.written["sentence pairs"] += 1
        return row

    def _sides(self, unit: etree._Element) -> Sides:
        sides: Sides = {}
        for variant in unit.iterchildren("{*}tuv"):
            code = _code(variant.get(_XML_LANG) or variant.get("lang"))
            segment = next(variant.iterchildren("{*}seg"), None)
            if code is None or segment is None or code in sides:
                continue
            props = _props(variant)
            url = next((props[name] for name in URLS if name in props), "")
            sides[code] = _text(segment), url
        return sides

    def _first_two(self, sides: Sides) -> LanguagePair | None:
        codes = sorted(sides, key=lambda code: code != self._source)[:2]
        if len(codes) == 1 or not codes:
            return None
        return LanguagePair(find_language(codes[0]), find_language(codes[1]))


def _forget(element: etree._Element) -> None:
    """Free an element and what stands before it."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def _text(segment: etree._Element) -> str:
    """The text of a segment as a reader sees it, without codes."""
    parts = [segment.text or ""]
    for child in segment:
        if etree.QName(child).localname not in _CODES:
            parts.append(_text(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _props(element: etree._Element) -> dict[str, str]:
    found: dict[str, str] = {}
    for prop in element.iterchildren("{*}prop"):
        found.setdefault(prop.get("type") or "", prop.text or "")
    return found


def _code(tag: str | None) -> str | None:
    language = language_of_tag(tag) if tag else None
    return None if language is None else language.code


def _position(text: str | None) -> int | None:
    return int(text) if text is not None and _POSITION.fullmatch(text) else None


def _score(props: dict[str, str]) -> float:
    for name in SCORES:
        try:
            score = float(props[name])
        except (KeyError, ValueError):
            continue
        if math.isfinite(score):
            return score
    return 1.0
