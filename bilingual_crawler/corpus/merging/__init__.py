"""Several crawl folders merged into one: the end of a crawl on many workers."""
