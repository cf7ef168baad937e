"""The crawl itself: the only folder that knows the engine of Scrapy."""
