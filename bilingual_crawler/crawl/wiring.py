"""Where our components go in Scrapy's settings."""

from collections.abc import Mapping
from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from bilingual_crawler.config.settings import Config, scrapy_defaults
from bilingual_crawler.crawl.fetching.identity import identity_settings

OURS = "bilingual_crawler."
SCRAPYS = "scrapy."

SCHEDULER = OURS + "crawl.scheduler.FrontierScheduler"
THROTTLE = {
    OURS + "crawl.fetching.delays.CrawlDelays": 0,
    OURS + "crawl.fetching.delays.SiteThrottle": 0,
    SCRAPYS + "extensions.throttle.AutoThrottle": None,
}
COMPONENTS: dict[str, dict[str, int | str | None]] = {
    "DOWNLOAD_HANDLERS": {
        "http": OURS + "crawl.fetching.handler.GuardedDownloadHandler",
        "https": OURS + "crawl.fetching.handler.GuardedDownloadHandler",
    },
    "DOWNLOADER_MIDDLEWARES": {
        OURS + "crawl.fetching.guard.AddressGuard": 30,
        OURS + "crawl.fetching.robots.RobotsTxt": 100,
        SCRAPYS + "downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        OURS + "crawl.fetching.optouts.OptOuts": 540,
        OURS + "crawl.fetching.retry.LaterRetry": 550,
        SCRAPYS + "downloadermiddlewares.retry.RetryMiddleware": None,
        OURS + "crawl.fetching.limits.ContentLimits": 585,
    },
    "SPIDER_MIDDLEWARES": {OURS + "crawl.scoring.ScoringMiddleware": 950},
    "ITEM_PIPELINES": {
        OURS + "crawl.pipelines.OptOutFilter": 100,
        OURS + "crawl.pipelines.LanguageFilter": 200,
        OURS + "crawl.pipelines.MachineTranslationFilter": 250,
        OURS + "crawl.pipelines.Harvest": 300,
    },
    "EXTENSIONS": {
        **THROTTLE,
        OURS + "crawl.stopping.GracefulStop": 10,
        OURS + "crawl.extensions.reporter.CrawlReporter": 100,
        OURS + "crawl.extensions.under_way.UrlsUnderWay": 105,
        OURS + "crawl.extensions.picture.YieldPicture": 110,
        SCRAPYS + "extensions.logstats.LogStats": None,
    },
}
ARCHIVE_HANDLERS = dict.fromkeys(
    ("http", "https"), OURS + "crawl.archive.handler.ArchiveDownloadHandler"
)
ARCHIVE_PACE: dict[str, Any] = {
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
}
WARC = {OURS + "crawl.extensions.warc.WarcArchive": 500}
SITEMAPS = {OURS + "crawl.fetching.sitemaps.SiteMaps": 130}
REMOTE_CONTROL = SCRAPYS + "extensions.remote_control.RemoteControl"
"""Off, and slow to import, which naming it in EXTENSIONS does even with None."""
METRICS = {OURS + "crawl.extensions.metrics.MetricsEndpoint": 105}
NEGOTIATION = {OURS + "crawl.negotiation.middleware.Negotiation": 890}
FINGERPRINTER = OURS + "crawl.negotiation.middleware.VariantFingerprinter"
ALIGN = {OURS + "crawl.extensions.aligner.CrawlAligner": 120}


def drop_remote_control(settings: BaseSettings) -> None:
    """Remove an extension that is switched off, so that it is not imported."""
    usual = settings["EXTENSIONS_BASE"]
    if REMOTE_CONTROL in usual and not settings.getbool("REMOTE_CONTROL_ENABLED"):
        kept = {name: order for name, order in usual.items() if name != REMOTE_CONTROL}
        settings.set("EXTENSIONS_BASE", kept, priority="addon")


def wire_fetching(settings: BaseSettings, config: Config) -> None:
    """Give any spider our guard, robots.txt handling, delays and user agent."""
    pace = ARCHIVE_PACE if config.archive and not config.archive_fallback else {}
    for default in scrapy_defaults:
        value = pace.get(default.name, default.value)
        settings.set(default.name, value, priority="addon")
    for name, value in identity_settings(settings, config.contact).items():
        settings.set(name, value, priority="addon")
    for name in ("DOWNLOAD_HANDLERS", "DOWNLOADER_MIDDLEWARES"):
        add_components(settings, name, COMPONENTS[name])
    add_components(settings, "EXTENSIONS", THROTTLE)


def wire_archive(settings: BaseSettings, config: Config) -> None:
    """Answer requests from an archive; to be called before `wire_fetching`.

    Without a fallback no site is loaded, so none has a delay. With one, the delays of the sites
    hold for all pages.
    """
    add_components(settings, "DOWNLOAD_HANDLERS", ARCHIVE_HANDLERS)
    if not config.archive_fallback:
        add_components(settings, "EXTENSIONS", dict.fromkeys(THROTTLE))


def add_components(settings: BaseSettings, name: str, components: Mapping[str, Any]) -> None:
    """Add to a setting that holds a dictionary; a key that the project has set stays."""
    own = settings[name]
    for key, value in components.items():
        if key not in own or (own.getpriority(key) or 0) < SETTINGS_PRIORITIES["addon"]:
            own.set(key, value, priority="addon")
