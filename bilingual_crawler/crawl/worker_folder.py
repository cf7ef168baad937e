"""Which folder a crawl writes into: its own, or that of one worker among several."""

import re
import socket
from itertools import count
from pathlib import Path

from bilingual_crawler.config.plan import CrawlPlan, holds_workers
from bilingual_crawler.config.settings import Config
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.folder import JOURNAL, CrawlFolder
from bilingual_crawler.store.journal import FolderHeldError


def open_folder(
    plan: CrawlPlan, config: Config, topic: str = "", *, harvests: bool = True
) -> CrawlFolder:
    """The folder that the arguments name; with a shared frontier, a worker's folder in it."""
    output, langs = plan.output, str(plan.langs)
    if config.frontier:
        if (output / JOURNAL).exists():
            raise ConfigurationError(
                f"{output} holds a crawl without BILINGUAL_FRONTIER: choose another folder for"
                " the workers with -a output=DIR."
            )
        return _worker_folder(output, langs, config.worker, topic)
    if holds_workers(output):
        raise ConfigurationError(
            f"{output} holds the folders of workers: write -s BILINGUAL_FRONTIER=redis://... to go"
            " on with them, or choose another folder with -a output=DIR."
        )
    return CrawlFolder(output, langs, topic, harvests=harvests)


def _worker_folder(crawl: Path, langs: str, name: str, topic: str) -> CrawlFolder:
    """The folder of the worker `name`, or the first of this machine that no worker holds.

    A worker that is started again without a name so takes up the folder, the name and the
    sites of one that has ended.
    """
    if name:
        return CrawlFolder(crawl / name, langs, topic)
    machine = re.sub(r"[^A-Za-z0-9_-]", "-", socket.gethostname()) or "worker"
    for number in count(1):
        try:
            return CrawlFolder(crawl / f"{machine}-{number}", langs, topic)
        except FolderHeldError:
            continue
    raise AssertionError
