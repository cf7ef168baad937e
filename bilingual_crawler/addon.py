"""The add-on: one line gives any Scrapy project the whole crawler.

ADDONS = {"bilingual_crawler.addon.BilingualCrawler": 500}

It configures the spiders of this package and their subclasses; other spiders of a project run
as before.
"""

from importlib.util import find_spec

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings, Settings

from bilingual_crawler.config.settings import Config
from bilingual_crawler.crawl.archive.archive import check_archive
from bilingual_crawler.crawl.context import Crawl, config_of
from bilingual_crawler.crawl.extensions.logs import FORMATTER, watch_log
from bilingual_crawler.crawl.fetching.identity import accept_language
from bilingual_crawler.crawl.wiring import (
    ALIGN,
    COMPONENTS,
    FINGERPRINTER,
    METRICS,
    NEGOTIATION,
    SCHEDULER,
    SITEMAPS,
    WARC,
    add_components,
    drop_remote_control,
    wire_archive,
    wire_fetching,
)
from bilingual_crawler.errors import ConfigurationError, exit_on_configuration_error
from bilingual_crawler.spiders.bilingual import BilingualSpider

SPIDERS = "bilingual_crawler.spiders"


class BilingualCrawler:
    """Adds the crawler's components to Scrapy's settings, at add-on priority."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "BilingualCrawler":
        """Build the add-on for a crawler."""
        return cls(crawler)

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Make our spiders known to `scrapy crawl`, besides the project's own."""
        modules = settings.getlist("SPIDER_MODULES")
        if SPIDERS not in modules:
            settings.set("SPIDER_MODULES", [*modules, SPIDERS], priority="project")
        if settings.get("BILINGUAL_LOG_FORMAT") == "json":  # from the first line on
            watch_log(as_json=True)

    def update_settings(self, settings: Settings) -> None:
        """Add all components, unless the crawl is for another spider."""
        if not issubclass(self._crawler.spidercls, BilingualSpider):
            return
        with exit_on_configuration_error():
            self._wire(settings, config_of(self._crawler))

    def _wire(self, settings: Settings, config: Config) -> None:
        if config.archive:
            check_archive(config)
            wire_archive(settings, config)
        wire_fetching(settings, config)
        drop_remote_control(settings)
        settings.set("SCHEDULER", SCHEDULER, priority="addon")
        crawl = Crawl.find(self._crawler)
        if crawl is not None:
            langs, sites = crawl.plan.langs, crawl.plan.sites
            FORMATTER.crawl = str(langs)
            headers = {"Accept-Language": accept_language(langs)}
            add_components(settings, "DEFAULT_REQUEST_HEADERS", headers)
            if config.negotiate or True in sites.said("negotiate"):
                add_components(settings, "SPIDER_MIDDLEWARES", NEGOTIATION)
                settings.set("REQUEST_FINGERPRINTER_CLASS", FINGERPRINTER, priority="addon")
        for name, components in COMPONENTS.items():
            add_components(settings, name, components)
        if config.warc:
            add_components(settings, "EXTENSIONS", WARC)
        if config.sitemaps:
            add_components(settings, "EXTENSIONS", SITEMAPS)
        if config.align:
            add_components(settings, "EXTENSIONS", ALIGN)
        _wire_monitoring(settings, config)


def _wire_monitoring(settings: Settings, config: Config) -> None:
    """Set up JSON logs and the metrics endpoint, for programs that watch a crawl."""
    watch_log(as_json=config.log_format == "json")
    if config.metrics:
        if find_spec("prometheus_client") is None:
            raise ConfigurationError(
                "BILINGUAL_METRICS needs prometheus_client:"
                " pip install 'bilingual-crawler[metrics]', or leave the setting out."
            )
        add_components(settings, "EXTENSIONS", METRICS)
