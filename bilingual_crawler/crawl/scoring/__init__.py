"""Scores in the crawl: links are scored off the event loop, and scorers learn from outcomes."""
