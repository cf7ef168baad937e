"""What sitemaps declare of pages, kept in the journal so that a resumed crawl knows it."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from bilingual_crawler.pairing.matcher import Declaration
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.store.journal_tables import JournaledRows

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
        self._rows = JournaledRows(journal)
        journal.define(SCHEMA)

    def add(self, claims: Iterable[Declaration]) -> None:
        """Remember claims; those that are known already change nothing."""
        rows = ((url, *each) for url, alternates in claims for each in alternates)
        self._rows.add("INSERT OR IGNORE INTO declarations VALUES (?, ?, ?)", *rows)

    def load(self) -> Iterator[Declaration]:
        """Read everything back, a page at a time."""
        rows = self._journal.read("SELECT * FROM declarations ORDER BY url, target, language")
        for url, group in groupby(rows, key=lambda row: row[0]):
            yield str(url), tuple((target, language) for _, target, language in group)
