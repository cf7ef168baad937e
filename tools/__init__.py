"""Scripts that generate files of the project; none of them is needed to crawl."""
