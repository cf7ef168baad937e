"""What sitemaps declare of pages, kept in the journal so that a resumed crawl knows it."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from bilingual_crawler.pairing.matcher import Declaration
from bilingual_crawler.store.journal import Journal, Statement

SCHEMA = """
CREATE TABLE IF NOT EXISTS declarations (
    url TEXT NOT NULL,
    target TEXT NOT NULL,
    language TEXT NOT NULL,
    PRIMARY KEY (url, target, language)
) WITHOUT ROWID;
"""


class Declarations:
    """Remembers until the next checkpoint; after that only the journal and the matchers do."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._new: list[tuple[str, str, str]] = []
        journal.define(SCHEMA)
        journal.attach(self)

    def add(self, claims: Iterable[Declaration]) -> None:
        """Remember claims; those that are known already change nothing."""
        self._new.extend((url, *each) for url, alternates in claims for each in alternates)

    def changes(self) -> Iterable[Statement]:
        """Rows for the journal."""
        new, self._new = self._new, []
        return [("INSERT OR IGNORE INTO declarations VALUES (?, ?, ?)", new)]

    def load(self) -> Iterator[Declaration]:
        """Read everything back, a page at a time."""
        rows = self._journal.read("SELECT * FROM declarations ORDER BY url, target, language")
        for url, group in groupby(rows, key=lambda row: row[0]):
            yield str(url), tuple((target, language) for _, target, language in group)
