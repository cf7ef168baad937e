"""The spiders for `scrapy crawl`."""
