"""Merges the crawl folders of several workers into one that every other command understands.

The journals are read twice, in the order of URLs: to decide, and to write what was decided. The
texts are read once. It takes as much memory as a crawl of all these pages.
"""

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bilingual_crawler.corpus import pages
from bilingual_crawler.corpus.clusters import write_clusters
from bilingual_crawler.corpus.corpus import json_line, tsv_line, write_refused
from bilingual_crawler.corpus.merging import joined
from bilingual_crawler.corpus.merging.joined import Choice, joined_facts
from bilingual_crawler.corpus.merging.parts import CrawlPart, PartPage
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier import journaled
from bilingual_crawler.languages import Languages, parse_languages
from bilingual_crawler.outcomes import stop_sentence
from bilingual_crawler.pairing.lexicon import TranslationLexicon, lexicon_file
from bilingual_crawler.pairing.pair import DocumentPair
from bilingual_crawler.pairing.resources import NO_AIDS, PairingAids
from bilingual_crawler.reporting import tally
from bilingual_crawler.reporting.counts import Counts, detectors_of, sums_of
from bilingual_crawler.reporting.report import (
    FORMAT,
    HARVEST,
    explain,
    figures,
    versions,
    write_report,
)
from bilingual_crawler.reporting.tally import MILLISECONDS, RUNS, largest_first
from bilingual_crawler.store.durable import replacing_folder, sync
from bilingual_crawler.store.folder import (
    DOCUMENTS,
    PAIRS,
    PAIRS_REFUSED,
    PAIRS_TSV,
    REPORT,
    CrawlFolder,
)
from bilingual_crawler.store.input_files import Watch
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.store.journal_tables import JournaledRows

BATCH = 1_000
"""Rows and lines that are written at once."""
MERGED = "merged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How to decide what is kept: as the crawls did, if the results are to agree."""

    pair_of: Callable[[str], Languages]
    duplicate_share: float = 0.8
    aids: PairingAids = NO_AIDS
    archives: bool = False
    """Whether to copy WARC files."""
    langs: Languages | None = None
    """The languages to keep; None for those of the crawls."""
    learned: tuple[TranslationLexicon, ...] = ()
    """What the crawls have learned of words, added up per two languages."""


@dataclass(slots=True)
class Merged:
    """The result of a merge."""

    pages: int = 0
    repeated: int = 0
    """Pages that more than one worker fetched."""
    documents: Counter[str] = field(default_factory=Counter)
    page_counts: tuple[int, int] = (0, 0)
    """Pages with and without a document that is kept."""
    pairs: list[DocumentPair] = field(default_factory=list)
    refused: list[DocumentPair] = field(default_factory=list)
    """Counterparts without translated content."""
    missing: int = 0
    """Documents whose lines cannot be read."""
    archives: int = 0
    """WARC files, copied or not."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """URLs by how they ended."""
    waiting: int = 0
    known: int = 0
    """Known URLs, without those that wait in Redis: they belong to no worker."""
    finished: bool = False
    totals: Counter[str] = field(default_factory=Counter)


def merge_parts(
    parts: Sequence[CrawlPart], target: Path, rules: Rules, watch: Watch = lambda _share: None
) -> Merged:
    """Merge the parts into a new folder, which appears when it is complete."""
    langs = rules.langs or parse_languages(parts[0].langs)
    with replacing_folder(
        target, "and a merge needs a new folder: choose another one with --into"
    ) as path:
        folder = CrawlFolder(path, str(langs), parts[0].topic)
        try:
            merged = Merge(parts, folder, rules, watch).run()
        finally:
            folder.close()
        write_report(path / REPORT, merged_report(parts, merged, langs), durable=True)
    return merged


class Merge:
    """Joins the parts into a new folder."""

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
        for table in (pages, journaled, tally):
            folder.journal.define(table.SCHEMA)

    def run(self) -> Merged:
        """Decide what is kept, write it, and return the counts."""
        self._decide()
        self._write_pages()
        self._write_lines()
        self._write_pairs()
        self._write_urls()
        self._write_sums()
        self._take_archives()
        self._write_lexicons()
        self._folder.journal.checkpoint(wait=True)
        return self._merged

    def _decide(self) -> None:
        for source, target in joined.joined_aliases(self._parts):
            self._choice.alias(source, target)
            self._rows.add("INSERT INTO aliases VALUES (?, ?)", (source, target))
        for row in joined.joined_declarations(self._parts):
            self._rows.add("INSERT INTO declarations VALUES (?, ?, ?)", row)
        self._choice.declare(joined.joined_declarations(self._parts))
        for page, copies in self._pages():
            self._choice.add(page, copies)
            self._watch.step(copies)
        self._choice.finish()
        self._merged.pairs = self._choice.pairs
        self._merged.page_counts = self._choice.page_counts()
        self._merged.repeated = self._choice.repeated
        self._merged.refused = self._choice.refused

    def _pages(self) -> Iterator[tuple[PartPage, int]]:
        """Yield every page in a language that is kept, with the number of folders that have it."""
        langs = self._rules.langs
        for page, copies in joined.joined_pages(self._parts):
            if langs is None or page.language in langs:
                yield page, copies

    def _write_pages(self) -> None:
        choice = self._choice
        for page, copies in self._pages():
            url = page.url
            node, kept = choice.node_of(url), choice.is_kept(url)
            hashes = page.hashes if node == url else b""
            known = (url, node, page.language, page.signature, hashes, page.page)
            flags = (choice.is_duplicate(url), kept, kept)
            self._rows.add(pages.INSERT_PAGE, (*known, *flags))
            self._merged.pages += 1
            self._merged.documents[page.language] += kept
            self._watch.step(copies)
        for url in choice.off_topic:
            self._rows.add(pages.INSERT_OFF_TOPIC, (url,))

    def _write_lines(self) -> None:
        """Write each text once: into the file if it is kept, or else into the journal."""
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
        write_refused(self._folder.path / PAIRS_REFUSED, map(json_line, self._merged.refused))
        write_clusters(self._folder.path, self._merged.pairs, self._choice.language_set)

    def _write_urls(self) -> None:
        merged = self._merged
        for row in joined.joined_urls(self._parts):
            self._rows.add(journaled.INSERT, row)
            outcome = row[-1]
            merged.known += 1
            merged.waiting += outcome is None
            if outcome is not None:
                merged.outcomes[outcome] += 1
        for part in self._parts:  # workers that share a frontier in Redis count their own
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

    def _write_lexicons(self) -> None:
        langs = self._rules.langs
        for lexicon in self._rules.learned:
            if langs is not None and not all(code in langs for code in lexicon.languages):
                continue
            file = self._folder.path / lexicon_file("-".join(lexicon.languages))
            lexicon.write(file)

    def _copy_archive(self, part: CrawlPart, name: str, size: int) -> None:
        """Copy the complete part of a file, under the next free number."""
        copy = f"crawl-{self._merged.archives:05d}.warc.gz"
        with part.archive(name, size) as old, (self._folder.path / copy).open("wb") as new:
            shutil.copyfileobj(old, new)
        sync(self._folder.path / copy)
        self._folder.journal.record_size(copy, size)


class _Rows(JournaledRows):
    """Hands rows and lines to the journal, and makes a checkpoint once per batch."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal)
        self._journal = journal
        self._count = 0

    def add(self, sql: str, *rows: tuple[Any, ...]) -> None:
        super().add(sql, *rows)
        self._count_one()

    def append(self, file: str, line: str) -> None:
        self._journal.append(file, line)
        self._count_one()

    def _count_one(self) -> None:
        self._count += 1
        if self._count % BATCH == 0:
            self._journal.checkpoint(wait=True)


class _Steps:
    """Reports the share that is done."""

    def __init__(self, watch: Watch, total: int) -> None:
        self._watch = watch
        self._total = max(1, total)
        self._done = 0

    def step(self, count: int = 1) -> None:
        self._done += count
        if self._done % BATCH < count:
            self._watch(min(1.0, self._done / self._total))


def merged_report(parts: Sequence[CrawlPart], merged: Merged, langs: Languages) -> dict[str, Any]:
    """Return crawl.json of the merged folder; its sums are those of all workers."""
    counts = _counts(parts, merged, langs)
    facts = joined_facts(parts)
    return {
        "format": FORMAT,
        "langs": str(langs),
        "languages": [{"code": each.code, "name": each.name} for each in langs],
        "seeds": list(seeds_of(parts)),
        "seeds_from": ", ".join(dict.fromkeys(_texts(parts, "seeds_from"))),
        "topic_terms": max((int(part.report.get("topic_terms") or 0) for part in parts), default=0),
        "files": dict(HARVEST),
        "settings": common_settings(parts),
        "versions": versions(),
        "state": "finished" if merged.finished else "stopped",
        "stopped_by": MERGED,
        "stopped_why": stop_sentence(MERGED),
        "started": facts.get("started"),
        "updated": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": merged.totals[MILLISECONDS] / 1000,
        "runs": merged.totals[RUNS],
        **figures(counts, ()),
        "yield": [(counts.pages, counts.harvested)] if counts.pages else [],
        "explanation": explain(counts),
        "merged_from": [_about(part) for part in parts],
        "pages_fetched_by_several": merged.repeated,
    }


def common_settings(parts: Iterable[CrawlPart]) -> dict[str, Any]:
    """Return the settings in which all workers agree."""
    given = [settings_of(part) for part in parts]
    return {
        name: value
        for name, value in (given[0] if given else {}).items()
        if all(name in each and each[name] == value for each in given)
    }


def shared_setting(parts: Iterable[CrawlPart], name: str) -> Any:
    """Return the value of a setting that decides what is kept; None if no worker had one.

    Workers that had different ones are an error: the user must choose.
    """
    found = list(dict.fromkeys(settings_of(part).get(name) for part in parts))
    if len(found) > 1:
        values = " and ".join("none" if each is None else repr(each) for each in found)
        raise ConfigurationError(
            f"The crawls had different values of {name} ({values}): choose one with -s {name}=..."
        )
    return found[0]


def settings_of(part: CrawlPart) -> Mapping[str, Any]:
    """Return the settings of a worker that differ from the defaults."""
    found = part.report.get("settings")
    return found if isinstance(found, dict) else {}


def _counts(parts: Sequence[CrawlPart], merged: Merged, langs: Languages) -> Counts:
    return Counts(
        langs=langs,
        seeds=len(seeds_of(parts)),
        documents=largest_first(+merged.documents),
        pairs=len(merged.pairs),
        pairs_refused=len(merged.refused),
        pairs_by_detector=detectors_of(merged.pairs),
        known=merged.known,
        waiting=merged.waiting,
        **sums_of(merged.totals, merged.outcomes, *merged.page_counts),
    )


def seeds_of(parts: Iterable[CrawlPart]) -> tuple[str, ...]:
    """Return the seeds of all workers, each once."""
    seeds = (seed for part in parts for seed in part.report.get("seeds") or ())
    return tuple(dict.fromkeys(map(str, seeds)))


def _texts(parts: Iterable[CrawlPart], name: str) -> list[str]:
    return [str(part.report[name]) for part in parts if part.report.get(name)]


def _about(part: CrawlPart) -> dict[str, Any]:
    """Return what a worker had at its end, by its own report."""
    known = {name: part.report.get(name) for name in ("pages", "documents", "pairs", "seconds")}
    return {"folder": part.path.name, "finished": part.is_finished, **known}
