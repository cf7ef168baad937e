"""The Corpus Workbench: vertical text, registry and alignment of two corpora.

The alignment names corpus positions, which are known when the tokens are written, so
`cwb-align-encode` can read it and the Perl tools of the Workbench are not needed. encode.sh
encodes the files.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from bilingual_crawler.export.exporters import Exporter
from bilingual_crawler.export.safe_text import XmlText, tokens
from bilingual_crawler.export.source import EMPTY, Account, CorpusSource, of_one_pair
from bilingual_crawler.languages import language_tag
from bilingual_crawler.store.durable import text_file
from bilingual_crawler.store.sentence_pair import SentencePair

STRUCTURES = {"doc": ("id", "url"), "s": ("id", "at", "beads", "kind", "score")}
"""The elements of the vertical text, and their attributes."""
MAX_VALUE = 1000
"""Characters of an attribute; the Workbench takes 4,095 bytes at most."""


class CorpusSide:
    """One of the two corpora while it is written."""

    def __init__(self, file: TextIO, safe: XmlText) -> None:
        self._file = file
        self._safe = safe
        self.position = 0

    def open_document(self, row: SentencePair, url: str) -> None:
        """Begin a document."""
        self._file.write(f'<doc id="{self._value(row.pair)}" url="{self._value(url)}">\n')

    def close_document(self) -> None:
        """End the document."""
        self._file.write("</doc>\n")

    def add(self, row: SentencePair, words: list[str]) -> tuple[int, int]:
        """Write a sentence. Return the positions of its first and last token."""
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
        return self._safe.attribute(" ".join(text.split())[:MAX_VALUE])


class CorpusWorkbench(Exporter):
    """Two aligned corpora for the IMS Open Corpus Workbench."""

    name = "cwb"
    about = "a folder: vertical text, registry and alignment for the Corpus Workbench"

    def write(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write two vertical texts, a registry, an alignment, a script and a README."""
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
            _write_rows(
                rows, (CorpusSide(first, safe), CorpusSide(second, safe)), alignment, account
            )
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


def corpus_name(language: str) -> str:
    """Return the name of a corpus in the registry; elsewhere it is written in capitals."""
    return f"crawl_{language}"


def registry_entry(language: str, other: str) -> str:
    """Return the registry entry of a corpus, with every attribute that encoding gives it.

    Its data folder is relative to the folder of the export; encode.sh writes an entry with the
    absolute path.
    """
    name, aligned = corpus_name(language), corpus_name(other)
    declared = [
        line
        for element, attributes in STRUCTURES.items()
        for line in (element, *(f"{element}_{each}" for each in attributes))
    ]
    return "\n".join(
        [
            f'NAME "{language}, aligned with {aligned}"',
            f"ID   {name}",
            f"HOME data/{name}",
            "",
            '##:: charset  = "utf8"',
            f'##:: language = "{language_tag(language)}"',
            "",
            "ATTRIBUTE word",
            "",
            *(f"STRUCTURE {each}" for each in declared),
            "",
            f"ALIGNED {aligned}",
            "",
        ]
    )


def encode_script(languages: tuple[str, str]) -> str:
    """Return the commands that encode both corpora; they can be run again."""
    declared = " ".join(
        f"-S {element}:0+{'+'.join(attributes)}" for element, attributes in STRUCTURES.items()
    )
    lines = [
        "#!/bin/sh",
        "# Encodes both corpora and their alignment with the IMS Open Corpus Workbench 3.4 or",
        "# later. The data goes to data/, the registry to registry/, both in this folder.",
        "set -eu",
        'here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)',
        'cd "$here"',
    ]
    names = [corpus_name(language) for language in languages]
    for name, other, language in zip(names, names[::-1], languages, strict=True):
        lines += [
            "",
            f'mkdir -p "data/{name}"',
            f'cwb-encode -c utf8 -xsB -d "$here/data/{name}" -f {language}.vrt \\',
            f'    -R "$here/registry/{name}" {declared}',
            f'cwb-makeall -r "$here/registry" -V {name.upper()}',
            f"echo 'ALIGNED {other}' >> \"registry/{name}\"",
        ]
    lines += [
        "",
        'cwb-align-encode -r "$here/registry" -D sentences.align',
        'cwb-align-encode -r "$here/registry" -D -R sentences.align',
        "",
    ]
    return "\n".join(lines)


def readme(languages: tuple[str, str]) -> str:
    """Return a README: what the files are, and what to type."""
    first, second = map(corpus_name, languages)
    return f"""\
Two aligned corpora for the IMS Open Corpus Workbench.

{languages[0]}.vrt, {languages[1]}.vrt   one token per line; <doc id url> is a document,
                   <s id at beads kind score> one side of a sentence pair (of several
                   sentences if beads says so)
registry/          one entry per corpus: p-attribute word, the structures above, the alignment
sentences.align    which tokens are translations of which, for cwb-align-encode
encode.sh          all the commands; then, in this folder:

  sh encode.sh
  cqp -r registry
  {first.upper()}; show +{second}; "word";

Tokens are runs of letters and digits, addresses, single Chinese and Japanese characters, and
single other characters: no language model is used.
"""
