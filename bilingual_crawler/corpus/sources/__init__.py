"""Documents from sources other than a crawl: WARC files, directories, lists, crawl folders."""
