"""What is on disk: the journal, the crawl folder, its files and tables, WARC in and out."""
