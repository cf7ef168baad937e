"""The geometry of the pictures: curves, bars, layers and maps in the coordinates of an SVG.

Colours and fonts are classes of the style sheet, because the policy of the pages allows no inline
styles; and every chart keeps its numbers, which stand in a table behind it.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bilingual_crawler.reporting.forecast import Forecast
from bilingual_crawler.reporting.tally import Point
from bilingual_crawler.web.rendering import Tick, steps

WIDTH, HEIGHT = 480, 240
LEFT, RIGHT, TOP, BOTTOM = 52, 28, 12, 34
TONES = 5
"""Colours of a map, from the lowest yield to the highest."""
BAR, GAP = 20, 7
NAMES = 205
"""The width of the names beside horizontal bars."""
LEAST_LABEL = 64, 42
"""The smallest area of a map that has room for its name and number."""
LETTER = 8.2
"""About the width of a letter."""


class YieldDrawing(NamedTuple):
    """The yield curve, with the forecast as a fan behind its end."""

    line: str
    area: str
    end: tuple[float, float]
    fan: str
    """From the end to the lowest and highest forecast; "" without one."""
    middle: str
    across: list[Tick]
    up: list[Tick]


class Bar(NamedTuple):
    """A bar, its label and what it stands for."""

    x: float
    y: float
    width: float
    height: float
    label: str
    value: float


class BarDrawing(NamedTuple):
    """Bars, with the ticks of their axes."""

    bars: list[Bar]
    up: list[Tick]
    across: list[Tick]
    height: float = HEIGHT


class Layer(NamedTuple):
    """A layer of an area chart: its name, outline, and number of its colour."""

    name: str
    path: str
    tone: int


class LayerDrawing(NamedTuple):
    """Layers on top of each other, as shares of a whole."""

    layers: list[Layer]
    across: list[Tick]
    up: list[Tick]


class MapArea(NamedTuple):
    """A rectangle of a map."""

    x: float
    y: float
    width: float
    height: float
    name: str
    number: int
    share: float
    tone: int
    label: str
    """What fits of the name; "" if nothing does."""


def draw_yield(points: Sequence[Point], forecast: Forecast | None) -> YieldDrawing | None:
    """Return the yield curve; None without a page."""
    if not points or points[-1][0] <= 0:
        return None
    pages, pairs = points[-1]
    ahead = forecast if forecast is not None and forecast.pages.middle > pages else None
    last = ahead.pages.middle if ahead else pages
    highest = max([each[1] for each in points] + ([ahead.pairs.high] if ahead else [1]))
    up = steps(max(1, highest))
    plane = _Plane(last, up[-1])
    places = [plane.place(*each) for each in points]
    line = "M" + "L".join(f"{x} {y}" for x, y in places)
    floor = HEIGHT - BOTTOM
    fan = middle = ""
    if ahead:
        begin, low, high = (
            plane.place(pages, pairs),
            plane.place(last, ahead.pairs.low),
            plane.place(last, ahead.pairs.high),
        )
        fan = "M" + "L".join(f"{x} {y}" for x, y in (begin, high, low)) + "Z"
        middle = "M" + "L".join(
            f"{x} {y}" for x, y in (begin, plane.place(last, ahead.pairs.middle))
        )
    return YieldDrawing(
        line=line,
        area=f"{line}L{places[-1][0]} {floor}L{places[0][0]} {floor}Z",
        end=places[-1],
        fan=fan,
        middle=middle,
        across=[Tick(plane.place(each, 0)[0], f"{each:,}") for each in steps(last) if each <= last],
        up=[Tick(plane.place(0, each)[1], f"{each:,}") for each in up],
    )


def draw_histogram(numbers: Sequence[int]) -> BarDrawing | None:
    """Return upright bars over a scale from 0 to 1; None if all are empty."""
    if not any(numbers):
        return None
    up = steps(max(numbers))
    plane = _Plane(len(numbers), up[-1])
    bars = []
    for at, number in enumerate(numbers):
        x, y = plane.place(at, number)
        right, floor = plane.place(at + 1, 0)
        label = f"{at / len(numbers):.2f}-{(at + 1) / len(numbers):.2f}"
        bars.append(Bar(x + 1, y, round(right - x - 2, 1), round(floor - y, 1), label, number))
    across = [
        Tick(plane.place(len(numbers) * each / 4, 0)[0], f"{each / 4:.2f}") for each in range(5)
    ]
    return BarDrawing(bars, [Tick(plane.place(0, each)[1], f"{each:,}") for each in up], across)


def draw_bars(numbers: Mapping[str, int]) -> BarDrawing | None:
    """Return horizontal bars, one below the other; None if there are none."""
    if not numbers:
        return None
    highest = max(1, *numbers.values())
    room = WIDTH - NAMES - 60
    bars = [
        Bar(NAMES, at * (BAR + GAP), round(room * number / highest, 1), BAR, name, number)
        for at, (name, number) in enumerate(numbers.items())
    ]
    return BarDrawing(bars, [], [], len(bars) * (BAR + GAP))


def draw_layers(bins: Sequence[Mapping[str, int]], names: Sequence[str]) -> LayerDrawing | None:
    """Return one layer per name: its share of each bin; None with fewer than two bins."""
    if len(bins) < 2:  # noqa: PLR2004 - an area needs two edges
        return None
    plane = _Plane(len(bins) - 1, 100)
    below = [0.0] * len(bins)
    layers = []
    for tone, name in enumerate(names):
        shares = [100 * each.get(name, 0) / max(1, sum(each.values())) for each in bins]
        above = [low + share for low, share in zip(below, shares, strict=True)]
        edge = [plane.place(at, value) for at, value in enumerate(above)]
        back = [plane.place(at, value) for at, value in enumerate(below)][::-1]
        path = "M" + "L".join(f"{x} {y}" for x, y in [*edge, *back]) + "Z"
        layers.append(Layer(name, path, tone))
        below = above
    return LayerDrawing(
        layers,
        [Tick(plane.place(0, 0)[0], "first"), Tick(plane.place(len(bins) - 1, 0)[0], "latest")],
        [Tick(plane.place(0, each)[1], f"{each}%") for each in (0, 50, 100)],
    )


def draw_map(sections: Mapping[str, tuple[int, float]]) -> list[MapArea]:
    """Return a treemap of sections, given as their numbers of pages and their yields (0 to 1)."""
    items = sorted(
        ((name, *values) for name, values in sections.items() if values[0] > 0),
        key=lambda each: (-each[1], each[0]),
    )
    highest = max((each[2] for each in items), default=0.0)
    areas: list[MapArea] = []
    x, y, width, height = 0.0, 0.0, float(WIDTH), float(HEIGHT)
    left = sum(each[1] for each in items)
    while items:
        row = _best_row([each[1] for each in items], min(width, height), width * height / left)
        some, items = items[:row], items[row:]
        inside = sum(each[1] for each in some)
        is_column = width >= height
        thick = (width if is_column else height) * inside / left
        along = 0.0
        for name, number, share in some:
            length = (height if is_column else width) * number / inside
            at = (x, y + along) if is_column else (x + along, y)
            size = (thick, length) if is_column else (length, thick)
            areas.append(_area((*at, *size), name, number, share, highest))
            along += length
        x, y, width, height = (
            (x + thick, y, width - thick, height)
            if is_column
            else (x, y + thick, width, height - thick)
        )
        left -= inside
    return areas


def _best_row(numbers: Sequence[int], side: float, scale: float) -> int:
    """Return how many areas the next row has, so that they are as square as possible.

    This is the squarified treemap of Bruls, Huizing and van Wijk (2000).
    """
    best, worst = 1, math.inf
    for count in range(1, len(numbers) + 1):
        row = [max(1e-9, each * scale) for each in numbers[:count]]
        thick = sum(row) / side
        ratio = max(max(thick * thick / each, each / (thick * thick)) for each in row)
        if ratio > worst:
            break
        best, worst = count, ratio
    return best


def _area(
    place: tuple[float, float, float, float], name: str, number: int, share: float, highest: float
) -> MapArea:
    x, y, width, height = (round(each, 1) for each in place)
    tone = min(TONES - 1, int(TONES * share / highest)) if highest else 0
    letters = int((width - 12) / LETTER)
    label = ""
    if width >= LEAST_LABEL[0] and height >= LEAST_LABEL[1]:
        label = name if len(name) <= letters else f"{name[: letters - 1]}…"
    return MapArea(x, y, width, height, name, number, share, tone, label)


class _Plane:
    """From numbers to places: right is more, and up is more."""

    def __init__(self, across: float, up: float) -> None:
        self._across = across
        self._up = up

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point is drawn."""
        right = LEFT + (WIDTH - LEFT - RIGHT) * x / self._across
        down = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * y / self._up
        return round(right, 1), round(down, 1)
