"""The corpus of a crawl: what is kept, merged and paired, from a crawl or from other sources."""
