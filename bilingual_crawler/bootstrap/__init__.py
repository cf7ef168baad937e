"""What a crawl needs to start, from Wikipedia: terms, their translations, seeds, sites."""
