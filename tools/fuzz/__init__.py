"""Feed what the crawler reads with inputs that nobody should write: `make fuzz`.

Everything that comes from strangers has a target (`targets.py`): pages, URLs, robots.txt,
sitemaps, TMX, JSON lines, tdmrep.json, records in Redis, stored requests, regular expressions of
the search page, headers. Its inputs are good examples that were broken, and attacks (`inputs.py`).
Whatever comes, a reader may raise its documented error and nothing else, take a second of
processor time, and a bounded amount of memory.

Every target runs in a process of its own with limits (`child.py`), so that neither a crash nor a
hang ends the search (`search.py`). An input is made of a seed and a number alone; one that breaks
a promise is written to a file, which `--replay` runs again.
"""
