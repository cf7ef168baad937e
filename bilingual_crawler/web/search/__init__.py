"""Searching sentence pairs: text as it is indexed, queries, the index, hits."""
