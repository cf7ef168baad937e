"""Scoring in the crawl: links are scored off the event loop, and scorers get feedback."""
