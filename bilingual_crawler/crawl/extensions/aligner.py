"""The extension behind BILINGUAL_ALIGN: sentences.jsonl.gz grows with the crawl.

A lexicon is learned from the whole crawl, so each alignment is of everything that the crawl has
written by then. It is begun anew only when there are half as many pairs again, so that all of
them together cost no more than a few times the last one, and it runs in a process of its own
that yields to everything else. The file is replaced as a whole: at any moment, also after a
kill, it is the complete alignment of some moment of the crawl.
"""

import json
import logging
import os
import signal
import subprocess
import sys
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.threads import deferToThread

from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.crawl.deadline import ORDER, StopDeadline
from bilingual_crawler.store.sentence_pair import SENTENCES

logger = logging.getLogger(__name__)

FEWEST_PAIRS = 20
GROWTH = 1.5
LOOK_SECONDS = 0.2
MODULE = "bilingual_crawler.reporting.alignment"
STATS = "bilingual/alignment/"


class CrawlAligner:
    """Starts alignments while the crawl runs, and the last one when its files are in order.

    Order 120: after the reporter, whose display is over by then.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawl = Crawl.of(crawler)
        if not self._crawl.config.align:
            raise NotConfigured("BILINGUAL_ALIGN is off")
        if self._crawl.plan.langs.harvest != "pairs":
            raise NotConfigured("a crawl of one language has no pairs to align")
        self._stats = crawler.stats
        self._process: subprocess.Popen[str] | None = None
        self._aligned = 0
        self._looks = create_looping_call(self._look)
        crawler.signals.connect(self._opened, signal=signals.spider_opened)
        crawler.signals.connect(self._closed, signal=signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension of a crawl."""
        return cls(crawler)

    def _opened(self) -> None:
        seconds = self._crawl.config.align_seconds
        if seconds:
            self._looks.start(seconds, now=False)

    def _look(self) -> None:
        """Begin another alignment if there is enough that is new."""
        if self._process is not None and self._process.poll() is None:
            return
        pairs = self._crawl.corpus.pair_count
        if pairs >= max(FEWEST_PAIRS, GROWTH * self._aligned):
            self._aligned = pairs
            self._process = self._start(subprocess.DEVNULL)

    async def _closed(self) -> None:
        """Align what the crawl has come to; an alignment of less is of no use any more."""
        if self._looks.running:
            self._looks.stop()
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
        if self._crawl.corpus.pair_count == 0:
            return
        folder = self._crawl.folder.path
        logger.info("Aligning the sentences of %d pairs", self._crawl.corpus.pair_count)
        process = self._start(subprocess.PIPE)
        ending = deferToThread(_communicate, process, self._crawl.deadline)
        printed, said = await maybe_deferred_to_future(ending)
        if self._crawl.deadline.told and process.returncode == -signal.SIGTERM:
            logger.info("There was no time to align the sentences: scrapy align %s", folder)
            return
        if process.returncode != 0:
            why = (said.strip().splitlines() or [f"status {process.returncode}"])[-1]
            logger.error(
                "The sentences are not aligned: %s. To try again: scrapy align %s", why, folder
            )
            return
        self._tell(json.loads(printed))

    def _start(self, output: int) -> "subprocess.Popen[str]":
        """Begin to align the folder in a process that finds what this one finds."""
        return subprocess.Popen(  # noqa: S603 - our own module, our own folder
            [sys.executable, "-m", MODULE, str(self._crawl.folder.path.absolute())],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def _tell(self, counts: dict[str, Any]) -> None:
        for name in ("sentence_pairs", "kept"):
            self._stats.set_value(STATS + name, counts[name])
        for rule, number in counts["dropped"].items():
            self._stats.set_value(f"{STATS}dropped/{rule}", number)
        logger.info(
            "%s: %d sentence pairs, %d of them good",
            self._crawl.folder.path / SENTENCES,
            counts["sentence_pairs"],
            counts["kept"],
        )


def _communicate(process: "subprocess.Popen[str]", patience: StopDeadline) -> tuple[str, str]:
    """What a process says until it ends, or until the crawl can wait for it no longer."""
    while True:
        try:
            return process.communicate(timeout=LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            if patience.is_over(ORDER):
                process.terminate()
