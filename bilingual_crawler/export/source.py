"""What an export reads from the folder of a crawl, and the account of what it did with it."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any

from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.serialise import document_from_dict
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.survey import PersonalData, Survey
from bilingual_crawler.languages import ParallelLanguages
from bilingual_crawler.store.folder import DOCUMENTS, PAIRS, latest_before
from bilingual_crawler.store.input_files import Damage, Watch, read_json_lines
from bilingual_crawler.store.marks import REJECTED, CorpusMarks
from bilingual_crawler.store.sentence_pair import REPEATED, SENTENCES, SentencePair
from bilingual_crawler.topics import NO_TOPIC, Topic

EMPTY = "one side has no text"
BY_USER = "rejected by a user"
OTHER_LANGUAGES = "in other languages than --langs"
_CODE = re.compile("[a-z]{3}")
_MAX_POSITION = 1 << 53
"""Positions above this are no longer exact in JSON."""
_texts = attrgetter(
    *("pair", "url1", "url2", "text1", "text2", "beads", "kind", "dropped", "fetched1", "fetched2"),
    *("licence1", "licence2", "machine1", "machine2", "evidence"),
)
_places = attrgetter("paragraph1", "paragraph2", "sentence1", "sentence2")


@dataclass(slots=True)
class Account:
    """The rows of an export or import: written, left out and why, and changes to their text."""

    written: Counter[str] = field(default_factory=Counter)
    """Counts of "sentence pairs", "documents", "document pairs"."""
    left_out: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    damage: Damage = field(default_factory=Damage)
    survey: Survey = field(default_factory=Survey)
    """What is exported, for the datasheet."""

    def to_dict(self) -> dict[str, Any]:
        """Return the account for JSON."""
        return {
            "written": dict(self.written),
            "left_out": dict(self.left_out),
            "changed": dict(self.changed),
            "damaged_lines": self.damage.lines,
        }

    def lines(self, target: str) -> list[str]:
        """Return the account as lines for a person."""
        written = ", ".join(f"{count:,} {what}" for what, count in self.written.items())
        lines = [f"{written or 'nothing'} written to {target}"]
        lines += [f"  {count:,} left out: {why}" for why, count in self.left_out.most_common()]
        lines += [f"  {count:,} {what}" for what, count in self.changed.most_common()]
        if damaged := self.damage.lines:
            skipped = "line" if damaged == 1 else "lines"
            lines.append(f"  {damaged:,} damaged {skipped} skipped, first {self.damage.first}")
        return lines


@dataclass(slots=True, frozen=True)
class Selection:
    """Which sentence pairs to export: the good ones, or with `dropped` all of them."""

    dropped: bool = False
    min_score: float | None = None
    anonymise: bool = False
    """Whether to mask personal data."""
    since: Path | None = None
    """The folder of an earlier crawl to compare with."""
    langs: ParallelLanguages | None = None
    """The languages whose pairs to export; None for all."""
    tagger: str = ""
    """What annotates the tokens: a name or an import path; "" for nothing."""

    def admits(self, row: "SentencePair | DocumentPairRow") -> bool:
        """Return True if a pair is in languages that were asked for."""
        return self.langs is None or self.langs.admits(row.lang1, row.lang2)

    def objection(self, row: SentencePair, marks: CorpusMarks | None = None) -> str:
        """Return why a row is not exported; "" if it is. What a user marked is decided."""
        said = None if marks is None else _said(row, marks)
        if said is False:
            return BY_USER
        if said and row.dropped not in REPEATED:
            return ""
        if row.dropped and not self.dropped:
            return f"dropped by cleaning: {row.dropped}"
        if self.min_score is not None and row.score < self.min_score:
            return f"score below {self.min_score:g}"
        if not self.dropped and not (row.text1.strip() and row.text2.strip()):
            return EMPTY
        return ""


def _said(row: SentencePair, marks: CorpusMarks) -> bool | None:
    """Return True for an accepted row, False for a rejected one; that of the sentences counts."""
    said = marks.of_sentences(row.text1, row.text2)
    if said is None and marks.of_documents(row.url1, row.url2) is False:
        return False
    return False if said is None and row.dropped == REJECTED else said


class DocumentPairRow:
    """A document pair of pairs.jsonl: two URLs and their languages."""

    __slots__ = ("lang1", "lang2", "score", "url1", "url2")

    def __init__(self, fields: dict[str, Any]) -> None:
        self.url1, self.url2 = _text(fields["url1"]), _text(fields["url2"])
        self.lang1, self.lang2 = _code(fields["lang1"]), _code(fields["lang2"])
        self.score = float(fields.get("score", 1.0))


class CorpusSource:
    """The corpus in a crawl folder, read as often as a format needs, never held in memory."""

    def __init__(
        self,
        folder: Path,
        account: Account,
        selection: Selection | None = None,
        watch: Watch = lambda _share: None,
        topic: Topic = NO_TOPIC,
    ) -> None:
        self._topic = topic
        self._folder = folder
        self._account = account
        self._selection = selection or Selection()
        self._watch = watch
        self._marks = CorpusMarks(folder)
        self._rejected: set[tuple[str, str]] = set()
        self.personal = PersonalData(
            account.survey, account.changed, masks=self._selection.anonymise
        )

    @property
    def folder(self) -> Path:
        """The folder of the crawl."""
        return self._folder

    @property
    def langs(self) -> ParallelLanguages | None:
        """The languages whose pairs are exported; None for all."""
        return self._selection.langs

    @property
    def tagger(self) -> str:
        """The name of what annotates the tokens; "" for nothing."""
        return self._selection.tagger

    @property
    def anonymises(self) -> bool:
        """Whether personal data is masked."""
        return self._selection.anonymise

    @property
    def earlier(self) -> "CorpusSource | None":
        """The corpus to compare with: an earlier crawl, or this one before it was revisited."""
        selection = self._selection
        since = selection.since or latest_before(self._folder)
        return None if since is None else CorpusSource(since, Account(), selection)

    def looking_ahead(self) -> "CorpusSource":
        """Return the same source with an account of its own, for a pass that writes nothing."""
        return CorpusSource(self._folder, Account(), self._selection, topic=self._topic)

    def sentences(self) -> Iterator[SentencePair]:
        """Yield the selected sentence pairs in their order; count the others by reason."""
        objection = self._selection.objection
        for row in self.links():
            if reason := objection(row, self._marks):
                self._account.left_out[reason] += 1
                continue
            self._account.survey.add_pair(row)
            text1, text2 = (
                self.personal(row.text1, row.url1),
                self.personal(row.text2, row.url2),
            )
            if self.anonymises:
                row = replace(row, text1=text1, text2=text2)  # noqa: PLW2901 - the row to export
            yield row

    def links(self) -> Iterator[SentencePair]:
        """Yield all sentence pairs as they are, to connect the sentences of whole documents."""
        file, others = self._file(SENTENCES, "run scrapy align"), 0
        for place, fields in read_json_lines(file, self._account.damage, self._watch):
            try:
                row = SentencePair.from_dict(fields)
                check(row)
            except (TypeError, ValueError):
                self._account.damage.add(place, "not a sentence pair")
                continue
            if not self._selection.admits(row):
                others += 1
                self._account.left_out[OTHER_LANGUAGES] = others
                continue
            if not row.dropped and _said(row, self._marks) is False:
                row = replace(row, dropped=REJECTED)
            yield row

    def documents(self, *, whole: bool = False) -> Iterator[Document]:
        """Yield the documents in the order they were kept in, judged again if there is a topic.

        With `whole` they come as they are, and the exporter takes those that it writes.
        """
        damage = self._account.damage
        file = self._file(DOCUMENTS, "crawl into it with -a output=")
        for place, fields in read_json_lines(file, damage, self._watch):
            try:
                document = document_from_dict(fields)
                _check_document(document)
            except (AttributeError, KeyError, TypeError, ValueError):
                damage.add(place, "not a document")
                continue
            langs = self._selection.langs
            if langs is not None and document.language not in langs:
                continue
            self._topic.annotate(document)
            if not whole:
                self.take(document)
            yield document

    def take(self, document: Document) -> None:
        """Count a document that is exported and its personal data, which is masked on request."""
        self._account.survey.add_document(document)
        for paragraph in document.paragraphs:
            paragraph.text = self.personal(paragraph.text, document.url)
        if self.anonymises:
            quietly = PersonalData(Survey(), Counter(), masks=True)
            for name in ("title", "description", "keywords"):
                setattr(document, name, quietly(getattr(document, name), document.url))

    def document_pairs(self) -> Iterator[DocumentPairRow]:
        """Yield the document pairs in the order they were found in."""
        damage = self._account.damage
        for place, fields in read_json_lines(
            self._file(PAIRS, "crawl into it with -a output="), damage
        ):
            if fields.get("verdict") == "rejected":  # of a list of files that scrapy pairs judged
                continue
            try:
                pair = DocumentPairRow(fields)
            except (KeyError, TypeError, ValueError):
                damage.add(place, "not a document pair")
                continue
            if not self._selection.admits(pair):
                continue
            if self._marks.of_documents(pair.url1, pair.url2) is False:
                self._rejected.add((pair.url1, pair.url2))
                self._account.left_out[BY_USER] = len(self._rejected)
                continue
            yield pair

    def _file(self, name: str, advice: str) -> Path:
        file = self._folder / name
        if not file.is_file():
            space = "" if advice.endswith("=") else " "
            raise ConfigurationError(
                f"There is no {name} in {self._folder}: {advice}{space}{self._folder} first."
            )
        return file


def peek(rows: Iterable[SentencePair]) -> tuple[SentencePair | None, Iterator[SentencePair]]:
    """Return the first row, for the head of a file, and all rows."""
    remaining = iter(rows)
    first = next(remaining, None)
    return first, chain(() if first is None else (first,), remaining)


def of_one_pair(
    rows: Iterable[SentencePair], account: Account
) -> tuple[tuple[str, str], Iterator[SentencePair]]:
    """Return the two languages of the first row, and the rows in these languages.

    For formats with one file per language. Other rows are counted.
    """
    first, rows = peek(rows)
    if first is None:
        raise ConfigurationError(
            "No sentence pair is left to export, so the languages are not known."
        )
    languages = first.lang1, first.lang2
    return languages, _same(rows, languages, account)


def _same(
    rows: Iterable[SentencePair], languages: tuple[str, str], account: Account
) -> Iterator[SentencePair]:
    for row in rows:
        if (row.lang1, row.lang2) == languages:
            yield row
        else:
            account.left_out[f"languages other than {'-'.join(languages)}"] += 1


def check(row: SentencePair) -> None:
    """Raise a ValueError if a field of a row is not valid.

    Languages become parts of file names, so only codes pass.
    """
    if set(map(type, _texts(row))) != {str}:
        raise ValueError("not text")
    if type(row.at) is not int or not 0 <= row.at < _MAX_POSITION:
        raise ValueError("not a position")
    for score in (row.score, row.pair_score):
        if type(score) not in {int, float} or not math.isfinite(score):
            raise ValueError("not a score")
    if any(type(each) is not int or not -1 <= each < _MAX_POSITION for each in _places(row)):
        raise ValueError("not a place")
    if _code(row.lang1) == _code(row.lang2):
        raise ValueError("not two languages")


def _check_document(document: Document) -> None:
    _text(document.url)
    _text(document.title)
    if document.language is not None:
        _code(document.language)
    for paragraph in document.paragraphs:
        _text(paragraph.text)
        _text(paragraph.kind)
        if not all(isinstance(term, str) for term in paragraph.topic):
            raise TypeError("not terms")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not text")
    return value


def _code(value: Any) -> str:
    if not _CODE.fullmatch(_text(value)):
        raise ValueError("not a language")
    return str(value)
