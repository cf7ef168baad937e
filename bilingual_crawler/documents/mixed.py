"""Splits pages that say everything twice, once in each language of the pair.

A page with two languages in it is seldom a translation: most such pages are half translated,
quote, or show code. So it is not enough that both languages have much text. The page must also
be laid out as a translation: stretches in the two languages alternate (one for the whole page, or
one per section, row or paragraph), and the paragraphs of two successive ones correspond in
number, kind, length and figures. Only then is the page split.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from bilingual_crawler.documents.document import Document, Paragraph
from bilingual_crawler.languages import LanguagePair, ParallelLanguages

LEAST_TEXT = 200
"""Characters that the longer side must have."""
LEAST_SHARE, LEAST_DENSE_SHARE = 0.38, 0.2
"""The share of the text that the shorter side must have; the second is for dense scripts."""
DENSE = frozenset(("jpn", "kor", "zho"))
MOST_FOREIGN = 0.1
"""Characters allowed in a third language, per character in the two."""
LEAST_ANSWERED, LEAST_ANSWERS = 0.8, 4
"""The share of the text, and the number of paragraphs, that must have a counterpart."""
LENGTH_TOLERANCE = 0.35
STRAY_SHARE = 0.2
SLACK = 12
"""Characters by which paragraphs may differ in addition, for the sake of short ones."""
MOST_IN_STRETCH = 200
MOST_COMPARISONS = 100_000
"""After these, the beginning of a page decides for the rest of it."""

_TITLE_SEPARATOR = re.compile(r"(?<!\s)\s++(?:[|/\u2013\u2014\u00b7:-]++\s+|\|)|\|\s*")
_NUMBER = re.compile(r"\d{2,}")


class SideComparison(NamedTuple):
    """How much of the text of two sides corresponds."""

    answers: int
    answered: int
    compared: int


@dataclass(slots=True)
class Stretch:
    """Consecutive paragraphs in one language."""

    language: str
    paragraphs: list[Paragraph]


def split_mixed(
    document: Document, languages: ParallelLanguages
) -> tuple[Document, Document] | None:
    """Return the two documents of a page that is in both languages; None for any other page.

    Of more than two languages, the two that most of the page is in are looked at.
    The detected language of the page comes first. Each part has the paragraphs of its language
    in their order, with their headings, and the frame of the page; only the first part has the
    links, so that they are followed once.
    """
    pair = _main_pair(document, languages)
    if pair is None:
        return None
    stretches = _stretches(document, pair)
    if len(stretches) < len(pair.codes) or not _are_translations(stretches):
        return None
    order = stretches[0].language, stretches[1].language
    in_turns = all(len(each.paragraphs) == 1 for each in stretches)
    sides = _sides(document, order, in_turns=in_turns)
    first, second = order if document.language != order[1] else order[::-1]
    return (
        _part(document, first, sides[first]),
        replace(_part(document, second, sides[second]), links=[]),
    )


def _main_pair(document: Document, languages: ParallelLanguages) -> LanguagePair | None:
    """Return the two wanted languages that most of a page is in, if there are two."""
    if isinstance(languages, LanguagePair):
        return languages
    found = [code for code, _ in document.language_shares if code in languages][:2]
    return languages.pair_of(*found) if len(set(found)) == 2 else None  # noqa: PLR2004 - a pair


def _stretches(document: Document, pair: LanguagePair) -> list[Stretch]:
    """Return the stretches of text in alternating languages; none if the page has only one.

    A page that declares a translation elsewhere does not contain one.
    """
    codes = pair.codes
    if not set(codes) <= {code for code, _ in document.language_shares} or any(
        each.language in codes and each.url != document.url and each.language != document.language
        for each in document.alternates
    ):
        return []
    main = [each for each in document.paragraphs if not each.boilerplate]
    size = dict.fromkeys((*codes, ""), 0)
    for each in main:
        if each.language is not None:
            size[each.language if each.language in codes else ""] += len(each.text)
    both = size[codes[0]] + size[codes[1]]
    least = LEAST_SHARE if DENSE.isdisjoint(codes) else LEAST_DENSE_SHARE
    if (
        max(size[code] for code in codes) < LEAST_TEXT
        or min(size[code] for code in codes) < least * both
        or size[""] > MOST_FOREIGN * both
    ):
        return []
    labelled = [each for each in main if each.language in codes and each.kind != "title"]
    return [
        Stretch(language or "", list(group))
        for language, group in groupby(labelled, key=lambda each: each.language)
    ]


def _are_translations(stretches: Sequence[Stretch]) -> bool:
    """Return True if each stretch corresponds to the one after it.

    The first may stand alone (a date, a line about the author), and so may the last. A short
    stretch inside a long text in the other language (a name, a mistake of the language
    identifier) may be ignored.
    """
    total = sum(_length(each.paragraphs) for each in stretches)
    plain = _without_strays(stretches)
    readings = [stretches] if len(plain) == len(stretches) else [stretches, plain]
    return any(
        _answer_each_other(reading[start:], total) for reading in readings for start in (0, 1)
    )


def _without_strays(stretches: Sequence[Stretch]) -> list[Stretch]:
    """Drop stretches that are short between two long ones, which are joined."""
    sizes = [_length(each.paragraphs) for each in stretches]
    kept: list[Stretch] = []
    for at, stretch in enumerate(stretches):
        neighbours = sizes[max(0, at - 1) : at] + sizes[at + 1 : at + 2]
        if sizes[at] < STRAY_SHARE * min(neighbours, default=0):
            continue
        if kept and kept[-1].language == stretch.language:
            kept[-1] = Stretch(stretch.language, kept[-1].paragraphs + stretch.paragraphs)
        else:
            kept.append(stretch)
    return kept


def _answer_each_other(stretches: Sequence[Stretch], total: int) -> bool:
    ones, others = stretches[::2], stretches[1::2]
    sizes = [sum(_length(each.paragraphs) for each in side) for side in (ones, others)]
    if not all(sizes):
        return False
    ratio = sizes[1] / sizes[0]
    budget, answers, answered, left_out = MOST_COMPARISONS, 0, 0, 0
    for one, other in zip(ones, others, strict=False):
        left, right = one.paragraphs[:MOST_IN_STRETCH], other.paragraphs[:MOST_IN_STRETCH]
        budget -= len(left) * len(right)
        if budget < 0:
            left, right = [], []
        found = compare(left, right, ratio)
        answers += found.answers
        answered += found.answered
        left_out += _length(one.paragraphs) + _length(other.paragraphs) - found.compared
    return answers >= LEAST_ANSWERS and answered >= LEAST_ANSWERED * (total - left_out)


def compare(one: Sequence[Paragraph], other: Sequence[Paragraph], ratio: float) -> SideComparison:
    """Return the best alignment of `other` as the translation of `one`, in order.

    A paragraph corresponds to one of the other side or to none. `ratio` is how many characters
    of the one language make one of the other.
    """
    shapes = [_shape(each) for each in other]
    best = [(0, 0)] * (len(other) + 1)
    for here in map(_shape, one):
        before, best = best, [(0, 0)]
        for at, there in enumerate(shapes):
            way = max(before[at + 1], best[at])
            if _answers(here, there, ratio):
                text, count = before[at]
                way = max(way, (text + here.length + there.length, count + 1))
            best.append(way)
    answered, answers = best[-1]
    return SideComparison(answers, answered, _length(one) + _length(other))


class _Shape(NamedTuple):
    """What a paragraph shares with its translation."""

    kind: str
    length: int
    figures: frozenset[str]


def _shape(paragraph: Paragraph) -> _Shape:
    figures = frozenset(_NUMBER.findall(paragraph.text))
    return _Shape(_kind(paragraph), len(paragraph.text), figures)


def _answers(one: _Shape, other: _Shape, ratio: float) -> bool:
    """Return True if two paragraphs may be translations, by kind, length and figures."""
    if one.kind != other.kind:
        return False
    expected, found = one.length * ratio, other.length
    if abs(expected - found) > LENGTH_TOLERANCE * max(expected, found) + SLACK:
        return False
    return 2 * len(one.figures & other.figures) >= len(one.figures | other.figures)


def _kind(paragraph: Paragraph) -> str:
    return "heading" if paragraph.kind == "title" else paragraph.kind


def _length(paragraphs: Sequence[Paragraph]) -> int:
    return sum(len(each.text) for each in paragraphs)


def _sides(document: Document, order: tuple[str, str], *, in_turns: bool) -> dict[str, list[int]]:
    """Return the positions of the paragraphs of each language; the frame belongs to both.

    A paragraph that is too short to have a language belongs to the text before it, and from a
    heading on to the text after it. If the languages alternate, such paragraphs do so too.
    """
    sides: dict[str, list[int]] = {code: [] for code in order}
    unlabelled: list[int] = []
    before = ""
    for at, paragraph in enumerate(document.paragraphs):
        if paragraph.boilerplate:
            continue
        if paragraph.language not in order:
            unlabelled.append(at)
            continue
        language = paragraph.language
        if in_turns and before != order[0] and language == order[0] and len(unlabelled) % 2 == 0:
            sides[order[0]] += unlabelled[::2]
            sides[order[1]] += unlabelled[1::2]
        else:
            turn = _section_start(document.paragraphs, unlabelled) if before else 0
            sides[before or language] += unlabelled[:turn]
            sides[language] += unlabelled[turn:]
        sides[language].append(at)
        before, unlabelled = language, []
    sides[before] += unlabelled
    frame = [at for at, paragraph in enumerate(document.paragraphs) if paragraph.boilerplate]
    return {code: sorted(positions + frame) for code, positions in sides.items()}


def _section_start(paragraphs: Sequence[Paragraph], positions: Sequence[int]) -> int:
    """Return where the last headings among some paragraphs begin; their number if none do."""
    headings = [_kind(paragraphs[at]) == "heading" for at in positions]
    if True not in headings:
        return len(positions)
    start = len(headings) - 1 - headings[::-1].index(True)
    while start and headings[start - 1]:
        start -= 1
    return start


def _part(document: Document, code: str, positions: Sequence[int]) -> Document:
    paragraphs = [document.paragraphs[at] for at in positions]
    return replace(
        document,
        variant=code,
        language=code,
        language_source="paragraphs",
        language_shares=[(code, 100)],
        title=_title(document, code, paragraphs),
        paragraphs=paragraphs,
    )


def _title(document: Document, code: str, paragraphs: Sequence[Paragraph]) -> str:
    """Return the title in one language: a part of the page's title, all of it, or a heading.

    The title of a page in two languages often has both, separated by a stroke.
    """
    headings = [each for each in paragraphs if not each.boilerplate and _kind(each) == "heading"]
    pieces = set(_TITLE_SEPARATOR.split(document.title)) - {document.title}
    for heading in headings:
        if heading.text in pieces:
            return heading.text
    has_title = any(each.kind == "title" for each in headings)
    if has_title or (document.language == code and not _has_title(document)):
        return document.title
    return headings[0].text if headings else ""


def _has_title(document: Document) -> bool:
    return any(each.kind == "title" for each in document.paragraphs)
