"""What is different for some sites: the file of `-a sites=FILE`, read once, asked by host."""

from bilingual_crawler.config.sites.lookup import Sites
from bilingual_crawler.config.sites.rules import SiteRules

__all__ = ["SiteRules", "Sites"]
