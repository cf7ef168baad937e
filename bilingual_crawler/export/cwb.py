"""The Corpus Workbench: vertical text, registry and alignment of two corpora.

The alignment names corpus positions, which are known when the tokens are written, so
`cwb-align-encode` can read it and the Perl tools of the Workbench are not needed. encode.sh
encodes the files.

Beside the word there is a column `after`, which says what stood between it and the next one, so
that `cwb_reader.py` gives the texts back as they were; and those of a tagger.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from bilingual_crawler.export.exporters import Exporter
from bilingual_crawler.export.safe_text import XmlText, tokens
from bilingual_crawler.export.source import EMPTY, Account, CorpusSource, of_one_pair
from bilingual_crawler.export.taggers import MAX_VALUE_BYTES, Tagger, annotations, find_tagger
from bilingual_crawler.languages import language_tag
from bilingual_crawler.store.durable import text_file
from bilingual_crawler.store.sentence_pair import SentencePair

STRUCTURES = {"doc": ("id", "url"), "s": ("id", "at", "beads", "kind", "score", "before")}
"""The elements of the vertical text, and their attributes."""
REGISTRY, ALIGNMENT = "registry", "sentences.align"
AFTER = "after"
NOTHING, SPACE = "-", "_"
"""What `after` says where two tokens touch, and where there is one space between them."""
MAX_GAP = 100
"""Characters between two tokens; more are made one space."""
SHORTENED = "long runs of white space made one space"


class CorpusSide:
    """One of the two corpora while it is written."""

    def __init__(
        self, file: TextIO, account: Account, language: str, tagger: Tagger | None = None
    ) -> None:
        self._file = file
        self._account = account
        self._safe = XmlText(account.changed)
        self._language = language
        self._tagger = tagger if tagger is not None and tagger.knows(language) else None
        self.position = 0

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return ("word", *(self._tagger.columns if self._tagger else ()), AFTER)

    def open_document(self, row: SentencePair, url: str) -> None:
        """Begin a document."""
        self._file.write(f'<doc id="{self._value(row.pair)}" url="{self._value(url)}">\n')

    def close_document(self) -> None:
        """End the document."""
        self._file.write("</doc>\n")

    def add(self, row: SentencePair, text: str, words: list[str]) -> tuple[int, int]:
        """Write a sentence. Return the positions of its first and last token."""
        value, (before, gaps) = self._value, self._gaps(text, words)
        start = (
            f'<s id="{value(row.pair)}-{row.at}" at="{row.at}" beads="{value(row.beads)}" '
            f'kind="{value(row.kind)}" score="{row.score!r}" before="{before}">'
        )
        said = (
            annotations(self._tagger, words, self._language) if self._tagger else [()] * len(words)
        )
        rows = (
            "\t".join((*map(self._safe.text, (word, *more)), gap))
            for word, more, gap in zip(words, said, gaps, strict=True)
        )
        self._file.write("\n".join([start, *rows, "</s>", ""]))
        first, self.position = self.position, self.position + len(words)
        return first, self.position - 1

    def _gaps(self, text: str, words: Iterable[str]) -> tuple[str, list[str]]:
        """Return what stands before the first token of a text, and after each of them."""
        gaps, end = [], 0
        for word in words:
            start = text.index(word, end)
            gaps.append(self._gap(text[end:start]))
            end = start + len(word)
        return gaps[0], [*gaps[1:], self._gap(text[end:])]

    def _gap(self, text: str) -> str:
        if len(text) > MAX_GAP:
            self._account.changed[SHORTENED] += 1
            text = " "
        if text in ("", " "):
            return SPACE if text else NOTHING
        return ".".join(f"{ord(each):x}" for each in text)

    def _value(self, text: str) -> str:
        plain = " ".join(text.split()).encode("utf-8", "replace")[:MAX_VALUE_BYTES]
        return self._safe.attribute(plain.decode("utf-8", "ignore"))


class CorpusWorkbench(Exporter):
    """Two aligned corpora for the IMS Open Corpus Workbench."""

    name = "cwb"
    about = "a folder: vertical text, registry and alignment for the Corpus Workbench"
    tagged = True

    def write(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write two vertical texts, a registry, an alignment, a script and a README."""
        languages, rows = of_one_pair(source.sentences(), account)
        (path / REGISTRY).mkdir()
        tagger = find_tagger(source.tagger) if source.tagger else None
        with (
            text_file(path / f"{languages[0]}.vrt") as first,
            text_file(path / f"{languages[1]}.vrt") as second,
            text_file(path / ALIGNMENT) as alignment,
        ):
            upper = [corpus_name(each).upper() for each in languages]
            alignment.write(f"{upper[0]}\ts\t{upper[1]}\ts\n")
            sides = (
                CorpusSide(first, account, languages[0], tagger),
                CorpusSide(second, account, languages[1], tagger),
            )
            _write_rows(rows, sides, alignment, account)
        columns = {language: side.columns for language, side in zip(languages, sides, strict=True)}
        for language, other in (languages, languages[::-1]):
            entry = registry_entry(language, other, columns[language])
            _write(path / REGISTRY / corpus_name(language), entry)
        _write(path / "encode.sh", encode_script(columns))
        _write(path / "README.txt", readme(columns))


def _write_rows(
    rows: Iterable[SentencePair],
    sides: tuple[CorpusSide, CorpusSide],
    alignment: TextIO,
    account: Account,
) -> None:
    safe = XmlText(account.changed)
    pair: str | None = None
    for row in rows:
        texts = [safe.allowed(text) for text in (row.text1, row.text2)]
        words = [list(tokens(text)) for text in texts]
        if not all(words):
            account.left_out[EMPTY] += 1
            continue
        if row.pair != pair:
            for side, url in zip(sides, (row.url1, row.url2), strict=True):
                if pair is not None:
                    side.close_document()
                side.open_document(row, url)
            pair = row.pair
        spans = [
            side.add(row, text, some) for side, text, some in zip(sides, texts, words, strict=True)
        ]
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


def registry_entry(language: str, other: str, columns: Sequence[str] = ("word", AFTER)) -> str:
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
            *(f"ATTRIBUTE {each}" for each in columns),
            "",
            *(f"STRUCTURE {each}" for each in declared),
            "",
            f"ALIGNED {aligned}",
            "",
        ]
    )


def encode_script(columns: Mapping[str, Sequence[str]]) -> str:
    """Return the commands that encode both corpora; they can be run again.

    `columns` has those of each language.
    """
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
    names = [corpus_name(language) for language in columns]
    for name, other, language in zip(names, names[::-1], columns, strict=True):
        more = " ".join(f"-P {each}" for each in columns[language][1:])
        lines += [
            "",
            f'mkdir -p "data/{name}"',
            f'cwb-encode -c utf8 -xsB -d "$here/data/{name}" -f {language}.vrt \\',
            f'    -R "$here/registry/{name}" {more} {declared}',
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


def readme(columns: Mapping[str, Sequence[str]]) -> str:
    """Return a README: what the files are, and what to type."""
    languages = tuple(columns)
    first, second = map(corpus_name, languages)
    listed = "\n".join(f"  {each}: {', '.join(columns[each])}" for each in languages)
    return f"""\
Two aligned corpora for the IMS Open Corpus Workbench.

{languages[0]}.vrt, {languages[1]}.vrt   one token per line; <doc id url> is a document,
                   <s id at beads kind score> one side of a sentence pair (of several
                   sentences if beads says so)
registry/          one entry per corpus: its columns, the structures above, the alignment
sentences.align    which tokens are translations of which, for cwb-align-encode
encode.sh          all the commands; then, in this folder:

  sh encode.sh
  cqp -r registry
  {first.upper()}; show +{second}; "word";

Tokens are runs of letters and digits, addresses, single Chinese and Japanese characters, and
single other characters: no language model is used. The columns are

{listed}

`after` is what follows a token: {NOTHING} for nothing, {SPACE} for a space, or the code points of
other white space. With it (and `before` of a sentence) scrapy import restores the texts.
"""
