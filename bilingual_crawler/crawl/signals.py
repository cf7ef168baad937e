"""The crawler's own signals; each docstring names the arguments of the handlers."""

url_ended = object()
"""A URL is done or has failed (request, state, reason)."""

url_redirected = object()
"""A URL leads to another, which belongs to the crawl (source, target)."""

request_sent = object()
"""A request was written to its connection (request)."""

pair_found = object()
"""Two documents were recognised as translations of each other (pair)."""

pair_lost = object()
"""A pair was dropped because one of its documents has a better partner (pair)."""

stop_deadline_passed = object()
"""The crawl was asked to stop and cannot wait for servers any longer."""

crawl_failed = object()
"""The crawl's results cannot be written, which must not look like success (sentence)."""

crawl_ending = object()
"""All requests are over and the last checkpoint is about to be written."""
