"""The adaptive scorer: what a crawl has learned about a site decides what is fetched next."""
