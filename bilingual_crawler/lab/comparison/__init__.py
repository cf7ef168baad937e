"""Ways of crawling, compared on the same sites: SBFC's experiment (section 4) as a command."""
