"""The folder that `scrapy pairs --out` writes: like a crawl's, with every page that took part.

Copies are not dropped here: whoever pairs pages to judge the pairs wants all of them. Align,
export and merge work on the folder; a merge drops the copies.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from bilingual_crawler.corpus import pages
from bilingual_crawler.corpus.built import about_built, claim, explain_built
from bilingual_crawler.corpus.clusters import write_clusters
from bilingual_crawler.corpus.corpus import json_line, tsv_line, write_refused
from bilingual_crawler.corpus.offline import OfflineResult
from bilingual_crawler.corpus.pages import PageFacts
from bilingual_crawler.corpus.sources.reading import Alias
from bilingual_crawler.documents.dedup import paragraph_hashes, text_signature
from bilingual_crawler.documents.document import Document
from bilingual_crawler.documents.serialise import document_to_dict
from bilingual_crawler.errors import ConfigurationError, writing
from bilingual_crawler.languages import LanguageSet, ParallelLanguages
from bilingual_crawler.outcomes import Outcome
from bilingual_crawler.pairing.matcher import Declaration
from bilingual_crawler.pairing.pair import PairingPage
from bilingual_crawler.reporting.counts import Counts, detectors_of
from bilingual_crawler.reporting.report import figures, write_report
from bilingual_crawler.reporting.tally import largest_first
from bilingual_crawler.store.folder import (
    DOCUMENTS,
    HARVEST,
    JOURNAL,
    PAIRS,
    PAIRS_REFUSED,
    PAIRS_TSV,
    REPORT,
    CrawlFolder,
)
from bilingual_crawler.store.journal_tables import JournaledRows

COUNTS = "pairs.json"
PAIRED = "written by pairs"
"""The fact in the journal of such a folder."""
BATCH = 500
"""Documents that are written at once."""
_JOURNAL_FILES = (JOURNAL, f"{JOURNAL}-wal", f"{JOURNAL}-shm")


class PairedFolder:
    """Keeps the documents of a search on the disk, and then its pairs; replaces an earlier run."""

    def __init__(self, path: Path, languages: ParallelLanguages) -> None:
        with writing(path, "Choose another folder with --out DIR."):
            _clear(path, languages)
            self._folder = CrawlFolder(path, str(languages))
        self._languages = languages
        claim(self._folder, PAIRED)
        self._folder.journal.define(pages.SCHEMA)
        self._rows = JournaledRows(self._folder.journal)
        self._count = 0

    def page(self, document: Document, page: PairingPage) -> None:
        """Write a document, and what a merge has to know about it."""
        key, language = document.key, document.language or ""
        hashes = b"".join(paragraph_hashes(document))
        facts = PageFacts(key, key, language, text_signature(document), hashes, page.pack())
        self._rows.add(pages.INSERT_PAGE, (*facts, False, True, True))
        line = json.dumps(document_to_dict(document), ensure_ascii=False)
        self._folder.journal.append(DOCUMENTS, f"{line}\n")
        self._count += 1
        if self._count % BATCH == 0:
            self._folder.journal.checkpoint(wait=True)

    def alias(self, alias: Alias) -> None:
        """Write another name of a page."""
        self._rows.add("INSERT OR IGNORE INTO aliases VALUES (?, ?)", tuple(alias))

    def claims(self, claims: Iterable[Declaration]) -> None:
        """Write what a sitemap says."""
        for url, named in claims:
            rows = ((url, *each) for each in named if each[1] in self._languages)
            self._rows.add("INSERT OR IGNORE INTO declarations VALUES (?, ?, ?)", *rows)

    def finish(
        self, outcome: OfflineResult, summary: Mapping[str, Any], settings: Mapping[str, Any]
    ) -> None:
        """Write the pairs, with the verdicts on listed ones, and the reports."""
        path, folder = self._folder.path, self._folder
        with writing(path, "Choose another folder with --out DIR."):
            for line in _json_lines(outcome):
                folder.journal.append(PAIRS, line)
            for pair in outcome.pairs:
                folder.journal.append(PAIRS_TSV, tsv_line(pair))
            if isinstance(self._languages, LanguageSet):
                write_clusters(path, outcome.pairs, self._languages)
            write_refused(path / PAIRS_REFUSED, map(json_line, outcome.refused))
            folder.facts["finished"] = "yes"
            folder.close()
            write_report(path / COUNTS, summary, durable=True)
            report = _report(outcome, self._languages, settings)
            write_report(path / REPORT, report, durable=True)

    def give_up(self) -> None:
        """Release the folder; the next run begins it anew."""
        self._folder.close(save=False)


def _clear(path: Path, languages: ParallelLanguages) -> None:
    """Remove what an earlier run wrote; refuse a folder with anything else of a crawl."""
    path.mkdir(parents=True, exist_ok=True)
    if (path / JOURNAL).exists():
        earlier = CrawlFolder(path, _languages_in(path) or str(languages))
        was_finished, ours = earlier.was_finished, claim(earlier, PAIRED)
        earlier.facts["finished"] = "yes" if was_finished else "no"
        earlier.close()
        if not ours:
            raise ConfigurationError(
                f"{path} holds a crawl: choose another folder with --out, so that nothing is lost."
            )
    elif (path / DOCUMENTS).exists() or (path / REPORT).exists():
        raise ConfigurationError(
            f"{path} holds a corpus: choose another folder with --out, so that nothing is lost."
        )
    for name in (COUNTS, REPORT, PAIRS_REFUSED, *HARVEST, *_JOURNAL_FILES):
        (path / name).unlink(missing_ok=True)


def _languages_in(path: Path) -> str:
    try:
        report = json.loads((path / REPORT).read_text("utf-8"))
        return str(report["langs"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _json_lines(outcome: OfflineResult) -> Iterator[str]:
    lines = chain(
        (pair.to_dict() for pair in outcome.unlisted_pairs),
        (verdict.to_dict() for verdict in outcome.verdicts),
    )
    for line in lines:
        yield json.dumps(line, ensure_ascii=False) + "\n"


def _report(
    outcome: OfflineResult, languages: ParallelLanguages, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return crawl.json."""
    search, now = outcome.search, datetime.now(UTC).isoformat(timespec="seconds")
    counts = Counts(
        langs=languages,
        pages=search.pages_read,
        documents=largest_first(+search.pages),
        pairs=len(outcome.pairs),
        pairs_refused=len(outcome.refused),
        pairs_by_detector=detectors_of(outcome.pairs),
        outcomes={Outcome.STORED: search.pages.total()},
        split_pages=search.split,
    )
    return {
        **about_built(languages, settings),
        "started": now,
        "updated": now,
        "seconds": 0.0,
        "runs": 1,
        **figures(counts, ()),
        "yield": [(counts.pages, counts.pairs)] if counts.pages else [],
        "explanation": list(explain_built(counts)),
        "skipped": dict(outcome.reading.skips.counts.most_common()),
    }
