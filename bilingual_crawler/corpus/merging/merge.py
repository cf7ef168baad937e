"""The crawl folders of many workers become one, which every other command understands.

The journals are read twice, in the order of URLs: to decide, and to write what was decided. The
texts are read once. In memory is what a crawl of all these pages would have there.
"""

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bilingual_crawler.corpus import declarations, off_topic, pages
from bilingual_crawler.corpus.corpus import json_line, tsv_line
from bilingual_crawler.corpus.merging import joined
from bilingual_crawler.corpus.merging.choice import Choice
from bilingual_crawler.corpus.merging.facts import joined_facts
from bilingual_crawler.corpus.merging.part import CrawlPart
from bilingual_crawler.frontier import journaled
from bilingual_crawler.languages import Languages
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.pairing.resources import NO_AIDS, PairingAids
from bilingual_crawler.reporting import tally
from bilingual_crawler.store.durable import sync
from bilingual_crawler.store.folder import DOCUMENTS, PAIRS, PAIRS_TSV, CrawlFolder
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.store.journal_tables import JournaledRows
from bilingual_crawler.store.json_lines import Watch

BATCH = 1_000
"""Rows and lines that are written at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How it is decided what is kept; as the crawls decided, if they are to agree."""

    pair_of: Callable[[str], Languages]
    duplicate_share: float = 0.8
    aids: PairingAids = NO_AIDS
    archives: bool = False
    """Whether WARC files are copied."""


@dataclass(slots=True)
class Merged:
    """What became of it."""

    pages: int = 0
    repeated: int = 0
    """Pages that more than one worker had fetched."""
    documents: Counter[str] = field(default_factory=Counter)
    pairs: list[DocumentPair] = field(default_factory=list)
    missing: int = 0
    """Documents whose lines cannot be read any more."""
    archives: int = 0
    """WARC files, copied or not."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """How URLs ended."""
    waiting: int = 0
    known: int = 0
    """URLs; those that wait in Redis are nobody's."""
    finished: bool = False
    totals: Counter[str] = field(default_factory=Counter)


class Merge:
    """Joins the parts into a new folder; the steps are called by `run` in their order."""

    def __init__(
        self, parts: Sequence[CrawlPart], folder: CrawlFolder, rules: Rules, watch: Watch
    ) -> None:
        self._parts = parts
        self._folder = folder
        self._rules = rules
        self._rows = _Rows(folder.journal)
        self._watch = _Steps(watch, 3 * sum(part.page_count() for part in parts))
        self._choice = Choice(rules.pair_of, rules.duplicate_share, rules.aids)
        self._merged = Merged()
        for table in (pages, declarations, off_topic, journaled, tally):
            folder.journal.define(table.SCHEMA)

    def run(self) -> Merged:
        """Decide, write, tell."""
        self._decide()
        self._write_pages()
        self._write_lines()
        self._write_pairs()
        self._write_urls()
        self._write_sums()
        self._take_archives()
        self._folder.journal.checkpoint(wait=True)
        return self._merged

    def _decide(self) -> None:
        for source, target in joined.joined_aliases(self._parts):
            self._choice.alias(source, target)
            self._rows.add("INSERT INTO aliases VALUES (?, ?)", (source, target))
        for row in joined.joined_declarations(self._parts):
            self._rows.add("INSERT INTO declarations VALUES (?, ?, ?)", row)
        self._choice.declare(joined.joined_declarations(self._parts))
        for page, copies in joined.joined_pages(self._parts):
            self._choice.add(page, copies)
            self._watch.step(copies)
        self._choice.finish()
        self._merged.pairs = self._choice.pairs
        self._merged.repeated = self._choice.repeated

    def _write_pages(self) -> None:
        choice = self._choice
        for page, copies in joined.joined_pages(self._parts):
            url = page.url
            node, kept = choice.node_of(url), choice.is_kept(url)
            hashes = page.hashes if node == url else b""
            known = (url, node, page.language, page.signature, hashes, page.page)
            flags = (choice.is_duplicate(url), kept, kept)
            self._rows.add(pages.INSERT, (*known, *flags))
            self._merged.pages += 1
            self._merged.documents[page.language] += kept
            self._watch.step(copies)
        for url in choice.off_topic:
            self._rows.add(off_topic.INSERT, (url,))

    def _write_lines(self) -> None:
        """Each text once: into the file if it is kept, or else aside, for a crawl that goes on."""
        choice, wanted = self._choice, set(self._choice)
        for part in self._parts:
            for key, line in part.lines():
                self._watch.step()
                if key not in wanted or not choice.is_owner(key, part.number):
                    continue
                wanted.discard(key)
                if choice.is_kept(key):
                    self._rows.append(DOCUMENTS, line)
                else:
                    row = (key, pages.pack_line(line))
                    self._rows.add("INSERT INTO spares VALUES (?, ?)", row)
        self._merged.missing = len(wanted)

    def _write_pairs(self) -> None:
        for pair in self._merged.pairs:
            self._rows.append(PAIRS, json_line(pair))
            self._rows.append(PAIRS_TSV, tsv_line(pair))

    def _write_urls(self) -> None:
        merged = self._merged
        for row in joined.joined_urls(self._parts):
            self._rows.add(journaled.INSERT, row)
            outcome = row[-1]
            merged.known += 1
            merged.waiting += outcome is None
            if outcome is not None:
                merged.outcomes[outcome] += 1
        for part in self._parts:  # workers with their frontier in Redis count their own
            shared = Counter(dict(part.rows("outcomes")))
            merged.outcomes += shared
            merged.known += shared.total()

    def _write_sums(self) -> None:
        self._merged.totals = joined.summed_tally(self._parts)
        for row in self._merged.totals.items():
            self._rows.add("INSERT INTO tally VALUES (?, ?)", row)
        for name, value in joined_facts(self._parts).items():
            self._folder.facts[name] = value
        ended = any(part.is_finished for part in self._parts)
        self._merged.finished = ended and not self._merged.waiting
        self._folder.facts["finished"] = "yes" if self._merged.finished else "no"

    def _take_archives(self) -> None:
        for part in self._parts:
            for name, size in part.archives():
                if self._rules.archives:
                    self._copy_archive(part, name, size)
                self._merged.archives += 1

    def _copy_archive(self, part: CrawlPart, name: str, size: int) -> None:
        """Copy a file under the next free number, so far as it is complete."""
        copy = f"crawl-{self._merged.archives:05d}.warc.gz"
        with part.archive(name, size) as old, (self._folder.path / copy).open("wb") as new:
            shutil.copyfileobj(old, new)
        sync(self._folder.path / copy)
        self._folder.journal.record_size(copy, size)


class _Rows(JournaledRows):
    """Hands rows and lines to the journal, and has it write them when there are many."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal)
        self._journal = journal
        self._count = 0

    def add(self, sql: str, *rows: tuple[Any, ...]) -> None:
        super().add(sql, *rows)
        self._grown()

    def append(self, file: str, line: str) -> None:
        self._journal.append(file, line)
        self._grown()

    def _grown(self) -> None:
        self._count += 1
        if self._count % BATCH == 0:
            self._journal.checkpoint(wait=True)


class _Steps:
    """Tells a bar how far it is."""

    def __init__(self, watch: Watch, total: int) -> None:
        self._watch = watch
        self._total = max(1, total)
        self._done = 0

    def step(self, count: int = 1) -> None:
        self._done += count
        if self._done % BATCH < count:
            self._watch(min(1.0, self._done / self._total))
