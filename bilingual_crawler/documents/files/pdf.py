"""PDF files: the text in the order of reading, without running headers, with whole words.

PDFium (through pypdfium2) says where each letter stands; `pdf_layout` makes columns, lines and
paragraphs of that. A line at the top or bottom of a page that returns on other pages, but for its
digits, is a running header or footer. A hyphen at the end of a line is undone, unless the word is
written with it elsewhere in the file. Paragraphs go on in the next column or on the next page; if
the columns of a page are in different languages, they go on in the same column of the next page.
"""

import ctypes
import re
import sys
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

import pypdfium2
from pypdfium2 import raw

from bilingual_crawler.documents.files.pdf_layout import (
    GUTTER,
    HEADING_SIZE,
    Column,
    Draft,
    TextPiece,
    columns_of,
    lines_of,
    paragraphs_of,
)
from bilingual_crawler.documents.files.text import FileBlock, FileProblemError, FileText

MOST_PAGES = 2_000
MOST_LETTERS = 5_000_000
MOST_HEADING = 300
"""Characters of a heading."""
EDGE_LINES = 2
"""Lines at each end of a page that may be running headers or footers."""
REPEATED_SHARE, LEAST_REPEATED = 0.3, 3
SHARED_WORDS = 0.2
"""Columns that share fewer of their words are in different languages."""
LEAST_WORDS = 60
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST_WORD = re.compile(r"(?<![^\W\d_])(?<!-)((?>[^\W\d_]+(?:-[^\W\d_]+)*))-?$")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_HIDDEN_HYPHENS = "\u00ad\ufffe\x02"
_HYPHENS = f"-\u2010{_HIDDEN_HYPHENS}"
SPACE = 0.2
"""The least distance of two words, in font sizes."""
LEAST_HEIGHT, MOST_HEIGHT = 0.5, 1.6
"""Font sizes per height of a letter; others are of a font that is scaled."""
SOFT_HYPHEN = "\u00ad"
_TILTED, _FULL_TURN = 0.1, 6.2


def read_pdf(body: bytes) -> FileText:
    """Return the text of a PDF file."""
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        code = raw.FPDF_GetLastError()
        locked = code in {raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY}
        raise FileProblemError("encrypted" if locked else "broken_file") from error
    letters = 0
    pages: list[list[Column]] = []
    for number in range(min(len(document), MOST_PAGES)):
        try:
            page = document[number]
            text = page.get_textpage()
        except pypdfium2.PdfiumError:
            continue
        letters += text.count_chars()
        if letters > MOST_LETTERS:
            raise FileProblemError("file_limit")
        pages.append(list(columns_of(lines_of(list(_pieces(text))))))
        text.close()
        page.close()
    if not any(column.lines for page in pages for column in page):
        raise FileProblemError("scanned" if pages else "broken_file")
    title = document.get_metadata_dict(skip_empty=True).get("Title", "")
    return FileText(_blocks(pages), title.strip())


class _Letter(NamedTuple):
    """A letter, where it stands, and whether it is a hyphen that may divide a word."""

    text: str
    x0: float
    x1: float
    y: float
    size: float
    hyphen: bool


def _letters(text: pypdfium2.PdfTextPage) -> Iterator[_Letter]:
    """Yield the letters in the order of the file; spaces have no place."""
    x, y, box = ctypes.c_double(), ctypes.c_double(), raw.FS_RECTF()
    for at in range(text.count_chars()):
        code = raw.FPDFText_GetUnicode(text, at)
        letter = chr(code) if 0 < code <= sys.maxunicode else "\n"
        if letter in "\r\n":
            continue
        if letter.isspace() or raw.FPDFText_IsGenerated(text, at) == 1:
            yield _Letter(" ", 0, 0, 0, 0, hyphen=False)
            continue
        if abs(raw.FPDFText_GetCharAngle(text, at)) % _FULL_TURN > _TILTED:
            continue
        raw.FPDFText_GetCharOrigin(text, at, x, y)
        raw.FPDFText_GetLooseCharBox(text, at, box)
        size, tall = raw.FPDFText_GetFontSize(text, at), abs(box.top - box.bottom)
        if tall and not LEAST_HEIGHT < size / tall < MOST_HEIGHT:
            size = tall / 1.2
        hyphen = letter in _HYPHENS or raw.FPDFText_IsHyphen(text, at) == 1
        letter = SOFT_HYPHEN if letter in _HIDDEN_HYPHENS else letter
        yield _Letter(letter, box.left, box.right, y.value, size or 1.0, hyphen)


def _pieces(text: pypdfium2.PdfTextPage) -> Iterator[TextPiece]:
    """Yield runs of letters, as the file has them; what stands askew is left out."""
    run: list[str] = []
    last = _Letter("", 0, 0, 0, 1, hyphen=False)
    x0 = x1 = 0.0
    for letter in _letters(text):
        if letter.text == " ":
            if run and run[-1] != " ":
                run.append(" ")
            continue
        far = max(letter.x0 - x1, x0 - letter.x1)
        if run and (abs(letter.y - last.y) > 0.3 * last.size or far > GUTTER * last.size):
            yield TextPiece(x0, x1, last.y, last.size, _text(run), last.hyphen)
            run = []
        if not run:
            x0, x1 = letter.x0, letter.x1
        elif far > SPACE * last.size and run[-1] != " ":
            run.append(" ")
        run.append(letter.text)
        x0, x1, last = min(x0, letter.x0), max(x1, letter.x1), letter
    if run:
        yield TextPiece(x0, x1, last.y, last.size, _text(run), last.hyphen)


def _text(letters: Sequence[str]) -> str:
    """Return letters as text; letters beyond the first plane may come in halves."""
    joined = "".join(letters).strip()
    if joined.endswith(SOFT_HYPHEN):
        joined = f"{joined[:-1]}-"
    joined = joined.replace(SOFT_HYPHEN, "")
    return joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _blocks(pages: Sequence[Sequence[Column]]) -> list[FileBlock]:
    frame = _running_lines(pages)
    inside = [[_without(column, frame) for column in page] for page in pages]
    if not any(column.lines for page in inside for column in page):
        inside = [list(page) for page in pages]  # every page is the same
    lines = [line for page in inside for column in page for line in column.lines]
    words = Counter(word.lower() for line in lines for word in _WORD.findall(line.text))
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size, 1)] += len(line.text)
    body = sizes.most_common(1)[0][0]
    drafts = _flow(inside)
    blocks = [_block(draft, words, body) for draft in drafts]
    return [block for block in blocks if block.text]


def _without(column: Column, frame: Container[int]) -> Column:
    lines = [line for line in column.lines if id(line) not in frame]
    return Column(lines, column.number, column.of)


def _running_lines(pages: Sequence[Sequence[Column]]) -> set[int]:
    """Return the identities of the lines at the ends of pages that return on other pages."""
    found: dict[int, str] = {}
    for page in pages:
        lines = sorted((line for column in page for line in column.lines), key=lambda each: -each.y)
        heights = sorted({round(line.y) for line in lines}, reverse=True)
        edges = {*heights[:EDGE_LINES], *heights[-EDGE_LINES:]}
        for line in lines:
            if round(line.y) in edges:
                key = f"{_DIGITS.sub('#', line.text).casefold()} {round(line.y / 20)}"
                found[id(line)] = key
    counts = Counter(found.values())
    least = max(LEAST_REPEATED, REPEATED_SHARE * len(pages))
    return {line for line, key in found.items() if counts[key] >= least}


def _flow(pages: Sequence[Sequence[Column]]) -> list[Draft]:
    """Return the paragraphs of all pages; those that a page or a column breaks are joined."""
    parallel = _columns_differ(pages)
    drafts: list[Draft] = []
    open_in: dict[tuple[int, int], Draft] = {}
    """Column -> the paragraph at its end, which may go on."""
    for page in pages:
        for column in page:
            place = (column.number, column.of) if parallel else (0, 0)
            found = paragraphs_of(column)
            if not found:
                continue
            before = open_in.get(place)
            if before is not None and before.is_open and found[0].goes_on:
                before.lines += found[0].lines
                found[0] = before
                drafts += found[1:]
            else:
                drafts += found
            open_in[place] = found[-1]
    return drafts


def _columns_differ(pages: Sequence[Sequence[Column]]) -> bool:
    """Return whether the first two columns of the pages have few words in common."""
    sides: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    for page in pages:
        for column in page:
            if column.of > 1 and column.number < len(sides):
                for line in column.lines:
                    sides[column.number].update(map(str.lower, _WORD.findall(line.text)))
    if min(side.total() for side in sides) < LEAST_WORDS:
        return True  # too little to go on with
    shared = sum((sides[0] & sides[1]).values())
    return shared < SHARED_WORDS * min(side.total() for side in sides)


def _block(draft: Draft, words: Counter[str], body: float) -> FileBlock:
    text = draft.lines[0].text
    hyphen = draft.lines[0].hyphen
    for line in draft.lines[1:]:
        text = _continued(text, line.text, words, hyphen=hyphen)
        hyphen = line.hyphen
    text = " ".join(text.split())
    large = draft.size > HEADING_SIZE * body and len(text) <= MOST_HEADING
    return FileBlock(text, "heading" if large else "listitem" if draft.is_item else "paragraph")


def _continued(text: str, line: str, words: Counter[str], *, hyphen: bool) -> str:
    """Return a text with its next line; a word that a hyphen divides becomes whole."""
    if not (hyphen or text.endswith("-")) or not line[:1].islower():
        return f"{text} {line}"
    text = text.rstrip(_HYPHENS)
    before, after = _LAST_WORD.search(text), _FIRST_WORD.match(line)
    if before is None or after is None:
        return f"{text}-{line}"
    whole, divided = f"{before[1]}{after[0]}".lower(), f"{before[1]}-{after[0]}".lower()
    return f"{text}-{line}" if words[divided] > words[whole] else f"{text}{line}"
