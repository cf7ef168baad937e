"""Files that the two pages of a pair link to from the same place: likely to be translations too.

A page lists its gazettes as PDF files, and so does its translation, in the same order; names and
contents of the files may say little. Only the links of a page to files are remembered, in their
order. What both pages link to is left out: it is the same file. If as many are left on both sides,
each file counts as the declared counterpart of the one at the same place; the content of the files
still has a say.
"""

import json
from collections.abc import Callable, Iterable, Iterator

from bilingual_crawler.config.file_kinds import READ_KINDS, TEXT, endings_of
from bilingual_crawler.documents.document import Document
from bilingual_crawler.pairing.matcher import Declaration
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.store.journal_tables import JournaledDict
from bilingual_crawler.urls.traps import ending_of

MOST_FILES = 500
"""Files per page; a page with more is a list of everything."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS file_links (url TEXT PRIMARY KEY, files TEXT NOT NULL) WITHOUT ROWID;
"""
_ENDINGS = endings_of((*READ_KINDS, TEXT))


class FileLinks:
    """The files that each page links to; saved in the journal, if there is one."""

    def __init__(self, journal: Journal | None = None) -> None:
        self._files: dict[str, tuple[str, ...]] | JournaledDict[str, tuple[str, ...]] = {}
        if journal is not None:
            self._files = JournaledDict(
                journal,
                "file_links",
                SCHEMA,
                key=str,
                encode=lambda files: (json.dumps(files),),
                decode=lambda text: tuple(map(str, json.loads(text))),
            )
        self._has_any = bool(self._files.items())

    def add(self, document: Document) -> None:
        """Remember the files that a page links to."""
        files = tuple(link.url for link in document.links if ending_of(link.url) in _ENDINGS)
        if 0 < len(files) <= MOST_FILES:
            self._files[document.key] = files
            self._has_any = True

    def claims(self, pairs: Callable[[], Iterable[DocumentPair]]) -> Iterator[Declaration]:
        """Yield what the places of links on paired pages say about files."""
        if not self._has_any:
            return
        for pair in pairs():
            first, second = self._files.get(pair.first), self._files.get(pair.second)
            if first and second:
                yield from _claims(first, second, pair.languages)


def _claims(
    first: tuple[str, ...], second: tuple[str, ...], languages: tuple[str, str]
) -> Iterator[Declaration]:
    shared = set(first) & set(second)
    one, other = ([url for url in files if url not in shared] for files in (first, second))
    if len(one) == len(other):
        for url, counterpart in zip(one, other, strict=True):
            yield url, ((counterpart, languages[1]),)
            yield counterpart, ((url, languages[0]),)
