"""The documents and pairs of a crawl: what is kept, what it replaces, what it completes.

Everything here can be rebuilt from the journal: a row a document with what duplicates and
pairing need to know, so that a resumed crawl goes on as if it had never stopped.
"""

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from bilingual_crawler.corpus.folder import DOCUMENTS, PAIRS, PAIRS_TSV, CrawlFolder
from bilingual_crawler.documents.dedup import DuplicateIndex, paragraph_hashes
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.serialise import document_to_dict
from bilingual_crawler.journal import Statement
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.matcher import Changes, Matcher
from bilingual_crawler.pairing.pair import DocumentPair, Page

SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
    url TEXT PRIMARY KEY,
    language TEXT NOT NULL,
    hashes BLOB NOT NULL,
    links TEXT NOT NULL,
    replaced INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS aliases (source TEXT PRIMARY KEY, target TEXT NOT NULL) WITHOUT ROWID;
"""
HASH_BYTES = 8


class Corpus:
    """What the crawl has harvested so far."""

    def __init__(
        self,
        folder: CrawlFolder,
        pair_of: Callable[[str], LanguagePair],
        duplicate_share: float = 0.8,
        on_pair: Callable[[DocumentPair], None] = lambda _pair: None,
    ) -> None:
        self._folder = folder
        self._pair_of = pair_of
        self._on_pair = on_pair
        self._duplicates = DuplicateIndex(duplicate_share)
        self._matchers: dict[str, Matcher] = {}
        self._languages: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self._replaced: set[str] = set()
        self._aliases: dict[str, str] = {}
        self._hashes: dict[str, bytes] = {}
        self._rows: dict[str, tuple[str, str, bytes, str, int]] = {}
        self._new_replaced: list[tuple[str]] = []
        self._new_aliases: list[tuple[str, str]] = []
        folder.journal.define(SCHEMA)
        self._load()
        folder.journal.attach(self)

    @property
    def documents(self) -> Counter[str]:
        """How many documents there are of each language."""
        return +self._counts

    @property
    def pairs(self) -> list[DocumentPair]:
        """Every pair, as things stand."""
        return [pair for matcher in self._matchers.values() for pair in matcher.pairs]

    @property
    def pair_count(self) -> int:
        """How many pairs there are."""
        return sum(len(matcher) for matcher in self._matchers.values())

    def __contains__(self, url: str) -> bool:
        return url in self._languages

    def duplicate_of(self, document: Document) -> str | None:
        """The document that makes this one superfluous, if there is one.

        A shorter one that was stored earlier is given up instead, and its names lead here.
        """
        if document.url in self._languages:
            return None
        hashes = paragraph_hashes(document)
        verdict = self._duplicates.add(document.url, hashes)
        if verdict.duplicate_of is not None:
            self.alias(document.url, verdict.duplicate_of)
            return verdict.duplicate_of
        for url in verdict.supersedes:
            self._give_up(url, document.url)
        self._hashes[document.url] = b"".join(each[:HASH_BYTES] for each in hashes)
        return None

    def store(self, document: Document) -> bool:
        """Write a document; whether it was new is told (a killed crawl fetches some again)."""
        if document.url in self._languages:
            return False
        language = document.language or ""
        self._languages[document.url] = language
        self._counts[language] += 1
        hashes = self._hashes.pop(document.url, b"")
        links = json.dumps(_links(document), ensure_ascii=False)
        self._rows[document.url] = (document.url, language, hashes, links, 0)
        line = json.dumps(document_to_dict(document), ensure_ascii=False)
        self._folder.journal.append(DOCUMENTS, line + "\n")
        return True

    def pair(self, document: Document) -> None:
        """Look for the translation of a stored document, and write the pairs that it makes."""
        matcher = self._matcher(document.url)
        self._apply(matcher.add(_page(document.url, document.language or "", _links(document))))

    def alias(self, source: str, target: str) -> None:
        """Remember that `source` is another name of the page at `target`."""
        if source == target or source in self._aliases:
            return
        self._aliases[source] = target
        self._new_aliases.append((source, target))
        for matcher in self._matchers.values():
            self._apply(matcher.alias(source, target))

    def changes(self) -> Iterable[Statement]:
        """Rows for the journal."""
        rows, self._rows = list(self._rows.values()), {}
        replaced, self._new_replaced = self._new_replaced, []
        aliases, self._new_aliases = self._new_aliases, []
        return [
            ("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?)", rows),
            ("UPDATE documents SET replaced = 1 WHERE url = ?", replaced),
            ("INSERT OR REPLACE INTO aliases VALUES (?, ?)", aliases),
        ]

    def tidy(self) -> None:
        """Leave in the files only what still holds: some finds are replaced by better ones."""
        if self._folder.facts.get("replaced_documents") == "yes":
            self._folder.rewrite(DOCUMENTS, self._kept_lines())
            self._folder.facts["replaced_documents"] = "no"
        if self._folder.facts.get("changed_pairs") == "yes":
            pairs = self.pairs
            self._folder.rewrite(PAIRS, map(_json_line, pairs))
            self._folder.rewrite(PAIRS_TSV, map(_tsv_line, pairs))
            self._folder.facts["changed_pairs"] = "no"

    def _give_up(self, url: str, replacement: str) -> None:
        if (language := self._languages.pop(url, None)) is not None:
            self._counts[language] -= 1
        self._replaced.add(url)
        self._new_replaced.append((url,))
        self._folder.facts["replaced_documents"] = "yes"
        self._apply(self._matcher(url).remove(url))
        self.alias(url, replacement)

    def _kept_lines(self) -> Iterator[str]:
        with gzip.open(self._folder.path / DOCUMENTS, "rt", encoding="utf-8") as lines:
            yield from (line for line in lines if json.loads(line)["url"] not in self._replaced)

    def _matcher(self, url: str) -> Matcher:
        pair = self._pair_of(url)
        matcher = self._matchers.get(str(pair))
        if matcher is None:
            matcher = self._matchers[str(pair)] = Matcher(pair)
            for source, target in self._aliases.items():
                matcher.alias(source, target)
        return matcher

    def _apply(self, changes: Changes) -> None:
        for pair in changes.found.values():
            self._folder.journal.append(PAIRS, _json_line(pair))
            self._folder.journal.append(PAIRS_TSV, _tsv_line(pair))
            self._on_pair(pair)
        if changes.lost or changes.better_explained:
            self._folder.facts["changed_pairs"] = "yes"

    def _load(self) -> None:
        read = self._folder.journal.read
        self._aliases = dict(read("SELECT source, target FROM aliases"))
        for url, language, hashes, links, replaced in read("SELECT * FROM documents"):
            if replaced:
                self._replaced.add(url)
                continue
            self._languages[url] = language
            self._counts[language] += 1
            split = [hashes[at : at + HASH_BYTES] for at in range(0, len(hashes), HASH_BYTES)]
            self._duplicates.restore(url, split)
            self._matcher(url).add(_page(url, language, json.loads(links)))


def _links(document: Document) -> dict[str, list[list[str]] | list[str]]:
    """What pairing must know of a document again after a restart."""
    alternates = [[each.url, each.language] for each in document.alternates if each.language]
    names = {document.requested_url, document.canonical} - {document.url, None, ""}
    return {"alternates": alternates, "names": sorted(str(name) for name in names)}


def _page(url: str, language: str, links: dict[str, list[list[str]] | list[str]]) -> Page:
    alternates = tuple((each[0], each[1]) for each in links["alternates"])
    return Page(url, language, alternates, tuple(str(name) for name in links["names"]))


def _json_line(pair: DocumentPair) -> str:
    return json.dumps(pair.to_dict(), ensure_ascii=False) + "\n"


def _tsv_line(pair: DocumentPair) -> str:
    return f"{pair.first}\t{pair.second}\n"
