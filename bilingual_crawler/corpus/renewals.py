"""Pages that a revisit found changed or gone, and how the corpus is brought up to date with them.

Pairing and duplicates are incremental, but nothing can be taken out of them again. So a crawl goes
on with the corpus as it was, and what revisits find waits in the journal. When the crawl ends, one
transaction puts it in the place of the old pages, as if the journal had never known others, and
the corpus is rebuilt from the journal, as in every resumed crawl. A kill before that transaction
loses nothing, and one after it leaves an ordinary crawl to resume.

The file of documents still has the old lines then; they are counted, so that tidying drops them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from bilingual_crawler.corpus.pages import PageFacts, pack_line
from bilingual_crawler.documents.dedup import DuplicateIndex, split_hashes
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.store.journal_tables import JournaledRows

SCHEMA = """
CREATE TABLE IF NOT EXISTS renewals (
    url TEXT PRIMARY KEY,
    language TEXT,
    signature BLOB,
    hashes BLOB,
    page BLOB,
    line BLOB,
    off_topic INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS stale_lines (url TEXT PRIMARY KEY, number INTEGER NOT NULL)
WITHOUT ROWID;
"""
INSERT = "INSERT OR REPLACE INTO renewals VALUES (?, ?, ?, ?, ?, ?, ?)"
DELETE = "DELETE FROM renewals WHERE url = ?"
COUNT_STALE = (
    "INSERT INTO stale_lines SELECT renewals.url, 1 FROM renewals JOIN pages USING (url)"
    " WHERE pages.written"
    " ON CONFLICT (url) DO UPDATE SET number = number + 1"
)
REPLACE = (
    "DELETE FROM pages WHERE url IN (SELECT url FROM renewals)",
    "DELETE FROM spares WHERE url IN (SELECT url FROM renewals)",
    "DELETE FROM off_topic WHERE url IN (SELECT url FROM renewals)",
    """
    INSERT INTO pages SELECT url, url, language, signature, hashes, page, 0, 0, 0
    FROM renewals WHERE page IS NOT NULL
    """,
    "INSERT INTO spares SELECT url, line FROM renewals WHERE page IS NOT NULL",
    "INSERT INTO off_topic SELECT url FROM renewals WHERE off_topic",
)
UPDATE = "UPDATE pages SET node = ?, hashes = ?, duplicate = ? WHERE url = ?"
FORGET = "DELETE FROM renewals"
NONE_STALE = "DELETE FROM stale_lines"


class _Row(NamedTuple):
    """What decides about the copies and near-duplicates of a page."""

    url: str
    node: str
    signature: bytes
    hashes: bytes
    duplicate: bool


class Renewals:
    """What revisits have found since the corpus was last settled."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        journal.define(SCHEMA)
        self._rows = JournaledRows(journal)
        self._urls = {str(url) for (url,) in journal.read("SELECT url FROM renewals")}

    def __len__(self) -> int:
        return len(self._urls)

    def renew(self, facts: PageFacts, line: str, *, off_topic: bool) -> bool:
        """Remember what a page is now. Return True if it differs from what the corpus has."""
        found = self._journal.read("SELECT signature, page FROM pages WHERE url = ?", (facts.url,))
        if next(iter(found), None) == (facts.signature, facts.page):
            if facts.url in self._urls:  # it changed, and changed back
                self._urls.discard(facts.url)
                self._rows.add(DELETE, (facts.url,))
            return False
        told = facts.language, facts.signature, facts.hashes, facts.page, pack_line(line)
        self._add(facts.url, *told, off_topic)
        return True

    def remove(self, url: str) -> None:
        """Remember that a page is gone."""
        self._add(url, None, None, None, None, None, False)

    def _add(self, url: str, *told: object) -> None:
        self._urls.add(url)
        self._rows.add(INSERT, (url, *told))

    def settle(self, duplicate_share: float) -> None:
        """Put what was found in the place of the old pages, in one transaction."""
        journal, rows = self._journal, self._rows
        journal.checkpoint(wait=True)
        updates = list(_judged_anew(journal, duplicate_share))
        for statement in (COUNT_STALE, *REPLACE):
            rows.add(statement, ())
        rows.add(UPDATE, *updates)
        rows.add(FORGET, ())
        self._urls.clear()
        journal.checkpoint(wait=True)

    def stale_lines(self) -> Counter[str]:
        """Return how many lines of each page, from the start of the file, no longer hold."""
        return Counter(dict(self._journal.read("SELECT url, number FROM stale_lines")))

    def forget_stale_lines(self) -> None:
        """Let the next checkpoint forget these lines, because the file no longer has them."""
        self._rows.add(NONE_STALE, ())


def _judged_anew(journal: Journal, share: float) -> Iterator[tuple[str, bytes, bool, str]]:
    """Yield node, hashes, duplicate and URL of every page for which these change.

    Pages that are what they were keep their place, as far as possible: those that stand are not
    judged again, and near-duplicates are, last of all, since the page that they resembled may be
    gone.
    """
    columns = "url, node, signature, hashes, duplicate"
    old = [_Row(*row) for row in journal.read(f"SELECT {columns} FROM pages")]  # noqa: S608
    renewed: dict[str, tuple[bytes, bytes] | None] = {
        url: None if signature is None else (signature, hashes)
        for url, signature, hashes in journal.read("SELECT url, signature, hashes FROM renewals")
    }
    hashes_of = {row.signature: row.hashes for row in old if row.hashes}
    same = [row for row in old if row.url not in renewed]
    first = {row.signature: row.url for row in same if row.node == row.url}
    new = [
        row._replace(node=first.setdefault(row.signature, row.url), duplicate=False)
        for row in same
        if row.node != row.url
    ]
    for url, told in renewed.items():
        if told is not None:
            hashes_of[told[0]] = told[1]
            new.append(_Row(url, first.setdefault(told[0], url), told[0], told[1], duplicate=False))
    standing = [row for row in same if row.node == row.url]
    duplicates = _duplicates(
        standing, [row for row in new if row.node == row.url], hashes_of, share
    )
    before = {row.url: row for row in same}
    for row in (*standing, *new):
        is_node = row.node == row.url
        hashes = hashes_of.get(row.signature, b"") if is_node else b""
        duplicate = is_node and row.url in duplicates
        known = before.get(row.url)
        if known is None or (known.node, bool(known.duplicate)) != (row.node, duplicate):
            yield row.node, hashes, duplicate, row.url


def _duplicates(
    standing: list[_Row], new: list[_Row], hashes_of: Mapping[bytes, bytes], share: float
) -> set[str]:
    """Return the pages that are near-duplicates of longer ones."""
    index, found = DuplicateIndex(share), set[str]()
    for row in standing:
        if not row.duplicate:
            index.restore(row.url, split_hashes(row.hashes))
    for row in (*new, *(row for row in standing if row.duplicate)):
        decision = index.add(row.url, split_hashes(hashes_of.get(row.signature, b"")))
        if decision.duplicate_of is not None:
            found.add(row.url)
        found.update(decision.supersedes)
    return found
