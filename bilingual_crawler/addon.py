"""The add-on: any Scrapy project gets the whole crawler with one line.

ADDONS = {"bilingual_crawler.addon.BilingualCrawler": 500}

It wires the spiders of this package and their subclasses; other spiders of a project run
as they did before.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from scrapy.crawler import Crawler
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, Settings

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.fetching.identity import accept_language, identity_settings
from bilingual_crawler.reporting.logs import FORMATTER, watch_log
from bilingual_crawler.settings import Config, scrapy_defaults
from bilingual_crawler.spiders.bilingual import BilingualSpider

SPIDERS = "bilingual_crawler.spiders"
OURS = "bilingual_crawler."
SCRAPYS = "scrapy."

SCHEDULER = OURS + "frontier.scheduler.FrontierScheduler"
THROTTLE = {
    OURS + "fetching.crawl_delay.CrawlDelays": 0,
    OURS + "fetching.throttle.SiteThrottle": 0,
    SCRAPYS + "extensions.throttle.AutoThrottle": None,
}
COMPONENTS: dict[str, dict[str, int | str | None]] = {
    "DOWNLOAD_HANDLERS": {
        "http": OURS + "fetching.handler.GuardedDownloadHandler",
        "https": OURS + "fetching.handler.GuardedDownloadHandler",
    },
    "DOWNLOADER_MIDDLEWARES": {
        OURS + "fetching.guard.AddressGuard": 30,
        OURS + "fetching.robots.RobotsTxt": 100,
        SCRAPYS + "downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        OURS + "fetching.optouts.OptOuts": 540,
        OURS + "fetching.retry.LaterRetry": 550,
        SCRAPYS + "downloadermiddlewares.retry.RetryMiddleware": None,
        OURS + "fetching.limits.ContentLimits": 585,
    },
    "SPIDER_MIDDLEWARES": {OURS + "scoring.middleware.ScoringMiddleware": 950},
    "ITEM_PIPELINES": {
        OURS + "corpus.pipelines.OptOutFilter": 100,
        OURS + "corpus.pipelines.LanguageFilter": 200,
        OURS + "corpus.pipelines.MachineTranslationFilter": 250,
        OURS + "corpus.pipelines.Harvest": 300,
    },
    "EXTENSIONS": {
        **THROTTLE,
        OURS + "stopping.GracefulStop": 10,
        OURS + "reporting.extension.CrawlReporter": 100,
        OURS + "reporting.picture.YieldPicture": 110,
        SCRAPYS + "extensions.logstats.LogStats": None,
        SCRAPYS + "extensions.remote_control.RemoteControl": None,  # off, and slow to import
    },
}
WARC = {OURS + "corpus.warc_extension.WarcArchive": 500}
SITEMAPS = {OURS + "fetching.sitemaps.SiteMaps": 130}
METRICS = {OURS + "reporting.metrics_endpoint.MetricsEndpoint": 105}
NEGOTIATION = {OURS + "fetching.negotiation.middleware.Negotiation": 890}
FINGERPRINTER = OURS + "fetching.negotiation.cache_key.VariantFingerprinter"
ALIGN = {OURS + "alignment.extension.CrawlAligner": 120}


class BilingualCrawler:
    """Puts the parts of the crawler into Scrapy's places for them, at add-on priority."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "BilingualCrawler":
        """Build the add-on for a crawler."""
        return cls(crawler)

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Make the spiders known to `scrapy crawl`, beside the project's own."""
        modules = settings.getlist("SPIDER_MODULES")
        if SPIDERS not in modules:
            settings.set("SPIDER_MODULES", [*modules, SPIDERS], priority="project")
        if settings.get("BILINGUAL_LOG_FORMAT") == "json":  # from the first line on
            watch_log(as_json=True)

    def update_settings(self, settings: Settings) -> None:
        """Wire everything, unless the crawl is of some other spider."""
        if not issubclass(self._crawler.spidercls, BilingualSpider):
            return
        config = wire_fetching(settings)
        settings.set("SCHEDULER", SCHEDULER, priority="addon")
        spider = self._crawler.spider
        if isinstance(spider, BilingualSpider):
            FORMATTER.crawl = str(spider.plan.langs)
            headers = {"Accept-Language": accept_language(spider.plan.langs)}
            _add(settings, "DEFAULT_REQUEST_HEADERS", headers)
            if config.negotiate or True in spider.plan.sites.said("negotiate"):
                _add(settings, "SPIDER_MIDDLEWARES", NEGOTIATION)
                settings.set("REQUEST_FINGERPRINTER_CLASS", FINGERPRINTER, priority="addon")
        for name, components in COMPONENTS.items():
            _add(settings, name, components)
        if config.warc:
            _add(settings, "EXTENSIONS", WARC)
        if config.sitemaps:
            _add(settings, "EXTENSIONS", SITEMAPS)
        if config.align:
            _add(settings, "EXTENSIONS", ALIGN)
        _let_watch(settings, config)


def _let_watch(settings: Settings, config: Config) -> None:
    """Wire what programs watch a crawl by: logs that they read, figures that they ask for."""
    watch_log(as_json=config.log_format == "json")
    if config.metrics:
        if find_spec("prometheus_client") is None:
            raise ConfigurationError(
                "BILINGUAL_METRICS needs prometheus_client:"
                " pip install 'bilingual-crawler[metrics]', or leave the setting out."
            )
        _add(settings, "EXTENSIONS", METRICS)


def wire_fetching(settings: BaseSettings) -> Config:
    """Let a spider of any kind fetch as we do: guarded, obedient, slowly, under our name."""
    for default in scrapy_defaults:
        settings.set(default.name, default.value, priority="addon")
    config = Config.from_settings(settings)
    for name, value in identity_settings(settings, config.contact).items():
        settings.set(name, value, priority="addon")
    for name in ("DOWNLOAD_HANDLERS", "DOWNLOADER_MIDDLEWARES"):
        _add(settings, name, COMPONENTS[name])
    _add(settings, "EXTENSIONS", THROTTLE)
    return config


def _add(settings: BaseSettings, name: str, components: Mapping[str, Any]) -> None:
    """Add to a setting that holds a dictionary; what the project says of a key stands."""
    own = settings[name]
    for key, value in components.items():
        if key not in own or (own.getpriority(key) or 0) < SETTINGS_PRIORITIES["addon"]:
            own.set(key, value, priority="addon")
