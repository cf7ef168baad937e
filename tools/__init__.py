"""Scripts that make files of the project; nothing of them is needed to crawl."""
