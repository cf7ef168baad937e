"""What a user can configure: settings, crawl arguments, rules for sites, seeds, topics."""
