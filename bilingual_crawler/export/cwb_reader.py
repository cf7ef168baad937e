"""Corpora for the Corpus Workbench, read back: vertical text, registry and alignment.

The alignment names stretches of tokens; each of its lines becomes a sentence pair. The registry
says which columns a corpus has and in which language it is. With the columns that our own export
writes, the texts come back as they were; in those of other tools words are joined by spaces.

Nothing of the Workbench is needed: these are text files. They may come from anybody, so lines,
stretches and attributes are bounded, and what makes no sense is counted and left out.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.cwb import AFTER, ALIGNMENT, MAX_GAP, NOTHING, REGISTRY, SPACE
from bilingual_crawler.export.records import Record
from bilingual_crawler.export.source import Account
from bilingual_crawler.languages import language_of_tag
from bilingual_crawler.store.input_files import bounded_lines, open_unpacked

LONGEST_LINE = 1 << 16
MOST_TOKENS = 50_000
"""Tokens of one side of a line of the alignment."""
NOT_IN_ORDER = "lines of the alignment that go back, overlap or name tokens that are not there"
_ATTRIBUTE = re.compile(r"(?<![\w-])([A-Za-z_][\w-]{0,60})=\"([^\"]*)\"")
_DECLARED = re.compile(r"^ATTRIBUTE[ \t]+(\S+)", re.MULTILINE)
_LANGUAGE = re.compile(r'^##::[ \t]*language[ \t]*=[ \t]*"([^"]{1,40})"', re.MULTILINE)
_NAME = re.compile(r"[A-Za-z][\w-]{0,80}", re.ASCII)
_TAG = re.compile(r"</?([A-Za-z]\w*)")
_GAP = re.compile(r"[0-9a-f]{1,6}(?:\.[0-9a-f]{1,6})*")
_OF_PAIR = {"at": "at", "beads": "beads", "kind": "kind", "score": "score"}


@dataclass(frozen=True)
class CorpusEntry:
    """What the registry says about a corpus."""

    language: str
    columns: tuple[str, ...]


@dataclass
class AlignedTokens:
    """The tokens of one side of a line of the alignment."""

    text: str = ""
    document: Mapping[str, str] = field(default_factory=dict)
    sentence: Mapping[str, str] = field(default_factory=dict)


def is_corpus(folder: Path) -> bool:
    """Return whether a folder holds two aligned corpora as our export writes them."""
    return (folder / ALIGNMENT).is_file() and (folder / REGISTRY).is_dir()


def read_corpus(folder: Path, account: Account) -> Iterator[tuple[str, Record]]:
    """Yield every line of the alignment as a record, with its place."""
    with open_unpacked(folder / ALIGNMENT) as content:
        lines = enumerate(bounded_lines(content, LONGEST_LINE), 1)
        names = _heading(folder, next(lines, (1, b""))[1])
        entries = [registry_entry(folder, name) for name in names]
        texts = [
            VerticalText(_text_of(folder, name, entry), entry, account)
            for name, entry in zip(names, entries, strict=True)
        ]
        codes = {"lang1": entries[0].language, "lang2": entries[1].language}
        for number, line in lines:
            place = f"{ALIGNMENT}, line {number}"
            spans = _spans(line)
            if spans is None:
                account.damage.add(place, "not the first and last tokens of both sides")
                continue
            found = [text.between(*span) for text, span in zip(texts, spans, strict=True)]
            first, second = found
            if first is None or second is None:
                account.left_out[NOT_IN_ORDER] += 1
                continue
            yield place, {**codes, **_record(first, second)}


def _record(first: AlignedTokens, second: AlignedTokens) -> dict[str, str]:
    known = {
        "pair": first.document.get("id", ""),
        "url1": first.document.get("url", ""),
        "url2": second.document.get("url", ""),
        "text1": first.text,
        "text2": second.text,
    }
    said = {name: first.sentence[each] for name, each in _OF_PAIR.items() if each in first.sentence}
    return known | said


def _heading(folder: Path, line: bytes | None) -> Sequence[str]:
    """Return the names of both corpora as the registry has them."""
    cells = (line or b"").decode("utf-8", "replace").split()
    if len(cells) < 4 or not all(_NAME.fullmatch(cells[at]) for at in (0, 2)):  # noqa: PLR2004 - CORPUS s CORPUS s
        raise ConfigurationError(
            f"{folder / ALIGNMENT} must begin with the names of both corpora and their sentences,"
            " such as CRAWL_SPA s CRAWL_EUS s, with tabs between them."
        )
    return cells[0].lower(), cells[2].lower()


def registry_entry(folder: Path, name: str) -> CorpusEntry:
    """Read the entry of a corpus; a ConfigurationError says what is missing."""
    file = folder / REGISTRY / name
    try:
        text = file.read_bytes()[:LONGEST_LINE].decode("utf-8", "replace")
    except OSError as error:
        raise ConfigurationError(
            f"{file} cannot be read ({error.strerror}): {ALIGNMENT} names this corpus."
        ) from error
    said = _LANGUAGE.search(text)
    language = language_of_tag(said[1]) if said else None
    columns = tuple(_DECLARED.findall(text))
    if language is None or not columns or columns[0] != "word":
        raise ConfigurationError(
            f"{file} must name the language of the corpus, such as"
            ' ##:: language = "es", and its columns, ATTRIBUTE word first.'
        )
    return CorpusEntry(language.code, columns)


def _text_of(folder: Path, name: str, entry: CorpusEntry) -> Path:
    for stem in (entry.language, name):
        for ending in (".vrt", ".vrt.gz"):
            if (folder / f"{stem}{ending}").is_file():
                return folder / f"{stem}{ending}"
    raise ConfigurationError(
        f"{folder} has no vertical text of {name}: it should be {entry.language}.vrt."
    )


def _spans(line: bytes | None) -> tuple[tuple[int, int], tuple[int, int]] | None:
    cells = (line or b"").split()[:4]
    if len(cells) < 4 or not all(cell.isdigit() and len(cell) < 16 for cell in cells):  # noqa: PLR2004 - two spans
        return None
    one, end1, other, end2 = map(int, cells)
    return (one, end1), (other, end2)


class VerticalText:
    """One side, read once from the beginning to the end."""

    def __init__(self, file: Path, entry: CorpusEntry, account: Account) -> None:
        self._file = file
        self._account = account
        self._after = entry.columns.index(AFTER) if AFTER in entry.columns else None
        self._tokens = self._read()
        self._position = 0
        self._document: Mapping[str, str] = {}
        self._sentence: Mapping[str, str] = {}
        self._number = 0
        """Which sentence this is, counted from the beginning."""

    def between(self, first: int, last: int) -> AlignedTokens | None:
        """Return the tokens from one position to another; None if they are not ahead."""
        if not self._position <= first <= last or last - first >= MOST_TOKENS:
            return None
        stretch, parts, number = AlignedTokens(), list[str](), -1
        for word, gap in self._tokens:
            at, self._position = self._position, self._position + 1
            if at < first:
                continue
            if at == first:
                stretch.document, stretch.sentence = self._document, self._sentence
                parts.append(_gap(self._sentence.get("before", NOTHING)))
            elif number != self._number and parts and not parts[-1]:
                parts.append(" ")
            number = self._number
            parts += [word, gap]
            if at == last:
                stretch.text = "".join(parts)
                return stretch
        return None

    def _read(self) -> Iterator[tuple[str, str]]:
        """Yield each token, and what follows it; note the elements that it is in."""
        with open_unpacked(self._file) as content:
            for number, raw in enumerate(bounded_lines(content, LONGEST_LINE), 1):
                line = (raw or b"").decode("utf-8", "replace").rstrip("\r\n")
                if raw is None:
                    self._account.damage.add(f"{self._file.name}, line {number}", "too long")
                    yield "", ""
                elif line.startswith("<") and (tag := _TAG.match(line)):
                    self._enter(tag[1], line)
                elif line:
                    cells = line.split("\t")
                    yield html.unescape(cells[0]), self._follows(cells)

    def _enter(self, name: str, line: str) -> None:
        if line.startswith("</"):
            return
        found = {key: html.unescape(value) for key, value in _ATTRIBUTE.findall(line)}
        if name == "s":
            self._sentence = found
            self._number += 1
        elif name in ("doc", "text"):
            self._document = found

    def _follows(self, cells: Sequence[str]) -> str:
        if self._after is None or self._after >= len(cells):
            return " "
        return _gap(cells[self._after])


def _gap(said: str) -> str:
    """Return the white space that a value of `after` or `before` means; a space if it is none."""
    if said in (NOTHING, SPACE):
        return " " if said == SPACE else ""
    if len(said) > MAX_GAP * 7 or not _GAP.fullmatch(said):
        return " "
    codes = [int(each, 16) for each in said.split(".")]
    return "".join(chr(each) if each < 0x110000 else " " for each in codes)  # noqa: PLR2004 - the last code point
