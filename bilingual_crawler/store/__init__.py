"""Everything on disk: the journal, the crawl folder and its files, input files, WARC."""
