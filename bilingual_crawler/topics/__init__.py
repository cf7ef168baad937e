"""The topic of a crawl: weighted terms, and the relevance of pages to them."""
