"""The Scrapy settings of this project.

`ADDONS` is the one line that another Scrapy project needs too. The add-on sets everything else
at add-on priority (`config.settings`), so what a project, a spider or `-s` sets wins.
"""

BOT_NAME = "bilingual-crawler"
ADDONS = {"bilingual_crawler.addon.BilingualCrawler": 500}
SPIDER_MODULES = ["bilingual_crawler.spiders"]
COMMANDS_MODULE = "bilingual_crawler.commands.crawl"
LOG_LEVEL = "INFO"
LOG_VERSIONS: list[str] = []
