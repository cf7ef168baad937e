"""A corpus from pages that other tools fetched: a folder like that of a crawl, built to be resumed.

Every page goes the way of a fetched page: opt-outs, language, machine translation, duplicates,
pairing. The folder has a journal, so a build that was killed goes on where its last checkpoint
was, and another build into the same folder adds to it. Texts go to the disk at each checkpoint;
what stays in memory is what a crawl remembers of its pages.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from bilingual_crawler.config.settings import Config
from bilingual_crawler.corpus.built import (
    ENDED,
    SKIPPED,
    about_built,
    claim,
    explain_built,
    outcomes_of,
    report_in,
)
from bilingual_crawler.corpus.corpus import Corpus
from bilingual_crawler.corpus.lexicon_keeper import LexiconKeeper
from bilingual_crawler.corpus.sources.inputs import (
    InputKind,
    absolute,
    documents_from,
    file_url,
    kind_of,
    listed_files,
    read_file,
)
from bilingual_crawler.corpus.sources.reading import Alias, Found, Skips, SourceReading
from bilingual_crawler.documents.document import Document, Unwanted, why_unwanted
from bilingual_crawler.documents.identifiers.choice import Identifiers
from bilingual_crawler.documents.mixed import split_mixed
from bilingual_crawler.documents.optouts import opt_out_of
from bilingual_crawler.documents.sitemap import Sitemap
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import ParallelLanguages
from bilingual_crawler.outcomes import Outcome, outcome_sentence
from bilingual_crawler.pairing.resources import NO_AIDS, PairingAids
from bilingual_crawler.reporting import tally
from bilingual_crawler.reporting.counts import (
    MACHINE_TRANSLATED,
    OFF_LANGUAGE,
    OPT_OUT_HOSTS,
    PAGES,
    SPLIT_PAGES,
    Counts,
    detectors_of,
    sums_of,
)
from bilingual_crawler.reporting.report import (
    figures,
    write_report,
)
from bilingual_crawler.reporting.tally import MILLISECONDS, RUNS, largest_first, under
from bilingual_crawler.store.folder import JOURNAL, REPORT, CrawlFolder
from bilingual_crawler.store.input_files import STANDARD_INPUT
from bilingual_crawler.store.journal_tables import JournaledDict, JournaledRows
from bilingual_crawler.urls.fingerprint import url_fingerprint
from bilingual_crawler.urls.hosts import host_of

CHECKPOINT_PAGES, CHECKPOINT_SECONDS = 500, 2.0
"""What a kill can undo at most."""
MOST_COUNTS = 2_000
"""Counts that are kept per input; the hosts that opt out may be many."""
BUILT = "built from sources"
"""The fact in the journal of a folder that was built, not crawled."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS sources (name TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS outcomes (outcome TEXT PRIMARY KEY, number INTEGER NOT NULL)
WITHOUT ROWID;
"""
STARTED = "started"
Progress = Callable[[int, int], None]
"""Called with the number of pages and of pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildTask:
    """What to build, and from what."""

    inputs: tuple[str, ...]
    folder: Path
    languages: ParallelLanguages
    config: Config
    settings: Mapping[str, Any]
    """The settings that differ from the defaults, for crawl.json."""
    aids: PairingAids = NO_AIDS


@dataclass(frozen=True, slots=True)
class Built:
    """The result of a build."""

    report: Mapping[str, Any]
    skips: Skips
    is_unchanged: bool = False
    """Whether every input was taken in by an earlier build."""


class SourceState:
    """How far an input was read, and the counts of what it gave."""

    def __init__(self, saved: Mapping[str, Any], stamp: list[int] | None) -> None:
        self.stamp = stamp
        same = saved.get("stamp") == stamp
        self.done = bool(saved.get("done")) and same and stamp is not None
        goes_on = same and not saved.get("done")
        self.earlier = int(saved.get("pages", 0)) if goes_on else 0
        """Pages that a killed build has taken in."""
        self.pages = 0
        self.counts: Counter[str] = Counter(saved.get("counts") if goes_on or self.done else ())

    def is_new(self) -> bool:
        """Count a page. Return whether it has not been taken in yet."""
        self.pages += 1
        return self.pages > self.earlier

    def to_json(self) -> str:
        """Return the state for the journal."""
        pages = max(self.pages, self.earlier)
        state = {"stamp": self.stamp, "done": self.done, "pages": pages, "counts": self.counts}
        return json.dumps(state, sort_keys=True)


class SourceSkips(Skips):
    """What the readers skip; what an earlier build has counted does not count again."""

    state: SourceState | None = None

    def add(self, reason: str, what: str) -> None:
        """Count one thing that was not read."""
        state = self.state
        if state is not None and state.pages >= state.earlier:
            super().add(reason, what)
            state.counts[SKIPPED + reason] += 1


def build_corpus(
    task: BuildTask,
    read: Callable[[int], None] = lambda _bytes: None,
    progress: Progress = lambda _pages, _pairs: None,
) -> Built:
    """Build or continue a folder; `read` gets the number of bytes that were read."""
    kinds = [(each, _checked_kind(each)) for each in task.inputs]
    folder = open_built(task.folder, task.languages)
    try:
        building = CorpusBuilding(task, folder, read, progress)
        left = [(each, kind) for each, kind in kinds if not building.is_done(each)]
        if not left and folder.was_finished:
            folder.facts["finished"] = "yes"
            built = Built(report_in(task.folder), building.skips, is_unchanged=True)
        else:
            building.open_corpus()
            for source, kind in left:
                building.take_source(source, kind)
            built = Built(building.finish(), building.skips)
    except BaseException:  # what is half done does not reach the journal
        folder.close(save=False)
        raise
    folder.close()
    return built


def open_built(path: Path, languages: ParallelLanguages) -> CrawlFolder:
    """Open a folder to build in: a new one, or one that an earlier build has begun."""
    if path.exists() and not path.is_dir():
        raise ConfigurationError(f"{path} is a file: choose a folder with --out.")
    if path.is_dir() and not (path / JOURNAL).exists() and any(path.iterdir()):
        raise ConfigurationError(
            f"{path} contains something other than a corpus: choose a new or an empty folder with"
            " --out."
        )
    folder = CrawlFolder(path, str(languages))
    if not claim(folder, BUILT):
        was_finished = folder.was_finished
        folder.facts["finished"] = "yes" if was_finished else "no"
        folder.close()
        raise ConfigurationError(
            f"{path} holds a crawl: choose another folder with --out. To put both together, build"
            f" a folder of its own and write scrapy merge {path} OTHER --into NEW."
        )
    return folder


class CorpusBuilding:
    """Takes sources into a corpus, one after the other."""

    def __init__(
        self,
        task: BuildTask,
        folder: CrawlFolder,
        read: Callable[[int], None],
        progress: Progress,
    ) -> None:
        self.skips = SourceSkips()
        self._task = task
        self._folder = folder
        self._progress = progress
        self._began = time.monotonic()
        self._saved = self._began
        self._unsaved = 0
        folder.journal.define(SCHEMA)
        self._states: JournaledDict[str, str] = JournaledDict(
            folder.journal, "sources", SCHEMA, key=str, decode=str
        )
        self._reading = SourceReading(
            task.languages,
            progress=read,
            skips=self.skips,
            identifier=Identifiers(task.config, task.languages).default,
            text_lines=task.config.text_lines,
        )
        self._seen: set[tuple[int, str]] = set()

    def open_corpus(self) -> None:
        """Rebuild the corpus from the journal."""
        journal, config = self._folder.journal, self._task.config
        journal.define(tally.SCHEMA)
        self._earlier = Counter[str](dict(journal.read("SELECT name, amount FROM tally")))
        self._corpus = Corpus(
            self._folder,
            lambda _url: self._task.languages,
            config.duplicate_share,
            aids=self._task.aids,
            lexicons=LexiconKeeper.open(config, self._folder.path),
            reads_files=True,
        )
        self._curve = tally.YieldCurve(journal)
        self._rows = JournaledRows(journal)

    def is_done(self, source: str) -> bool:
        """Return whether an earlier build has taken in a file that has not changed since."""
        return self._state_of(source).done

    def _state_of(self, source: str) -> SourceState:
        saved = self._states.get(_name_of(source))
        return SourceState(json.loads(saved) if saved else {}, _stamp(source))

    def take_source(self, source: str, kind: InputKind) -> None:
        """Take in everything that an input has."""
        is_list = kind is InputKind.FILES  # what it says needs the languages of all its files
        state = SourceState({}, _stamp(source)) if is_list else self._state_of(source)
        self._state = self.skips.state = state
        self._reading.is_new = state.is_new
        self._states[_name_of(source)] = state.to_json()
        self._other_pages = self._counts()[PAGES] - state.counts[PAGES]
        things = self._listed(source) if is_list else None
        for found in things or documents_from(source, self._reading):
            self._take(found)
            self._checkpoint_if_due(source)
        state.done = True
        self._checkpoint(source)

    def take_things(self, name: str, things: Iterable[Found]) -> None:
        """Take in pages, redirects and sitemaps that were read elsewhere."""
        self._state = self.skips.state = SourceState({}, None)
        self._states[_name_of(name)] = self._state.to_json()
        self._other_pages = 0
        for found in things:
            self._state.is_new()
            self._take(found)
            self._checkpoint_if_due(name)
        self._state.done = True
        self._checkpoint(name)

    def _listed(self, source: str) -> Iterable[Found]:
        """Yield the files that a list names, then what the list says: which two belong together."""
        listed = list(dict.fromkeys(listed_files(source, self._reading)))
        languages: dict[str, str] = {}
        for path in dict.fromkeys(chain.from_iterable(listed)):
            found = read_file(path, self._reading)
            if isinstance(found, Document):
                languages[found.url] = found.language or ""
            if found is not None:
                yield found
        for pair in listed:
            first, second = map(file_url, pair)
            self._corpus.declare([(first, ((second, languages.get(second, "")),))])

    def _take(self, found: Found) -> None:
        if isinstance(found, Alias):
            self._corpus.alias(*found)
        elif isinstance(found, Sitemap):
            self._corpus.declare(found.claims())
        else:
            self._take_page(found)

    def _take_page(self, page: Document) -> None:
        identity = url_fingerprint(page.url), page.variant
        if identity in self._seen:
            self.skips.add("the same URL again", page.url)
            return
        self._seen.add(identity)
        counts = self._state.counts
        counts[PAGES] += 1
        parts = None if page.variant else split_mixed(page, self._task.languages)
        counts[SPLIT_PAGES] += parts is not None
        for document in parts or (page,):
            self._take_document(document)
        pages = self._other_pages + counts[PAGES]
        self._curve.add(pages, self._corpus.pair_count)
        self._progress(pages, self._corpus.pair_count)

    def _take_document(self, document: Document) -> None:
        counts = self._state.counts
        if mark := document.machine_translated:
            counts[MACHINE_TRANSLATED + mark] += 1
        unwanted = self._why_unwanted(document)
        if unwanted is None:
            self._corpus.add(document)
            return
        counts[ENDED + unwanted.reason] += 1
        if unwanted.reason == Outcome.OFF_LANGUAGE:
            counts[OFF_LANGUAGE + (document.language or "unknown")] += 1

    def _why_unwanted(self, document: Document) -> Unwanted | None:
        config = self._task.config
        opt_out = opt_out_of(document.robots, document.tdm_reservation, config.honour)
        if opt_out is not None:
            counts, host = self._state.counts, f"{OPT_OUT_HOSTS}{host_of(document.url)}/{opt_out}"
            if host in counts or len(counts) < MOST_COUNTS:
                counts[host] += 1
            return Unwanted(opt_out, outcome_sentence(opt_out))
        unwanted = why_unwanted(document, self._task.languages, config.language_share)
        if unwanted is None and document.machine_translated and config.machine_translated == "drop":
            return Unwanted(
                Outcome.MACHINE_TRANSLATED, outcome_sentence(Outcome.MACHINE_TRANSLATED)
            )
        return unwanted

    def _counts(self) -> Counter[str]:
        """Return the counts of all inputs together."""
        total: Counter[str] = Counter()
        for _, state in sorted(self._states.items()):
            total.update(json.loads(state)["counts"])
        return total

    def _checkpoint_if_due(self, source: str) -> None:
        self._unsaved += 1
        late = time.monotonic() > self._saved + CHECKPOINT_SECONDS
        if late or self._unsaved >= CHECKPOINT_PAGES:
            self._checkpoint(source)

    def _checkpoint(self, source: str) -> None:
        self._states[_name_of(source)] = self._state.to_json()
        self._folder.journal.checkpoint(wait=True)
        self._saved, self._unsaved = time.monotonic(), 0

    def finish(self) -> dict[str, Any]:
        """Settle all pairs and write everything that is left. Return the report."""
        corpus, folder = self._corpus, self._folder
        corpus.tidy()
        earlier, seconds = self._earlier, time.monotonic() - self._began
        totals = self._counts()
        totals[RUNS] = earlier[RUNS] + 1
        totals[MILLISECONDS] = earlier[MILLISECONDS] + round(1000 * seconds)
        outcomes = outcomes_of(totals, *corpus.page_counts())
        for name, number in totals.items():
            self._rows.add("INSERT OR REPLACE INTO tally VALUES (?, ?)", (name, number))
        for outcome, number in outcomes.items():
            self._rows.add("INSERT OR REPLACE INTO outcomes VALUES (?, ?)", (outcome, number))
        now = datetime.now(UTC).isoformat(timespec="seconds")
        folder.facts[STARTED] = folder.facts.get(STARTED) or now
        pairs = corpus.standing()
        counts = Counts(
            langs=self._task.languages,
            documents=largest_first(corpus.documents),
            pairs=len(pairs),
            pairs_by_detector=detectors_of(pairs),
            known=outcomes.total(),
            **sums_of(totals, outcomes, *corpus.page_counts()),
        )
        report = {
            **about_built(self._task.languages, self._task.settings),
            "started": folder.facts[STARTED],
            "updated": now,
            "seconds": totals[MILLISECONDS] / 1000,
            "runs": totals[RUNS],
            **figures(counts, ()),
            "yield": self._curve.up_to(counts.pages, counts.harvested),
            "explanation": list(explain_built(counts)),
            "built_from": sorted(name for name, _ in self._states.items()),
            "skipped": under(totals, SKIPPED),
        }
        folder.facts["finished"] = "yes"
        folder.journal.checkpoint(wait=True)
        write_report(folder.path / REPORT, report, durable=True)
        return report


def _checked_kind(source: str) -> InputKind:
    if source == STANDARD_INPUT:
        raise ConfigurationError("A corpus is built from files: write their names, not -.")
    kind = kind_of(source)
    if kind is InputKind.URLS:
        raise ConfigurationError(
            f"{source} is a list of URLs, and a corpus needs texts: crawl these pages with"
            f" -a seeds_file={source}, or pair the URLs alone with scrapy pairs."
        )
    if kind is InputKind.URL_PAIRS:
        raise ConfigurationError(
            f"{source} is a list of pairs of URLs, which only scrapy pairs reads: scrapy pairs"
            f" PAGES {source} --langs PAIR --out DIR."
        )
    return kind


def _name_of(source: str) -> str:
    return str(absolute(Path(source)))


def _stamp(source: str) -> list[int] | None:
    """Return what changes with a file; None for a folder, which is always read again."""
    path = Path(source)
    if path.is_dir():
        return None
    found = path.stat()
    return [found.st_size, found.st_mtime_ns]
