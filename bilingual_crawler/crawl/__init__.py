"""The crawl itself: the only folder that deals with Scrapy's engine."""
