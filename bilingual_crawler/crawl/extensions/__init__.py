"""Scrapy extensions: reports, logs, metrics, WARC files, alignment during the crawl."""
