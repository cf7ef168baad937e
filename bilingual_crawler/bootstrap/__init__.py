"""What a crawl needs to begin with, from Wikipedia: terms, their translations, seeds, sites."""
