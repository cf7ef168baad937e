"""How a crawl tells what it does: progress, the summary at its end, and crawl.json."""
