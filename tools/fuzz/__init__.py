"""Fuzz every reader of untrusted input: `make fuzz`.

Each kind of untrusted input has a target (`targets.py`): pages, URLs, robots.txt, sitemaps, TMX,
JSON lines, tdmrep.json, records in Redis, stored requests, regular expressions of the search page,
headers. The inputs are broken versions of good examples, and attacks (`inputs.py`). Whatever the
input, a reader may only raise its documented error, and must stay within one second of processor
time and a bounded amount of memory.

Every target runs in its own process with limits (`child.py`), so that neither a crash nor a hang
ends the search (`search.py`). An input depends only on a seed and a number; one that breaks a
promise is written to a file, which `--replay` runs again.
"""
