"""The spider that finds bilingual sites: `scrapy crawl discovery`."""

from typing import Any, ClassVar, Self

from scrapy.crawler import Crawler

from bilingual_crawler.spiders.bilingual import BilingualSpider


class DiscoverySpider(BilingualSpider):
    """Searches for bilingual sites and lists them in sites.jsonl; harvests nothing.

    -a langs=eng-spa       two languages or more: ISO 639 codes or English names
    -a seeds=URL,URL       where to start: bilingual sites, or pages that link to some
    -a seeds_file=FILE     the same, from a file, one URL per line, # for comments
    -a output=DIR          where to write (default: crawls/<langs>-<time>); an
                           existing folder resumes the search in it
    -a sites=FILE          a TOML file with settings per site
    """

    name = "discovery"
    harvests: ClassVar[bool] = False

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Check everything the user gave before anything is fetched."""
        return super().from_crawler(crawler, *args, **(kwargs | {"discover": True}))
