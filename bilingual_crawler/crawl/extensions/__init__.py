"""Extensions of Scrapy: reports, logs, metrics, WARC files, alignment behind the crawl."""
