"""yield.png: the yield curve of a finished crawl, if Pillow is installed.

It is drawn line by line, because importing matplotlib for one curve takes as long as fifty pages.
"""

import json
import logging
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler

from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.reporting.tally import Point
from bilingual_crawler.store.durable import replacing
from bilingual_crawler.store.folder import PICTURE, REPORT

logger = logging.getLogger(__name__)


class YieldPicture:
    """Draws the yield curve in crawl.json when a crawl is finished.

    Order 110: after the reporter, which writes crawl.json. To switch it off:
    `EXTENSIONS = {"bilingual_crawler.crawl.extensions.picture.YieldPicture": None}`.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawl = Crawl.of(crawler)
        crawler.signals.connect(self._closed, signal=signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension for a crawl."""
        return cls(crawler)

    def _closed(self) -> None:
        folder = self._crawl.folder
        if folder.facts.get("finished") != "yes":
            return
        if find_spec("PIL") is None:
            logger.info(
                "%s is not drawn: it needs Pillow (pip install 'bilingual-crawler[plot]').",
                PICTURE,
            )
            return
        try:
            report = json.loads((folder.path / REPORT).read_text())
            points = [(pages, pairs) for pages, pairs in report["yield"]]
            label = f"{report['harvest']} ({report['langs']})"
            draw_yield(points, label, folder.path / PICTURE)
        except (OSError, ValueError, KeyError) as error:
            logger.warning("%s cannot be drawn: %s", folder.path / PICTURE, error)


WIDTH, HEIGHT = 770, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 750, 20, 380
"""Where the panel begins and ends."""
FINER = 2
"""Lines are drawn so many times larger and then made smaller, which smooths them."""
MOST_TICKS = 8
INK, GRID, CURVE = (40, 40, 40), (222, 222, 222), (31, 119, 180)


def draw_yield(points: Sequence[Point], label: str, path: Path) -> None:
    """Draw the harvest against the number of pages, starting at zero."""
    from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415 - optional

    curve = [(0, 0), *points]
    most_pages, most_pairs = max(1, curve[-1][0]), max(1, *(pairs for _, pairs in curve))
    across, up = (RIGHT - LEFT) / most_pages, (BOTTOM - TOP) / (1.05 * most_pairs)

    def place(pages: float, pairs: float) -> tuple[float, float]:
        return FINER * (LEFT + pages * across), FINER * (BOTTOM - pairs * up)

    lines = Image.new("RGB", (FINER * WIDTH, FINER * HEIGHT), "white")
    pen = ImageDraw.Draw(lines)
    for pages in ticks(most_pages):
        pen.line([place(pages, 0), (place(pages, 0)[0], FINER * TOP)], GRID, FINER)
    for pairs in ticks(most_pairs):
        pen.line([place(0, pairs), place(most_pages, pairs)], GRID, FINER)
    pen.rectangle((FINER * LEFT, FINER * TOP, FINER * RIGHT, FINER * BOTTOM), None, INK, FINER)
    pen.line([place(*point) for point in curve], CURVE, 2 * FINER, joint="curve")
    picture = lines.resize((WIDTH, HEIGHT), Image.Resampling.BOX)
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(13)
    for pages in ticks(most_pages):
        pen.text((LEFT + pages * across, BOTTOM + 8), f"{pages:,}", INK, font, anchor="ma")
    for pairs in ticks(most_pairs):
        pen.text((LEFT - 8, BOTTOM - pairs * up), f"{pairs:,}", INK, font, anchor="rm")
    pen.text(((LEFT + RIGHT) / 2, HEIGHT - 12), "pages", INK, font, anchor="ms")
    side = Image.new("RGB", (BOTTOM - TOP, 20), "white")
    ImageDraw.Draw(side).text((side.width / 2, 10), label, INK, font, anchor="mm")
    picture.paste(side.rotate(90, expand=True), (2, TOP))
    with replacing(path) as fresh:
        picture.save(fresh, "PNG")


def ticks(most: int) -> range:
    """Return round numbers from 0 to `most`, eight at most."""
    step = 1
    while most // step >= MOST_TICKS:
        step = next(wider for wider in _round_numbers() if wider > step)
    return range(0, most + 1, step)


def _round_numbers() -> Iterator[int]:
    """Yield 1, 2, 5, 10, 20, 50, 100 and so on."""
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10
