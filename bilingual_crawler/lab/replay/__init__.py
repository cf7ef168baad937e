"""Crawl recorded sites again without the network, to see which order of links finds pairs first."""
