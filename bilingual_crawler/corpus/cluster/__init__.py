"""Corpora of thousands of WARC files: the work of `corpus build`, one site per task, on Spark."""
