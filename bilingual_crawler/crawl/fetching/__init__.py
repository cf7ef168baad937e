"""How pages are fetched: delays, robots.txt, opt-outs, retries, limits and the address guard."""
