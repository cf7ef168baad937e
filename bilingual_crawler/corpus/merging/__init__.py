"""Several crawl folders joined into one: the end of a crawl on many workers."""
