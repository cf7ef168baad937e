"""The lines of a concordance: hits with their contexts, sorted, one page at a time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bilingual_crawler.web.concordance.index_file import Asking
from bilingual_crawler.web.concordance.question import (
    ConcordanceQuestion,
    CountedForm,
    HitSource,
    hits_of,
)
from bilingual_crawler.web.concordance.word_forms import (
    FormMaker,
    PlacedWord,
    form_maker,
    placed_words,
    words_in_sql,
)
from bilingual_crawler.web.search.search import Piece, pieces

MOST_SORTED = 50_000
"""Hits that are sorted by their context; of more, the first ones."""
SORTS = {
    "corpus": "As in the corpus",
    "left": "By the words before",
    "right": "By the words after",
    "hit": "By the hit",
    "score": "Best alignment first",
    "site": "By site",
}
IN_CONTEXT = {
    "left": "list_reverse(words[greatest(place - 3, 1) : place - 1])",
    "right": "words[place + {length} : place + {length} + 2]",
    "hit": "words[place : place + {length} - 1]",
}
BY_SENTENCE = {"score": "s.score DESC", "site": "d.site"}
CONTEXT = 12
"""Words that a line shows on each side of the hit."""
SENTENCES = """
SELECT id, doc, place, text1, text2, kind, score FROM sentences
WHERE id BETWEEN ? AND ? AND id IN ({ids})
"""
DOCUMENTS = """
SELECT doc, pair, url1, url2, lang1, lang2, site, day FROM documents
WHERE doc BETWEEN ? AND ? AND doc IN ({ids})
"""
"""Both tables are in the order of their numbers, so most of them need not be read."""


@dataclass(frozen=True, slots=True)
class ConcordanceLine:
    """A hit in the middle of its text, and the text of the other side."""

    pair: str
    at: int
    """The sentence pair: its document pair, and its place there."""
    left: str
    hit: str
    right: str
    other: list[Piece]
    """The text of the other side; the likely translation of the hit is a hit."""
    lang: str
    other_lang: str
    url: str
    other_url: str
    site: str
    day: str
    kind: str
    score: float
    cut_left: bool = False
    cut_right: bool = False

    @property
    def other_text(self) -> str:
        """The whole text of the other side."""
        return "".join(each.text for each in self.other)

    @property
    def translation(self) -> str:
        """The likely translation of the hit; "" if it is not known."""
        return next((each.text for each in self.other if each.hit), "")


@dataclass(slots=True)
class ConcordancePage:
    """One page of a concordance."""

    lines: list[ConcordanceLine] = field(default_factory=list)
    number: int = 0
    """All hits."""
    shown: int = 0
    """The hits that can be paged through: all, or the first ones if they are sorted."""
    forms: tuple[CountedForm, ...] = ()


class LineOrder(NamedTuple):
    """The order of the lines, and which of them are wanted."""

    sort: str = "corpus"
    page: int = 1
    size: int = 20


def concordance(
    asking: Asking,
    question: ConcordanceQuestion,
    order: LineOrder,
    weigh: Callable[[HitSource, int], Mapping[str, float]],
) -> ConcordancePage:
    """Return one page; `weigh` says how likely words of the other side translate the hits."""
    source = hits_of(asking, question)
    if source is None:
        return ConcordancePage()
    number = source.number
    if number is None:
        (number,) = asking.row(f"SELECT count(*) FROM ({source.statement})", source.values)
    shown = number if order.sort == "corpus" else min(number, MOST_SORTED)
    offset = (order.page - 1) * order.size
    if offset >= shown:
        return ConcordancePage([], number, shown, source.forms)
    hits = asking.rows(_sorted(source, question.side, order.sort), (
        *source.values, min(order.size, shown - offset), offset,
    ))  # fmt: skip
    sentences = _sentences(asking, {each[0] for each in hits})
    likely = weigh(source, number)
    lines = [
        _line(sentences[id_], place - 1, source.length, question.side, likely)
        for id_, place, *_ in hits
        if id_ in sentences
    ]
    return ConcordancePage(lines, number, shown, source.forms)


def _sorted(source: HitSource, side: str, sort: str) -> str:
    if sort == "corpus":
        in_order = "" if source.is_in_order else " ORDER BY w0.id, w0.place"
        return f"{source.statement}{in_order} LIMIT ? OFFSET ?"
    first = f"({source.statement} ORDER BY w0.id, w0.place LIMIT {MOST_SORTED})"
    if sort in BY_SENTENCE:
        return (
            f"SELECT h.id, h.place FROM {first} h JOIN sentences s ON s.id = h.id"
            " JOIN documents d ON d.doc = s.doc"
            f" ORDER BY {BY_SENTENCE[sort]}, h.id, h.place LIMIT ? OFFSET ?"
        )
    key = IN_CONTEXT[sort].format(length=source.length)
    return (
        f"SELECT id, place, {key} AS words_there FROM (SELECT h.id, h.place,"
        f" {words_in_sql(f's.text{side}')} AS words FROM {first} h JOIN sentences s ON s.id = h.id)"
        " ORDER BY words_there, id, place LIMIT ? OFFSET ?"
    )


class _Document(NamedTuple):
    doc: int
    pair: str
    url1: str
    url2: str
    lang1: str
    lang2: str
    site: str
    day: object


class _Sentence(NamedTuple):
    document: _Document
    at: int
    text1: str
    text2: str
    kind: str
    score: float


def _sentences(asking: Asking, ids: set[int]) -> dict[int, _Sentence]:
    rows = _by_number(asking, SENTENCES, ids)
    found = _by_number(asking, DOCUMENTS, {doc for _, doc, *_ in rows})
    documents = {row[0]: _Document(*row) for row in found}
    return {id_: _Sentence(documents[doc], *rest) for id_, doc, *rest in rows}


def _by_number(asking: Asking, statement: str, numbers: set[int]) -> list[tuple[Any, ...]]:
    listed = sorted(numbers)
    marks = ", ".join("?" * len(listed))
    return asking.rows(statement.format(ids=marks), (listed[0], listed[-1], *listed))


def _line(
    found: _Sentence, place: int, length: int, side: str, likely: Mapping[str, float]
) -> ConcordanceLine:
    is_first, document = side == "1", found.document
    text, other = (found.text1, found.text2) if is_first else (found.text2, found.text1)
    words = placed_words(text)
    last = min(len(words) - 1, place + length - 1)
    if place > last:  # another version of Unicode splits this text in another way
        begin, end, from_, to = 0, 0, 0, len(text)
    else:
        begin, end = words[place].begin, words[last].end
        from_ = words[place - CONTEXT].begin if place > CONTEXT else 0
        to = words[last + CONTEXT].end if last + CONTEXT < len(words) - 1 else len(text)
    langs = document.lang1, document.lang2
    urls = document.url1, document.url2
    there = translation_in(placed_words(other), likely, form_maker(langs[is_first]))
    spans = [(each.begin, each.end) for each in there]
    return ConcordanceLine(
        pair=document.pair,
        at=found.at,
        left=text[from_:begin],
        hit=text[begin:end],
        right=text[end:to],
        other=pieces(other, spans),
        lang=langs[not is_first],
        other_lang=langs[is_first],
        url=urls[not is_first],
        other_url=urls[is_first],
        site=document.site,
        day="" if document.day is None else str(document.day),
        kind=found.kind,
        score=round(found.score, 4),
        cut_left=from_ > 0,
        cut_right=to < len(text),
    )


def translation_in(
    words: list[PlacedWord], likely: Mapping[str, float], maker: FormMaker
) -> list[PlacedWord]:
    """Return the word that most likely translates the hit; no word if none is likely."""
    if not likely:
        return []
    weights = [likely.get(maker.stem(each.word), 0.0) for each in words]
    highest = max(weights, default=0.0)
    return [words[weights.index(highest)]] if highest else []
