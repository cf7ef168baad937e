"""Signals of the crawler, beside Scrapy's own."""

url_ended = object()
"""A URL is done or has failed: (request, state, reason)."""

request_sent = object()
"""A request was written to its connection: (request)."""

pair_found = object()
"""Two documents were taken for translations of one another: (pair)."""

pair_lost = object()
"""A pair was given up, since one of its documents has a better partner: (pair)."""

stop_deadline_passed = object()
"""The crawl was told to stop and can wait for servers no longer: ()."""

crawl_failed = object()
"""What the crawl has found cannot be written, which must not look like success: (sentence)."""

crawl_ending = object()
"""All requests are over and the last checkpoint is about to be taken: ()."""
