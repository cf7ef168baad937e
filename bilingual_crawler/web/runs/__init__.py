"""Crawls that are started, watched, stopped and resumed from the web page."""
