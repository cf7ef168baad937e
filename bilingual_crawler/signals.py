"""Signals of the crawler, beside Scrapy's own."""

url_ended = object()
"""A URL is done or has failed: (request, state, reason)."""

pair_found = object()
"""Two documents were taken for translations of one another: (pair)."""
