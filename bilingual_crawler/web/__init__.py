"""The web page of a crawl: search the corpus, read pairs, mark them, watch the crawl."""
