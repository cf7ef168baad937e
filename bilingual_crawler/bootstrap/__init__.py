"""What a crawl needs to start, from Wikipedia: terms, their translations, seeds, sites."""

API = "https://{lang}.wikipedia.org/w/api.php"
"""The address of an edition's API; {lang} is its code."""
