"""What is written to the folder of a crawl, and how it survives a kill."""
