"""Corpora of others, made into folders that look like those of a crawl."""
