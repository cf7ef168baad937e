"""The add-on: any Scrapy project gets the whole crawler with one line.

ADDONS = {"bilingual_crawler.addon.BilingualCrawler": 500}

It wires the spiders of this package and their subclasses; other spiders of a project run
as they did before.
"""

from typing import Any

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings, Settings

from bilingual_crawler.settings import Config, scrapy_defaults, user_agent
from bilingual_crawler.spiders.bilingual import BilingualSpider

SPIDERS = "bilingual_crawler.spiders"

SCHEDULER = "bilingual_crawler.frontier.scheduler.FrontierScheduler"
SPIDER_MIDDLEWARES = {"bilingual_crawler.scoring.middleware.ScoringMiddleware": 950}
ITEM_PIPELINES = {
    "bilingual_crawler.corpus.pipelines.OptOutFilter": 100,
    "bilingual_crawler.corpus.pipelines.LanguageFilter": 200,
    "bilingual_crawler.corpus.pipelines.DuplicateFilter": 300,
    "bilingual_crawler.corpus.pipelines.DocumentStore": 310,
    "bilingual_crawler.corpus.pipelines.PairFinder": 320,
}
DOWNLOADER_MIDDLEWARES: dict[str, int | None] = {}
EXTENSIONS: dict[str, int | None] = {}


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

    def update_settings(self, settings: Settings) -> None:
        """Wire everything, unless the crawl is of some other spider."""
        if not issubclass(self._crawler.spidercls, BilingualSpider):
            return
        for default in scrapy_defaults:
            settings.set(default.name, default.value, priority="addon")
        contact = Config.from_settings(settings).contact
        settings.set("USER_AGENT", user_agent(contact), priority="addon")
        settings.set("SCHEDULER", SCHEDULER, priority="addon")
        for name, components in (
            ("SPIDER_MIDDLEWARES", SPIDER_MIDDLEWARES),
            ("ITEM_PIPELINES", ITEM_PIPELINES),
            ("DOWNLOADER_MIDDLEWARES", DOWNLOADER_MIDDLEWARES),
            ("EXTENSIONS", EXTENSIONS),
        ):
            _add(settings, name, components)


def _add(settings: Settings, name: str, components: dict[str, int | None]) -> None:
    """Add components to a setting; what the project says of one of them stands."""
    current: dict[Any, Any] = settings.getdict(name)
    settings[name].update(components | current, priority="addon")
