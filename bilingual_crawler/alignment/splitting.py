"""Paragraphs to sentences, in any language.

The library sentencex knows the abbreviations of many languages and falls back to a related one
for the rest; benchmarks/splitters.py compares it with others. Some habits of real text that it
does not know are handled here. No sentence begins

- in lower case, or in the middle of a line without any mark before it,
- right after a full stop without a space (a name, "FIN.MES", but not "end.Then"),
- with a number after a short word ("kl. 10.30"),
- after a single letter of a script without capitals.

An ellipsis before a capital ends one.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import sentencex

from bilingual_crawler.documents.document import Document, Paragraph
from bilingual_crawler.languages import language_of_tag

SHORT_WORD = 3
LONGEST_PIECE = 20_000
"""Characters that are split together; a longer paragraph is not prose."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_AFTER_ELLIPSIS = re.compile(r"(?:(?<=[^\W\d_]\u2026)|(?<=[^\W\d_]\.\.\.))\s+(?=[^\W\d_])")
_ORDINALS = "ºª°"
_BEGINNING = "¿¡"
_IN_WORDS = frozenset({"Ll", "Lu", "Nd"})
_CLOSING = frozenset({"Pe", "Pf"})
_OPENING = "([{«“\"'"
TAIL = 16
"""Characters at the end of a sentence that show whether it is complete."""


def sentences(text: str, language: str) -> list[str]:
    """Return the sentences of a text, in order, each without surrounding white space.

    No character of the text is lost, added or moved, other than white space. Any text and any
    language code will do.
    """
    parts: list[str] = []
    for piece in _pieces(text, _code(language)):
        if parts and _goes_on(parts[-1], piece):
            parts[-1] += piece
        else:
            parts.append(piece)
    found = (sentence for part in parts for sentence in _at_ellipses(part))
    return [stripped for each in found if (stripped := each.strip())]


@lru_cache(maxsize=256)
def _code(language: str) -> str:
    """Return the code that sentencex uses for a language."""
    known = language_of_tag(language)
    return (known.iso639_1 or known.code) if known else "en"


def _pieces(text: str, code: str) -> list[str]:
    """Return the text cut where the library sees the end of a sentence."""
    pieces: list[str] = []
    for start in range(0, len(text), LONGEST_PIECE):
        part = text[start : start + LONGEST_PIECE]
        ends, end = [], 0
        for piece in sentencex.segment(code, _SURROGATE.sub("\ufffd", part)):
            end += len(piece)
            ends.append(end)
        if end != len(part):
            ends = [len(part)]
        pieces.extend(part[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True))
    return pieces


def _goes_on(before: str, after: str) -> bool:
    """Return True if a sentence that seemed complete goes on."""
    body, ended = after.lstrip(), before.rstrip()
    if not body or "\n" in before[len(ended) :]:
        return not body
    if not ended.endswith("."):
        last = unicodedata.category(ended[-1:] or " ")
        return last in _IN_WORDS or unicodedata.category(body[0]) in _CLOSING or body[0] in ",;"
    if body[0].islower() or body[0] in _ORDINALS:
        return True
    if before.endswith(".") and body == after:
        is_name = not (body[:2].istitle() and before[-4:-1].islower())
        return body[0].isalnum() and is_name
    return body[0] not in _BEGINNING and _is_abbreviation(ended, before_digit=body[0].isdigit())


def _is_abbreviation(ended: str, *, before_digit: bool) -> bool:
    """Return True if a short word before a number, or one letter, is before the full stop.

    A letter of Latin, Greek or Cyrillic script may well end a sentence ("axis Y").
    """
    word = ended[-TAIL:].removesuffix(".").split()[-1:]
    kinds = [unicodedata.category(each) for each in "".join(word).lstrip(_OPENING)]
    if before_digit:
        return 0 < len(kinds) <= SHORT_WORD and set(kinds) == {"Ll"}
    return kinds == ["Lo"]


def _at_ellipses(part: str) -> list[str]:
    """Return a part cut after each ellipsis that a capital letter follows."""
    if "\u2026" not in part and "..." not in part:
        return [part]
    found = (match.end() for match in _AFTER_ELLIPSIS.finditer(part))
    cuts = [0, *(at for at in found if part[at].isupper())]
    return [part[a:b] for a, b in zip(cuts, [*cuts[1:], len(part)], strict=True)]


HEADINGS = frozenset({"title", "heading", "page_title"})


@dataclass(slots=True, frozen=True)
class Segment:
    """A sentence, the number of its paragraph, the paragraph's kind, its own number there."""

    text: str
    paragraph: int = 0
    kind: str = "paragraph"
    number: int = 0

    @property
    def is_heading(self) -> bool:
        """True for titles and headings."""
        return self.kind in HEADINGS


def segments_of(document: Document, language: str) -> list[Segment]:
    """Return the sentences of a page's content, in order; paragraphs keep their numbers."""
    return [
        segment
        for number, paragraph in enumerate(document.paragraphs)
        if document.is_content(paragraph)
        for segment in _split(paragraph, number, language)
    ]


def split_all(paragraphs: Iterable[Paragraph], language: str) -> list[Segment]:
    """Return the sentences of paragraphs; no sentence spans two paragraphs."""
    return [
        segment
        for number, paragraph in enumerate(paragraphs)
        for segment in _split(paragraph, number, language)
    ]


def _split(paragraph: Paragraph, number: int, language: str) -> Iterator[Segment]:
    for at, sentence in enumerate(sentences(paragraph.text, language)):
        yield Segment(sentence, number, paragraph.kind, at)
