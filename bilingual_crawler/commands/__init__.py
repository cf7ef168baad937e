"""What `scrapy <command>` adds."""
