"""Which folder a crawl writes into: its own, or that of one worker among several."""

import re
import socket
from itertools import count
from pathlib import Path

from bilingual_crawler.corpus.folder import JOURNAL, CrawlFolder
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.journal import FolderHeldError
from bilingual_crawler.plan import CrawlPlan, holds_workers
from bilingual_crawler.settings import Config


def open_folder(plan: CrawlPlan, config: Config) -> CrawlFolder:
    """The folder that the arguments name; with a shared frontier, a worker's folder in it."""
    output, langs = plan.output, str(plan.langs)
    if config.frontier:
        if (output / JOURNAL).exists():
            raise ConfigurationError(
                f"{output} holds a crawl without BILINGUAL_FRONTIER: choose another folder for"
                " the workers with -a output=DIR."
            )
        return _worker_folder(output, langs, config.worker)
    if holds_workers(output):
        raise ConfigurationError(
            f"{output} holds the folders of workers: write -s BILINGUAL_FRONTIER=redis://... to go"
            " on with them, or choose another folder with -a output=DIR."
        )
    return CrawlFolder(output, langs)


def _worker_folder(crawl: Path, langs: str, name: str) -> CrawlFolder:
    """The folder of the worker `name`, or the first of this machine that no worker holds.

    A worker that is started again without a name so takes up the folder, the name and the
    sites of one that has ended.
    """
    if name:
        return CrawlFolder(crawl / name, langs)
    machine = re.sub(r"[^A-Za-z0-9_-]", "-", socket.gethostname()) or "worker"
    for number in count(1):
        try:
            return CrawlFolder(crawl / f"{machine}-{number}", langs)
        except FolderHeldError:
            continue
    raise AssertionError
