"""What a user asks for: settings, crawl arguments, rules for single sites, seed lists."""
