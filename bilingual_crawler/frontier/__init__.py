"""The frontier: the URLs to fetch, in memory with a journal, or in Redis."""
