"""yield.png: the yield curve of a finished crawl, if matplotlib is installed."""

import json
import logging
from collections.abc import Sequence
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
        if find_spec("matplotlib") is None:
            logger.info(
                "%s is not drawn: it needs matplotlib (pip install 'bilingual-crawler[plot]').",
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


def draw_yield(points: Sequence[Point], label: str, path: Path) -> None:
    """Draw the harvest against the number of pages, starting at zero."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - heavy
    from matplotlib.figure import Figure  # noqa: PLC0415 - heavy

    figure = Figure(figsize=(7, 4), layout="constrained")
    FigureCanvasAgg(figure)
    panel = figure.subplots()
    pages, pairs = zip((0, 0), *points, strict=True)
    panel.plot(pages, pairs, linewidth=1.6)
    panel.set_xlabel("pages")
    panel.set_ylabel(label)
    panel.set_xlim(0, max(pages[-1], 1))
    panel.set_ylim(bottom=0)
    panel.grid(alpha=0.25)
    with replacing(path) as fresh:
        figure.savefig(fresh, dpi=110, format="png")
