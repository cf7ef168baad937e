"""The Corpus Workbench: vertical text, registry and alignment of two corpora.

The alignment names corpus positions, which are known when the tokens are written, so that
`cwb-align-encode` of the Workbench itself takes it, without its Perl tools. The files say
how they are encoded, and encode.sh does it.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from bilingual_crawler.export.account import Account
from bilingual_crawler.export.cwb_script import (
    corpus_name,
    encode_script,
    readme,
    registry_entry,
)
from bilingual_crawler.export.source import EMPTY, CorpusSource, of_one_pair
from bilingual_crawler.export.tokens import tokens
from bilingual_crawler.export.xml_text import XmlText
from bilingual_crawler.store.sentence_pair import SentencePair
from bilingual_crawler.store.target import text_file

LONGEST_VALUE = 1000
"""Characters of an attribute; the Workbench takes 4,095 bytes at most."""


class CorpusSide:
    """One of the two corpora while it is written."""

    def __init__(self, file: TextIO, safe: XmlText) -> None:
        self._file = file
        self._safe = safe
        self.position = 0

    def open_document(self, row: SentencePair, url: str) -> None:
        """Begin a document; the one before has been ended."""
        self._file.write(f'<doc id="{self._value(row.pair)}" url="{self._value(url)}">\n')

    def close_document(self) -> None:
        """End the document."""
        self._file.write("</doc>\n")

    def add(self, row: SentencePair, words: list[str]) -> tuple[int, int]:
        """Write a sentence; the positions of its first and its last token are told."""
        value = self._value
        start = (
            f'<s id="{value(row.pair)}-{row.at}" at="{row.at}" beads="{value(row.beads)}" '
            f'kind="{value(row.kind)}" score="{row.score:.4f}">'
        )
        lines = [start, *map(self._safe.text, words), "</s>", ""]
        self._file.write("\n".join(lines))
        first, self.position = self.position, self.position + len(words)
        return first, self.position - 1

    def _value(self, text: str) -> str:
        return self._safe.attribute(" ".join(text.split())[:LONGEST_VALUE])


def write(source: CorpusSource, path: Path, account: Account) -> None:
    """Write two vertical texts, a registry, an alignment, a script and what to do with them."""
    languages, rows = of_one_pair(source.sentences(), account)
    (path / "registry").mkdir()
    safe = XmlText(account.changed)
    with (
        text_file(path / f"{languages[0]}.vrt") as first,
        text_file(path / f"{languages[1]}.vrt") as second,
        text_file(path / "sentences.align") as alignment,
    ):
        upper = [corpus_name(each).upper() for each in languages]
        alignment.write(f"{upper[0]}\ts\t{upper[1]}\ts\n")
        _write_rows(rows, (CorpusSide(first, safe), CorpusSide(second, safe)), alignment, account)
    for language, other in (languages, languages[::-1]):
        _write(path / "registry" / corpus_name(language), registry_entry(language, other))
    _write(path / "encode.sh", encode_script(languages))
    _write(path / "README.txt", readme(languages))


def _write_rows(
    rows: Iterable[SentencePair],
    sides: tuple[CorpusSide, CorpusSide],
    alignment: TextIO,
    account: Account,
) -> None:
    safe = XmlText(account.changed)
    pair: str | None = None
    for row in rows:
        words = [list(tokens(safe.allowed(text))) for text in (row.text1, row.text2)]
        if not all(words):
            account.left_out[EMPTY] += 1
            continue
        if row.pair != pair:
            for side, url in zip(sides, (row.url1, row.url2), strict=True):
                if pair is not None:
                    side.close_document()
                side.open_document(row, url)
            pair = row.pair
        spans = [side.add(row, each) for side, each in zip(sides, words, strict=True)]
        numbers = "\t".join(str(number) for span in spans for number in span)
        alignment.write(f"{numbers}\t1:1\t{round(1000 * row.score)}\n")
        account.written["sentence pairs"] += 1
    if pair is not None:
        for side in sides:
            side.close_document()


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
