"""What a crawl is about: weighted terms, where pages have them, and what that makes of a page."""
