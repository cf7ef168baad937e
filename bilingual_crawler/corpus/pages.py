"""Everything the corpus remembers about the pages it has read, saved in the journal.

A page that is not kept may be wanted later, when its translation turns up, so its line is
set aside in the journal. A page that was kept may be replaced; it is then only marked until
the files are tidied. Beside the pages themselves the journal holds their aliases, what
sitemaps declare about them, and which of them are off topic.
"""

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from bilingual_crawler.documents.document import DocumentKey
from bilingual_crawler.pairing.matcher import Declaration
from bilingual_crawler.store.journal import Journal, Statement
from bilingual_crawler.store.journal_tables import JournaledDict, JournaledRows, JournaledSet

SCHEMA = """
CREATE TABLE IF NOT EXISTS pages (
    url TEXT PRIMARY KEY,
    node TEXT NOT NULL,
    language TEXT NOT NULL,
    signature BLOB NOT NULL,
    hashes BLOB NOT NULL,
    page BLOB NOT NULL,
    duplicate INTEGER NOT NULL,
    kept INTEGER NOT NULL,
    written INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spares (url TEXT PRIMARY KEY, line BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS aliases (source TEXT PRIMARY KEY, target TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS declarations (
    url TEXT NOT NULL,
    target TEXT NOT NULL,
    language TEXT NOT NULL,
    PRIMARY KEY (url, target, language)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS off_topic (url TEXT PRIMARY KEY) WITHOUT ROWID;
"""
INSERT_PAGE = "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
UPDATE_PAGE = "UPDATE pages SET duplicate = ?, kept = ?, written = ? WHERE url = ?"
INSERT_OFF_TOPIC = "INSERT OR REPLACE INTO off_topic VALUES (?)"


class PageFacts(NamedTuple):
    """The facts about a page that never change; a restart reads them back."""

    url: str
    node: str
    """The first page with the same text; itself, if it is the first."""
    language: str
    signature: bytes
    hashes: bytes
    page: bytes
    """What pairing needs to know, packed."""


@dataclass(slots=True)
class _State:
    """The facts about a page that may change."""

    node: str
    language: str
    duplicate: bool
    kept: bool = False
    written: bool = False


class Pages:
    """Every page with text in one of the wanted languages."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._states: dict[str, _State] = {}
        self._variants: defaultdict[str, list[str]] = defaultdict(list)
        """URL -> keys of its documents, where these are not the URL itself."""
        self._kept_of: dict[str, str] = {}
        """Node -> kept page, where that is not the node itself."""
        self.kept: Counter[str] = Counter()
        self._new: dict[str, PageFacts] = {}
        self._changed: set[str] = set()
        self._spares: dict[str, str] = {}
        self._handed_over: dict[str, str] = {}
        self._used_spares: set[str] = set()
        journal.define(SCHEMA)
        self.aliases = JournaledDict(journal, "aliases", "", key=str, decode=str)
        journal.attach(self)

    def __contains__(self, url: str) -> bool:
        return url in self._states

    def add(self, page: PageFacts, line: str, *, duplicate: bool) -> None:
        """Remember a page, not yet kept; `line` is its line in the file of documents."""
        self._know(page.url, _State(page.node, page.language, duplicate))
        self._new[page.url] = page
        self._spares[page.url] = line

    def _know(self, key: str, state: _State) -> None:
        self._states[key] = state
        url = DocumentKey.parse(key).url
        if url != key:
            self._variants[url].append(key)

    def keys_of(self, url: str) -> list[str]:
        """Return the keys of the documents at an address."""
        own = [url] if url in self._states else []
        return own + self._variants.get(url, [])

    def add_alias(self, source: str, target: str) -> bool:
        """Remember another name of a page. Return True if it was new."""
        if source == target or source in self.aliases:
            return False
        self.aliases[source] = target
        return True

    def languages(self) -> Iterator[tuple[str, str]]:
        """Yield every page with its language."""
        return ((url, state.language) for url, state in self._states.items())

    def node_of(self, url: str) -> str:
        """Return the first page with the same text."""
        return self._states[url].node

    def is_duplicate(self, url: str) -> bool:
        """Return whether a longer page has nearly the same text."""
        return self._states[url].duplicate

    def mark_duplicate(self, url: str) -> None:
        """Mark a page as the near-duplicate of a longer one."""
        self._states[url].duplicate = True
        self._changed.add(url)

    def is_kept(self, url: str) -> bool:
        """Return whether a page is in the corpus."""
        return self._states[url].kept

    def counts(self) -> tuple[int, int]:
        """Return the numbers of pages with and without a document that is kept."""
        kept = {DocumentKey.parse(key).url for key, state in self._states.items() if state.kept}
        return len(kept), len({DocumentKey.parse(key).url for key in self._states}) - len(kept)

    def kept_of(self, node: str) -> str | None:
        """Return the page that is kept of those with the text of `node`."""
        return node if self._states[node].kept else self._kept_of.get(node)

    def keep(self, url: str) -> str | None:
        """Put a page into the corpus; return its line unless the file has it already."""
        state = self._states[url]
        state.kept = True
        if url != state.node:
            self._kept_of[state.node] = url
        self.kept[state.language] += 1
        self._changed.add(url)
        if state.written:
            return None
        state.written = True
        return self._take_spare(url)

    def drop(self, url: str) -> None:
        """Take a page out of the corpus; its line stays in the file until that is tidied."""
        state = self._states[url]
        state.kept = False
        self._kept_of.pop(state.node, None)
        self.kept[state.language] -= 1
        self._changed.add(url)

    def set_aside(self, url: str, line: str) -> None:
        """Set aside the line of a page that leaves the file."""
        self._states[url].written = False
        self._changed.add(url)
        self._spares[url] = line
        self._used_spares.discard(url)

    def _take_spare(self, url: str) -> str:
        line = self._spares.pop(url, None)
        if line is not None:
            return line
        self._used_spares.add(url)
        if url in self._handed_over:
            return self._handed_over[url]
        ((packed,),) = self._journal.read("SELECT line FROM spares WHERE url = ?", (url,))
        return unpack_line(packed)

    def changes(self) -> Iterable[Statement]:
        """Return the rows for the journal."""
        pages, new = self._states, self._new
        inserts = [(*row, *self._flags(pages[url])) for url, row in new.items()]
        updates = [(*self._flags(pages[url]), url) for url in self._changed - new.keys()]
        spares = [(url, pack_line(line)) for url, line in self._spares.items()]
        used = [(url,) for url in self._used_spares]
        self._handed_over, self._spares = self._spares, {}
        self._new, self._changed, self._used_spares = {}, set(), set()
        return [
            (INSERT_PAGE, inserts),
            (UPDATE_PAGE, updates),
            ("DELETE FROM spares WHERE url = ?", used),
            ("INSERT OR REPLACE INTO spares VALUES (?, ?)", spares),
        ]

    @staticmethod
    def _flags(state: _State) -> tuple[bool, bool, bool]:
        return state.duplicate, state.kept, state.written

    def load(self) -> Iterator[tuple[PageFacts, bool]]:
        """Read everything back; yield each page and whether it is a near-duplicate."""
        for *facts, duplicate, kept, written in self._journal.read("SELECT * FROM pages"):
            page = PageFacts(*facts)
            state = _State(page.node, page.language, bool(duplicate), bool(kept), bool(written))
            self._know(page.url, state)
            if kept:
                if page.url != page.node:
                    self._kept_of[page.node] = page.url
                self.kept[page.language] += 1
            yield page, state.duplicate


class Declarations:
    """What sitemaps declare, held here until the next checkpoint only.

    After that the journal has it, and the matchers.
    """

    def __init__(self, journal: Journal) -> None:
        journal.define(SCHEMA)
        self._journal = journal
        self._rows = JournaledRows(journal)

    def add(self, claims: Iterable[Declaration]) -> None:
        """Remember claims; known ones change nothing."""
        rows = ((url, *each) for url, alternates in claims for each in alternates)
        self._rows.add("INSERT OR IGNORE INTO declarations VALUES (?, ?, ?)", *rows)

    def load(self) -> Iterator[Declaration]:
        """Read everything back, one page at a time."""
        rows = self._journal.read("SELECT * FROM declarations ORDER BY url, target, language")
        for url, group in groupby(rows, key=lambda row: row[0]):
            yield str(url), tuple((target, language) for _, target, language in group)


def off_topic_pages(journal: Journal) -> JournaledSet:
    """Return the pages that are not about the topic of the crawl, by their keys."""
    return JournaledSet(journal, "off_topic", SCHEMA)


def pack_line(line: str) -> bytes:
    """Compress the line of a document for the journal."""
    return zlib.compress(line.encode())


def unpack_line(packed: bytes) -> str:
    """Return the line that `pack_line` compressed."""
    return zlib.decompress(packed).decode()
