"""What a crawl reports: progress, the summary at its end, metrics, and crawl.json."""
