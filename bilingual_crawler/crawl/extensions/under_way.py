"""The extension that notes which URLs are being fetched, for those who watch a crawl."""

import json
from collections.abc import Iterable
from itertools import islice
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler

from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.store.folder import UNDER_WAY
from bilingual_crawler.store.journal import Statement
from bilingual_crawler.urls.credentials import without_credentials

MOST = 12
LONGEST = 500


class UrlsUnderWay:
    """Adds the URLs that the downloader works on to every checkpoint, if they have changed."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._saved = ""
        crawler.signals.connect(self._opened, signal=signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension of a crawl."""
        return cls(crawler)

    def _opened(self) -> None:
        Crawl.of(self._crawler).folder.journal.attach(self)

    def changes(self) -> Iterable[Statement]:
        """Return the fact with the URLs, for the journal."""
        engine = self._crawler.engine
        active = engine.downloader.active if engine is not None else ()
        urls = [without_credentials(each.url)[:LONGEST] for each in islice(active, MOST)]
        found = json.dumps(sorted(urls))
        if found == self._saved:
            return []
        self._saved = found
        return [("INSERT OR REPLACE INTO facts VALUES (?, ?)", [(UNDER_WAY, found)])]
