"""Whole documents: one record per document pair, with both complete texts and their links.

Nothing of a document is left out: every paragraph is there in its order, boilerplate and other
languages too, marked as such. Sentences are positions in the text of their paragraph, so the text
is as it was, to the byte, and `paragraphs_of` gives back the paragraphs of documents.jsonl.gz. A
link joins sentences of both sides (a bead of the alignment); a sentence without one is unaligned.
Links that cleaning dropped are there too, with the rule: a duplicate is no worse a translation.
"""

import json
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from bilingual_crawler.alignment.splitting import Segment, segments_of, sentences
from bilingual_crawler.alignment.two_passes import UNSPACED
from bilingual_crawler.documents.document import Document, Paragraph
from bilingual_crawler.documents.personal_data import MaskedPositions, masked
from bilingual_crawler.export.exporters import Exporter
from bilingual_crawler.export.ilsp import MISSING
from bilingual_crawler.export.pml import SCRATCH, paired_documents
from bilingual_crawler.export.rows import pyarrow
from bilingual_crawler.export.source import Account, CorpusSource, DocumentPairRow
from bilingual_crawler.store.durable import text_file
from bilingual_crawler.store.sentence_pair import pair_id

OTHER_TEXT = "links to sentences that have changed since scrapy align"
PARQUET = ".parquet"
LABEL = 60
"""Characters of a label in a menu, which the alignment does not split."""
FARTHEST = 400
"""Sentences around the content between the first and the last of a bead."""
MOST_CHARACTERS = 4_000_000
"""Characters of a group of Parquet rows, which is in memory at once."""
_FIELDS = (
    *("at", "text1", "text2", "beads", "kind", "score", "dropped"),
    *("paragraph1", "paragraph2", "sentence1", "sentence2"),
)
OUTSIDE = frozenset({"page_title", "description", "frame"})
"""Kinds of links that may be to what is in no paragraph: the kind is that of the first side."""
TITLE, DESCRIPTION = "title", "description"
Record = dict[str, Any]
_encode = json.JSONEncoder(ensure_ascii=False).encode


class WholeDocuments(Exporter):
    """Document pairs with everything in them: JSON lines or, by the name of the file, Parquet."""

    name = "documents"
    about = "whole documents with sentences and links, JSONL or (--out X.parquet) Parquet"
    ending = ".jsonl"
    stem = "documents"
    documents = True
    dropped = True

    def write(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write one record per document pair."""
        records = _records(source, account)
        if path.suffix == PARQUET:
            _write_parquet(records, path)
            return
        with text_file(path) as file:
            file.writelines(f"{_encode(record)}\n" for record in records)


def paragraphs_of(document: Mapping[str, Any]) -> list[Paragraph]:
    """Return the paragraphs of one side of a record, as they are in documents.jsonl.gz."""
    return [
        Paragraph(each["text"], each["kind"], each["boilerplate"], each["language"] or None)
        for each in document["paragraphs"]
    ]


def _records(source: CorpusSource, account: Account) -> Iterator[Record]:
    with (
        tempfile.TemporaryDirectory(prefix="export-") as scratch,
        closing(_links_of(source)) as links,
    ):
        found = paired_documents(source, Path(scratch) / SCRATCH, whole=True)
        for each in found:
            if not isinstance(each, tuple):
                account.left_out[MISSING] += 1
                continue
            pair, *documents = each
            rows = _rows_of(links, pair_id(pair.url1, pair.url2))
            yield _record(pair, (documents[0], documents[1]), rows, source, account)
            account.written["document pairs"] += 1


def _links_of(source: CorpusSource) -> sqlite3.Connection:
    """Put the sentence pairs into a temporary database, which is on disk when it is large."""
    database = sqlite3.connect("", isolation_level=None)
    database.execute("CREATE TABLE links (pair TEXT, rows TEXT)")
    database.execute("CREATE INDEX of_pair ON links (pair)")
    database.execute("BEGIN")
    for pair, rows in groupby(source.links(), attrgetter("pair")):
        told = [[getattr(row, name) for name in _FIELDS] for row in rows]
        database.execute("INSERT INTO links VALUES (?, ?)", (pair, json.dumps(told)))
    database.execute("COMMIT")
    return database


def _rows_of(links: sqlite3.Connection, pair: str) -> list[Record]:
    found = links.execute("SELECT rows FROM links WHERE pair = ? ORDER BY rowid", (pair,))
    return [dict(zip(_FIELDS, row, strict=True)) for (rows,) in found for row in json.loads(rows)]


class _Side:
    """A document as one side of a record, and where its sentences are.

    Content comes first: a bead of the alignment never skips a sentence of it.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.segments, self._content = page_segments(document)
        self._space = "" if document.language in UNSPACED else " "
        self._at = {(each.paragraph, each.number): n for n, each in enumerate(self.segments)}
        self._next = 0

    def find(self, row: Record, side: int, number: int) -> list[str] | None:
        """Return the ids of the sentences of a bead; None if they are not in the document."""
        text, paragraph = row[f"text{side}"], row[f"paragraph{side}"]
        if paragraph < 0 and row["kind"] in OUTSIDE:
            for name in (TITLE, DESCRIPTION):
                if text in getattr(self.document, name):
                    return [name]
        first = self._at.get((paragraph, row[f"sentence{side}"]))
        if paragraph < 0:  # aligned by an early version
            first = self._search(text, number)
        found = None if first is None else self._matching(first, number, text)
        if found and found[-1] < self._content:
            self._next = found[-1] + 1
        return None if found is None else [sentence_id(self.segments[at]) for at in found]

    def _search(self, text: str, number: int) -> int | None:
        places = (*range(self._next, self._content), *range(min(self._next, self._content)))
        return next((at for at in places if self._matching(at, number, text)), None)

    def _matching(self, first: int, number: int, text: str) -> list[int] | None:
        """Return the sentences from the first one on that make up a text.

        They follow each other in the content; the alignment of menus skips what it knows already.
        """
        found: list[int] = []
        last = len(self.segments) if first >= self._content else first + number
        for at in range(first, min(last, first + FARTHEST)):
            wanted = text if not found else text.removeprefix(self._space)
            if wanted.startswith(self.segments[at].text):
                found.append(at)
                text = wanted.removeprefix(self.segments[at].text)
            elif not found:
                return None
            if len(found) == number:
                break
        return None if text or len(found) != number else found

    def to_dict(self, linked: set[str], source: CorpusSource) -> Record:
        """Return the side of a record; personal data is counted, and masked on request."""
        document = self.document
        paragraphs: list[Record] = [
            {
                "id": f"p{number}",
                "kind": each.kind,
                "boilerplate": each.boilerplate,
                "language": each.language or "",
                "text": each.text,
                "sentences": [],
            }
            for number, each in enumerate(document.paragraphs)
        ]
        self._add_sentences(paragraphs, linked)
        for each in paragraphs:
            _inspect(each, document.url, source)
        title = source.personal(document.title, document.url)
        return {
            "url": document.url,
            "variant": document.variant,
            "language": document.language or "",
            "title": title,
            "description": source.personal(document.description, document.url),
            "fetched_at": document.fetched_at,
            "licence": document.licence,
            "machine_translated": document.machine_translated,
            "paragraphs": paragraphs,
        }

    def _add_sentences(self, paragraphs: list[Record], linked: set[str]) -> None:
        at = dict.fromkeys(range(len(paragraphs)), 0)
        for segment in self.segments:
            name, paragraph = sentence_id(segment), paragraphs[segment.paragraph]
            start = paragraph["text"].index(segment.text, at[segment.paragraph])
            end = at[segment.paragraph] = start + len(segment.text)
            paragraph["sentences"].append(
                {
                    "id": name,
                    "start": start,
                    "end": end,
                    "aligned": name in linked,
                }
            )


def page_segments(document: Document) -> tuple[list[Segment], int]:
    """Return all sentences of a page, its content first, and how many of them are content."""
    content = segments_of(document, document.language or "")
    return [*content, *_around(document)], len(content)


def _around(document: Document) -> Iterator[Segment]:
    """Yield the sentences of what is not content; a short label is one, whatever its marks."""
    for number, paragraph in enumerate(document.paragraphs):
        if document.is_content(paragraph):
            continue
        if len(paragraph.text) <= LABEL:
            yield Segment(paragraph.text, number, paragraph.kind)
            continue
        language = paragraph.language or document.language or ""
        for at, text in enumerate(sentences(paragraph.text, language)):
            yield Segment(text, number, paragraph.kind, at)


def sentence_id(segment: Segment) -> str:
    """Return the id of a sentence in its document: p3s0 is the first of the fourth paragraph."""
    return f"p{segment.paragraph}s{segment.number}"


def _inspect(paragraph: Record, url: str, source: CorpusSource) -> None:
    found = source.personal.find(paragraph["text"], url)
    if found and source.anonymises:
        moved = MaskedPositions(found)
        paragraph["text"] = masked(paragraph["text"], found)
        for each in paragraph["sentences"]:
            each["start"], each["end"] = moved(each["start"]), moved(each["end"])


def _record(
    pair: DocumentPairRow,
    documents: tuple[Document, Document],
    rows: list[Record],
    source: CorpusSource,
    account: Account,
) -> Record:
    sides = _Side(documents[0]), _Side(documents[1])
    links: list[Record] = []
    linked: tuple[set[str], set[str]] = (set(), set())
    for row in rows:
        found = [side.find(row, n, size) for n, (side, size) in _numbered(sides, row["beads"])]
        if len(found) < len(sides) or None in found:
            account.left_out[OTHER_TEXT] += 1
            continue
        ids = [each for each in found if each is not None]
        for seen, names in zip(linked, ids, strict=True):
            seen.update(names)
        links.append(
            {
                "at": row["at"],
                "sentences1": ids[0],
                "sentences2": ids[1],
                "score": float(row["score"]),
                "dropped": row["dropped"],
            }
        )
    account.written["links"] += len(links)
    for document in documents:
        account.survey.add_document(document)
    return {
        "pair": pair_id(pair.url1, pair.url2),
        "score": pair.score,
        "document1": sides[0].to_dict(linked[0], source),
        "document2": sides[1].to_dict(linked[1], source),
        "links": links,
    }


def _numbered(sides: tuple[_Side, _Side], beads: str) -> Iterator[tuple[int, tuple[_Side, int]]]:
    """Yield the number of each side with the side and its sentences in a bead, such as 2-1."""
    sizes = beads.split("-")
    if len(sizes) == len(sides) and all(each.isdecimal() and int(each[:4]) > 0 for each in sizes):
        yield from enumerate(zip(sides, map(int, sizes), strict=True), 1)


def _write_parquet(records: Iterator[Record], path: Path) -> None:
    pa = pyarrow()
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra that only this format needs

    schema = _schema(pa)
    with pq.ParquetWriter(path, schema, compression="zstd") as file:
        group: list[Record] = []
        characters = 0
        for record in records:
            group.append(record)
            characters += sum(
                len(each["text"])
                for side in ("document1", "document2")
                for each in record[side]["paragraphs"]
            )
            if characters >= MOST_CHARACTERS:
                file.write_table(pa.Table.from_pylist(group, schema=schema))
                group, characters = [], 0
        file.write_table(pa.Table.from_pylist(group, schema=schema))


def _schema(pa: Any) -> Any:
    text, truth, number = pa.string(), pa.bool_(), pa.int64()
    sentence = pa.struct([("id", text), ("start", number), ("end", number), ("aligned", truth)])
    paragraph = pa.struct(
        {"id": text, "kind": text, "boilerplate": truth, "language": text, "text": text}
        | {"sentences": pa.list_(sentence)}
    )
    plain = ("url", "variant", "language", "title", "description", "fetched_at", "licence")
    side = pa.struct(
        dict.fromkeys((*plain, "machine_translated"), text) | {"paragraphs": pa.list_(paragraph)}
    )
    ids = pa.list_(text)
    link = pa.struct(
        {"at": number, "sentences1": ids, "sentences2": ids, "score": pa.float64(), "dropped": text}
    )
    sides = {"document1": side, "document2": side}
    return pa.schema({"pair": text, "score": pa.float64()} | sides | {"links": pa.list_(link)})
