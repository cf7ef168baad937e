"""The frontier in Redis, which the workers of one crawl share."""
