"""The crawl that looks for bilingual sites instead of harvesting one."""
