"""Crawls that take their pages from a web archive."""
