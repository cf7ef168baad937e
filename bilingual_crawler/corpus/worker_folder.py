"""The folder of one worker among several: a folder of its own inside the crawl's."""

import re
import socket
from itertools import count
from pathlib import Path

from bilingual_crawler.corpus.folder import JOURNAL, CrawlFolder
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.journal import FolderHeldError


def open_worker_folder(crawl: Path, langs: str, name: str = "") -> CrawlFolder:
    """The folder of the worker `name`, or the first of this machine that no worker holds.

    A worker that is started again without a name so takes up the folder, the name and the
    sites of one that has ended.
    """
    if (crawl / JOURNAL).exists():
        raise ConfigurationError(
            f"{crawl} holds a crawl without BILINGUAL_FRONTIER: choose another folder for"
            " workers with -a output=DIR."
        )
    if name:
        return CrawlFolder(crawl / name, langs)
    machine = re.sub(r"[^A-Za-z0-9_-]", "-", socket.gethostname()) or "worker"
    for number in count(1):
        try:
            return CrawlFolder(crawl / f"{machine}-{number}", langs)
        except FolderHeldError:
            continue
    raise AssertionError
