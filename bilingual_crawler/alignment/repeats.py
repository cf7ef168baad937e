"""Sentence pairs that a crawl has more than once: duplicates, and boilerplate of a site.

Of duplicates the best copy is kept, so nothing can be said before all pairs are known. What
is kept of a pair until then is a digest of eight bytes in a temporary SQLite database, which
is on the disk when it is large.
"""

import sqlite3
from hashlib import blake2b

from bilingual_crawler.store.sentence_pair import SentencePair
from bilingual_crawler.urls.hosts import host_of, site_of

DUPLICATE, BOILERPLATE = "duplicate", "boilerplate"
FEWEST_PAGES = 5
LEAST_SHARE = 0.1
"""A pair on so many documents of a site, and on so large a share of them, is its furniture."""

SCHEMA = """
CREATE TABLE best (digest INTEGER PRIMARY KEY, score REAL, number INTEGER);
CREATE TABLE times (digest INTEGER PRIMARY KEY, documents INTEGER, last INTEGER);
CREATE TABLE sites (site TEXT PRIMARY KEY, documents INTEGER, last INTEGER) WITHOUT ROWID;
"""
BETTER = """
INSERT INTO best VALUES (?, ?, ?) ON CONFLICT (digest) DO UPDATE
SET score = excluded.score, number = excluded.number WHERE excluded.score > score
"""
COUNT = """
INSERT INTO {0} VALUES (?, 1, ?) ON CONFLICT DO UPDATE
SET documents = documents + (last != excluded.last), last = excluded.last
"""


class Repeats:
    """Told of every good pair once, in order, then asked about each."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._connection.executescript(SCHEMA)
        self._connection.execute("BEGIN")

    def close(self) -> None:
        """Forget everything."""
        self._connection.close()

    def add(self, number: int, document: int, pair: SentencePair) -> None:
        """Note the pair with this number in the crawl, of the document pair with that one."""
        site = _site(pair)
        run = self._connection.execute
        run(BETTER, (_digest(pair), pair.score, number))
        run(COUNT.format("times"), (_digest(pair, site), document))
        run(COUNT.format("sites"), (site, document))

    def broken_rule(self, number: int, pair: SentencePair) -> str:
        """Why a pair is left out after all, "" if it is kept."""
        ask, site = self._connection.execute, _site(pair)
        (documents,) = ask(
            "SELECT documents FROM times WHERE digest = ?", (_digest(pair, site),)
        ).fetchone()
        if documents >= FEWEST_PAGES:
            (every,) = ask("SELECT documents FROM sites WHERE site = ?", (site,)).fetchone()
            if documents >= LEAST_SHARE * every:
                return BOILERPLATE
        (best,) = ask("SELECT number FROM best WHERE digest = ?", (_digest(pair),)).fetchone()
        return DUPLICATE if best != number else ""


def _site(pair: SentencePair) -> str:
    return site_of(host_of(pair.url1))


def _digest(pair: SentencePair, site: str = "") -> int:
    """A number for the text of a pair, the same for copies in other case and spacing."""
    texts = [" ".join(text.casefold().split()) for text in (pair.text1, pair.text2)]
    key = "\n".join((site, pair.lang1, pair.lang2, *texts))
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
