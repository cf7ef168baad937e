"""From the pieces of text on a page to columns, lines and paragraphs in the order of reading.

A PDF file says where each letter is, and nothing of lines or columns. Pieces on one baseline that
are close together are a line. A gutter is a place that many rows of lines leave free; the lines
between two rows that cross it are read column by column, each column from top to bottom. All of
it is geometry, the same in every language.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from statistics import median

GUTTER = 0.9
"""The least width of a gutter, in font sizes."""
LEAST_ROWS = 3
"""Rows that must leave a gutter free on both sides of it."""
MOST_DEPTH = 4
GAP, GAP_AFTER_END = 1.45, 1.25
"""A distance between two lines that is this many times the usual one ends a paragraph; the second
is for lines that end a sentence."""
USUAL_STEP = 1.35
"""The distance of lines in font sizes; where all are further apart, ends of sentences count too."""
SIZE_CHANGE = 0.12
INDENT = 0.8
"""In font sizes."""
SHORT_LINE = 0.75
"""A line that ends a sentence before this share of the column ends a paragraph."""
HEADING_SIZE = 1.15
_ENDS = re.compile(r"[.!?:;\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964][\"'\u201d\u2019\u00bb)\]]*$")
_ITEM = re.compile(
    r"^(?:[\u2022\u25cf\u25aa\u25e6\u2023\u00b7*]|[-\u2013\u2014]\s|\(?(?:\d{1,2}|[a-z])[.)]\s)"
)
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufefc]")


@dataclass(slots=True)
class TextPiece:
    """Letters that stand next to each other on one baseline."""

    x0: float
    x1: float
    y: float
    """The baseline; it grows upwards."""
    size: float
    text: str
    hyphen: bool = False
    """Whether it ends with a hyphen that divides a word."""


Line = TextPiece


@dataclass(slots=True)
class Column:
    """Lines from top to bottom, and which column of its zone it is."""

    lines: list[Line] = field(default_factory=list)
    number: int = 0
    of: int = 1


@dataclass(slots=True)
class Draft:
    """A paragraph of a column."""

    lines: list[Line]
    is_item: bool = False

    @property
    def size(self) -> float:
        """The usual size of its letters."""
        return median(line.size for line in self.lines)

    @property
    def is_open(self) -> bool:
        """Whether it ends in the middle of a sentence."""
        return not _ENDS.search(self.lines[-1].text)

    @property
    def goes_on(self) -> bool:
        """Whether it begins in the middle of a sentence."""
        return self.lines[0].text[:1].islower()


def lines_of(pieces: Sequence[TextPiece]) -> list[Line]:
    """Join the pieces of each baseline that are close together."""
    lines: list[Line] = []
    ordered = sorted(pieces, key=lambda piece: (-piece.y, piece.x0))
    rows: list[list[TextPiece]] = []
    for piece in ordered:
        if rows and abs(rows[-1][0].y - piece.y) < 0.35 * min(rows[-1][0].size, piece.size):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    for row in rows:
        row.sort(key=lambda piece: piece.x0)
        begun = row[0]
        for piece in row[1:]:
            size = max(begun.size, piece.size)
            gap = piece.x0 - begun.x1
            if gap < GUTTER * size:
                begun = _joined(begun, piece, gap)
            else:
                lines.append(begun)
                begun = piece
        lines.append(begun)
    return [line for line in lines if line.text.strip()]


def _joined(first: TextPiece, second: TextPiece, gap: float) -> TextPiece:
    one, other = first.text, second.text
    if _RTL.search(one) and _RTL.search(other):
        one, other = other, one
    near = gap < 0.15 * max(first.size, second.size)
    space = "" if near or one.endswith(" ") or other.startswith(" ") else " "
    longer = first if len(first.text) >= len(second.text) else second
    return TextPiece(
        min(first.x0, second.x0),
        max(first.x1, second.x1),
        longer.y,
        longer.size,
        f"{one}{space}{other}",
        second.hyphen,
    )


def columns_of(lines: Sequence[Line], depth: int = 0) -> Iterator[Column]:
    """Yield the columns of a page in the order of reading."""
    gutter = _gutter(lines) if depth < MOST_DEPTH else None
    if gutter is None:
        if lines:
            yield Column(sorted(lines, key=lambda line: (-line.y, line.x0)))
        return
    for crosses, zone in groupby(_rows(lines), key=lambda row: _is_crossed(row, gutter)):
        inside = [line for row in zone for line in row]
        left = [line for line in inside if line.x1 <= gutter]
        right = [line for line in inside if line.x0 >= gutter]
        if crosses or not (left and right):
            yield from columns_of(inside, MOST_DEPTH)
            continue
        parts = [*columns_of(left, depth + 1), *columns_of(right, depth + 1)]
        for number, column in enumerate(parts):
            yield Column(column.lines, number, len(parts))


def _rows(lines: Sequence[Line]) -> list[list[Line]]:
    """Return the lines that stand side by side, from top to bottom."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: -line.y):
        if rows and rows[-1][-1].y - line.y < 0.5 * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _is_crossed(row: Sequence[Line], gutter: float) -> bool:
    return any(line.x0 < gutter < line.x1 for line in row)


def _gutter(lines: Sequence[Line]) -> float | None:
    """Return the middle of the gutter that most rows leave free between lines on both sides."""
    if len(lines) < 2 * LEAST_ROWS:
        return None
    size = median(line.size for line in lines)
    candidates = Counter(
        round((line.x1 + other.x0) / 2 / size)
        for row in _rows(lines)
        for line, other in _neighbours(row)
        if other.x0 - line.x1 >= GUTTER * size
    )
    best, most = None, 0
    left_edges = sorted({round(line.x0 / size) for line in lines})
    tried = [at * size for at, _ in candidates.most_common(5)]
    tried += [(edge - 0.5) * size for edge in left_edges[1:6]]
    for at in tried:
        left = [line for line in lines if line.x1 <= at]
        right = [line for line in lines if line.x0 >= at]
        crossing = len(lines) - len(left) - len(right)
        least = min(len(left), len(right))
        if least < LEAST_ROWS or crossing > least or not _side_by_side(left, right):
            continue
        if least - crossing > most:
            edge = max(line.x1 for line in left), min(line.x0 for line in right)
            best, most = sum(edge) / 2, least - crossing
    return best


def _side_by_side(left: Sequence[Line], right: Sequence[Line]) -> bool:
    """Return whether two sides share most of the height of the smaller one."""
    (top, bottom), (other_top, other_bottom) = (
        (max(line.y for line in side), min(line.y for line in side)) for side in (left, right)
    )
    shared = min(top, other_top) - max(bottom, other_bottom)
    return shared > 0.4 * min(top - bottom, other_top - other_bottom)


def _neighbours(row: Sequence[Line]) -> Iterator[tuple[Line, Line]]:
    ordered = sorted(row, key=lambda line: line.x0)
    return pairwise(ordered)


def paragraphs_of(column: Column) -> list[Draft]:
    """Divide the lines of a column into paragraphs."""
    lines = column.lines
    if not lines:
        return []
    steps = [one.y - other.y for one, other in pairwise(lines)]
    sizes = [line.size for line in lines]
    usual = min((step for step in steps if step > 0.5 * median(sizes)), default=0.0)
    near = [step for step in steps if 0 < step <= 1.6 * usual] or [usual]
    step = median(near)
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    drafts = [Draft([lines[0]], bool(_ITEM.match(lines[0].text)))]
    for above, line in pairwise(lines):
        item = bool(_ITEM.match(line.text))
        if item or _is_new(above, line, step, left, right):
            drafts.append(Draft([line], item))
        else:
            drafts[-1].lines.append(line)
    return drafts


def _is_new(above: Line, line: Line, step: float, left: float, right: float) -> bool:
    """Return whether a line begins a paragraph."""
    size = max(line.size, above.size)
    ended = bool(_ENDS.search(above.text))
    most = GAP_AFTER_END * min(step, USUAL_STEP * size) if ended else GAP * step
    if above.y - line.y > most or abs(line.size - above.size) > SIZE_CHANGE * size:
        return True
    if above.hyphen or line.text[:1].islower():
        return False
    if ended and above.x1 - left < SHORT_LINE * (right - left):
        return True
    return ended and line.x0 - above.x0 > INDENT * size
