"""The yield curve as a drawing: numbers that the template puts into an SVG."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from bilingual_crawler.reporting.yields import Point

WIDTH, HEIGHT = 760, 284
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 14, 28
TICKS = 4
STEPS = (1, 2, 2.5, 5, 10)


class Tick(NamedTuple):
    """A line of the grid: where it is drawn and what stands beside it."""

    at: float
    label: str


class Drawing(NamedTuple):
    """Everything that is drawn."""

    line: str
    area: str
    end: tuple[float, float]
    across: list[Tick]
    up: list[Tick]
    points: list[tuple[float, float, int, int]]
    """x, y, pages, pairs"""


def draw(points: Sequence[Point]) -> Drawing | None:
    """The drawing of a curve; None if there is nothing to draw."""
    if not points or points[-1][0] == 0:
        return None
    pages, pairs = points[-1][0], max(1, *(each[1] for each in points))
    up = _steps(pairs)
    top = max(pairs, up[-1])

    def place(point: Point) -> tuple[float, float]:
        x = LEFT + (WIDTH - LEFT - RIGHT) * point[0] / pages
        y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * point[1] / top
        return round(x, 1), round(y, 1)

    places = [place(each) for each in points]
    line = "M" + "L".join(f"{x} {y}" for x, y in places)
    floor = HEIGHT - BOTTOM
    return Drawing(
        line=line,
        area=f"{line}L{places[-1][0]} {floor}L{places[0][0]} {floor}Z",
        end=places[-1],
        across=[Tick(place((each, 0))[0], f"{each:,}") for each in _steps(pages) if each <= pages],
        up=[Tick(place((0, each))[1], f"{each:,}") for each in up],
        points=[(*at, *point) for at, point in zip(places, points, strict=True)],
    )


def _steps(highest: int) -> list[int]:
    """Round whole numbers from 0 to about the highest."""
    rough = max(1.0, highest / TICKS)
    power = 10 ** math.floor(math.log10(rough))
    step = next(each * power for each in STEPS if each * power >= rough)
    step = math.ceil(step)
    return list(range(0, highest + step, step))
