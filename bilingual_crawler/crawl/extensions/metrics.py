"""The extension behind BILINGUAL_METRICS: /metrics for Prometheus, on the crawl's event loop.

It answers GET requests only, in the few milliseconds that it takes to read the counters. As it
runs on the same loop as the crawl, no thread reads figures while they change.
"""

import logging
from ipaddress import ip_address
from typing import Any, Self

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.error import CannotListenError
from twisted.web.resource import Resource
from twisted.web.server import Site

from bilingual_crawler import __version__
from bilingual_crawler.config.checks import split_address
from bilingual_crawler.crawl.context import Crawl
from bilingual_crawler.errors import ConfigurationError, exit_on_configuration_error
from bilingual_crawler.reporting.counts import PAGES
from bilingual_crawler.reporting.metrics import CrawlCollector, Snapshot, registry_of
from bilingual_crawler.reporting.progress import Pace
from bilingual_crawler.reporting.tally import SCHEMA
from bilingual_crawler.store.journal import Journal

logger = logging.getLogger(__name__)

IDLE_SECONDS = 30


class MetricsEndpoint:
    """Serves metrics from before the first request until the end of the crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._crawl = crawl = Crawl.of(crawler)
        if not crawl.config.metrics:
            raise NotConfigured("BILINGUAL_METRICS is off")
        self._pace = Pace()
        self._pages_before = _pages_before(crawl.folder.journal)
        about = {
            "langs": str(crawl.plan.langs),
            "scorer": crawl.config.scorer,
            "version": __version__,
        }
        self._port = _listen(crawl.config.metrics, registry_of(CrawlCollector(about, self._look)))
        crawler.signals.connect(self._stopped, signal=signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension for a crawl; refuse an address that cannot be used."""
        with exit_on_configuration_error():
            return cls(crawler)

    def _look(self) -> Snapshot:
        stats = self._crawler.stats.get_stats()
        pages = stats.get(PAGES, 0)
        corpus = self._crawl.corpus
        return Snapshot(
            stats=stats,
            documents=corpus.documents,
            pages=self._pages_before + pages,
            pairs=corpus.pair_count,
            waiting=self._crawl.waiting,
            pages_a_second=self._pace.at(pages),
            forecast=self._crawl.forecast(),
        )

    async def _stopped(self) -> None:
        await maybe_deferred_to_future(self._port.stopListening())


class MetricsPage(Resource):
    """The page that Prometheus requests, in a format that it accepts."""

    isLeaf = True  # noqa: N815 - Twisted's name

    def __init__(self, registry: CollectorRegistry) -> None:
        super().__init__()
        self._registry = registry

    def render_GET(self, request: Any) -> bytes:  # noqa: N802 - Twisted's name
        """Return the current metrics."""
        encode, content_type = choose_encoder(request.getHeader("Accept") or "")
        request.setHeader("Content-Type", content_type)
        return encode(self._registry)


def _pages_before(journal: Journal) -> int:
    """Return the number of pages from earlier runs of the crawl."""
    journal.define(SCHEMA)
    rows = journal.read("SELECT amount FROM tally WHERE name = ?", (PAGES,))
    return sum(amount for (amount,) in rows)


def _listen(address: str, registry: CollectorRegistry) -> Any:
    from twisted.internet import reactor  # noqa: PLC0415 - importing it installs one

    host, port = split_address(address)
    root: Any = Resource()
    root.putChild(b"metrics", MetricsPage(registry))
    site: Any = Site(root, timeout=IDLE_SECONDS)
    loop: Any = reactor
    try:
        listening = loop.listenTCP(port, site, interface=host)
    except CannotListenError as error:
        why = getattr(error.socketError, "strerror", None) or error.socketError
        raise ConfigurationError(
            f"BILINGUAL_METRICS: cannot serve metrics at {address} ({why})."
            " Use another address, such as 127.0.0.1:9411, or port 0 for any free port."
        ) from None
    at = listening.getHost()
    shown = f"[{at.host}]" if ":" in at.host else at.host
    logger.info("Metrics for Prometheus at http://%s:%d/metrics", shown, at.port)
    if not ip_address(at.host).is_loopback:
        logger.warning("BILINGUAL_METRICS: anyone who can reach %s can read the metrics.", at.host)
    return listening
