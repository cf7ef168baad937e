"""The extension behind BILINGUAL_ALIGN: sentences.jsonl.gz grows with the crawl.

A lexicon is learned from the whole crawl, so each alignment covers everything written so far. A
new one starts only when the number of pairs has grown by half, so all of them together cost no
more than a few times the last one. It runs in its own low-priority process. The file is replaced
as a whole: at any moment, even after a kill, it is a complete alignment of the crawl at some
earlier moment.
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
from bilingual_crawler.crawl.deadline import TIDY, StopDeadline
from bilingual_crawler.store.sentence_pair import SENTENCES

logger = logging.getLogger(__name__)

MIN_PAIRS = 20
GROWTH = 1.5
LOOK_SECONDS = 0.2
MODULE = "bilingual_crawler.reporting.alignment"
STATS = "bilingual/alignment/"


class CrawlAligner:
    """Starts alignments while the crawl runs, and the last one when its files are complete.

    Order 120: after the reporter, whose display has ended by then.
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
        """Build the extension for a crawl."""
        return cls(crawler)

    def _opened(self) -> None:
        seconds = self._crawl.config.align_seconds
        if seconds:
            self._looks.start(seconds, now=False)

    def _look(self) -> None:
        """Start another alignment if there are enough new pairs."""
        if self._process is not None and self._process.poll() is None:
            return
        pairs = self._crawl.corpus.pair_count
        if pairs >= max(MIN_PAIRS, GROWTH * self._aligned):
            self._aligned = pairs
            self._process = self._start(subprocess.DEVNULL)

    async def _closed(self) -> None:
        """Align the whole crawl; an unfinished earlier alignment is of no use any more."""
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
        if self._crawl.deadline.is_set and process.returncode == -signal.SIGTERM:
            logger.info("No time was left to align the sentences: run scrapy align %s", folder)
            return
        if process.returncode != 0:
            why = (said.strip().splitlines() or [f"status {process.returncode}"])[-1]
            logger.error(
                "The sentences could not be aligned: %s. To try again: scrapy align %s", why, folder
            )
            return
        self._report(json.loads(printed))

    def _start(self, output: int) -> "subprocess.Popen[str]":
        """Start to align the folder in a process with the same import path as this one."""
        return subprocess.Popen(  # noqa: S603 - our own module, our own folder
            [sys.executable, "-m", MODULE, str(self._crawl.folder.path.absolute())],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def _report(self, counts: dict[str, Any]) -> None:
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


def _communicate(process: "subprocess.Popen[str]", deadline: StopDeadline) -> tuple[str, str]:
    """Return the output of a process, which is terminated if the crawl cannot wait for it."""
    while True:
        try:
            return process.communicate(timeout=LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            if deadline.is_over(TIDY):
                process.terminate()
