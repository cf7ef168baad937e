"""A web of thousands of made-up sites, for the search for bilingual ones."""
