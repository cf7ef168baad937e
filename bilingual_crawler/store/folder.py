"""The folder of a crawl: its files, and whether it may be begun or resumed."""

import json
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import OneLanguage
from bilingual_crawler.store.durable import NEW, put_in_place, replacing_folder, sync_folder
from bilingual_crawler.store.files import AppendFile, GzipAppendFile
from bilingual_crawler.store.journal import FileEnd, Journal, Sink
from bilingual_crawler.store.journal_tables import Facts
from bilingual_crawler.store.sentence_pair import SENTENCES

DOCUMENTS = "documents.jsonl.gz"
PAIRS = "pairs.jsonl"
PAIRS_TSV = "pairs.tsv"
PAIRS_REFUSED = "pairs_refused.jsonl"
"""Counterparts without translated content; made anew whenever the pairs are settled."""
CLUSTERS = "clusters.jsonl"
"""The versions of each page, in a crawl for more than two languages; made with the file above."""
SITES = "sites.jsonl"
HARVEST = (DOCUMENTS, PAIRS, PAIRS_TSV)
"""The output files of a crawl for documents or pairs."""
REPORT = "crawl.json"
PICTURE = "yield.png"
JOURNAL = "crawl.sqlite"
LOG = "crawl.log"
RUN = "crawl.run.json"
"""How the crawl was started from the web page."""
UNDER_WAY = "under way"
"""The fact in the journal that lists the URLs being fetched."""
BEFORE = "before"
"""The folder with what the crawl had before each revisit, one folder per date."""
CHANGES = "changes.tsv"
"""What the last revisit found: pages that are new, changed or gone."""
KEPT_BEFORE = (DOCUMENTS, PAIRS, PAIRS_TSV, CLUSTERS, SENTENCES, REPORT)
OWN_NAMES = ("crawl", "documents.", "pairs.", "clusters.", "lexicon.", SITES, BEFORE, CHANGES)
"""Prefixes of the names of all files that a crawl writes."""
MOST_BEFORE = 1_000
REWRITE = "rewrite "
ENDED_SITES = "sites that ended"
"""The fact that lists the sites that a scorer has finished with."""
SITEMAPS_OF = "sitemaps of "
"""Prefix, before a host, of the fact that its sitemaps were read."""


class CrawlFolder:
    """Creates or resumes the folder of a crawl, which only one process at a time may use."""

    def __init__(self, path: Path, langs: str, topic: str = "", *, harvests: bool = True) -> None:
        self.path = path
        self.moved_aside: list[Path] = []
        """Files with data unknown to the journal, which this run has cut off from the others."""
        path.mkdir(parents=True, exist_ok=True)
        sync_folder(path.parent)
        _refuse_links(path)
        if not _has_content(path / JOURNAL):
            _refuse_to_begin_over(path, "is missing or empty")
        self.journal = Journal(path / JOURNAL)
        try:
            self._resume(langs, topic)
            for name in HARVEST if harvests else ():
                self._open(name)
        except BaseException:
            self.close(save=False)
            raise

    def _resume(self, langs: str, topic: str) -> None:
        """Check that this is the crawl of the journal, or begin a new one."""
        path = self.path
        self.facts = Facts(self.journal)
        self.resumed = bool(self.facts.get("langs"))
        if not self.resumed:
            _refuse_to_begin_over(path, "has no crawl in it")
        begun_for = self.facts.get("langs", langs)
        if begun_for != langs:
            raise ConfigurationError(
                f"{path} holds a crawl for {begun_for}, not {langs}: write -a langs={begun_for} "
                "to continue it, or choose another folder with -a output=DIR."
            )
        if self.facts.get("topic", topic) != topic:
            raise ConfigurationError(
                f"{path} holds a crawl for another topic: write -a topic=FILE with the same terms"
                " as at its start (or leave it out, if there was none), or choose another folder"
                " with -a output=DIR."
            )
        self.was_finished = self.facts.get("finished") == "yes"
        self.facts["langs"] = langs
        self.facts["topic"] = topic
        self.facts["finished"] = "no"
        if not self.resumed:  # from now on, an empty journal is a lost one
            self.journal.checkpoint(wait=True)
        self._complete_rewrites()

    def _open(self, name: str) -> None:
        self.add(_kind(name)(self.path / name, self.journal.file_end(name)))

    def add(self, sink: Sink) -> None:
        """Make a file part of the crawl's checkpoints."""
        self.journal.attach_sink(sink)
        self.moved_aside += sink.moved_aside

    def rewrite(self, name: str, lines: Iterable[str], settles: str = "") -> None:
        """Replace the content of a file; a kill at any moment leaves the old or the new one.

        `settles` names a fact that becomes "no" when the new file is in place.

        The new file is complete on disk before the journal knows its length, and the journal
        knows that it is to be renamed before that happens.
        """
        self.journal.checkpoint(wait=True)
        path, fresh = self.path / name, self.path / (name + NEW)
        fresh.unlink(missing_ok=True)
        size = _written(_kind(name)(fresh, FileEnd()), fresh, lines)
        self.facts[REWRITE + name] = "yes"
        if settles:
            self.facts[settles] = "no"
        self.journal.record_size(name, size, fresh)
        self.journal.checkpoint(wait=True)
        self.journal.detach_sink(name)
        put_in_place(fresh, path)
        self.facts[REWRITE + name] = "no"
        self._open(name)

    def keep_before(self) -> Path | None:
        """Copy the output to a folder of its own, which exports can compare with.

        It is named for the day of the last report. Return None if there is no output yet. A kill
        leaves a complete copy or none.
        """
        there = [name for name in KEPT_BEFORE if _has_content(self.path / name)]
        if DOCUMENTS not in there:
            return None
        newest = max((self.path / name).stat().st_mtime for name in there)
        day = datetime.fromtimestamp(newest, UTC).date().isoformat()
        folder = self.path / BEFORE
        folder.mkdir(exist_ok=True)
        names = (day, *(f"{day}-{number}" for number in range(2, MOST_BEFORE)))
        target = folder / next(name for name in names if not (folder / name).exists())
        with replacing_folder(target) as fresh:
            for name in there:
                shutil.copyfile(self.path / name, fresh / name)
        return target

    def _complete_rewrites(self) -> None:
        for name in HARVEST:
            fresh = self.path / (name + NEW)
            if self.facts.get(REWRITE + name) == "yes" and fresh.exists():
                put_in_place(fresh, self.path / name)
            self.facts[REWRITE + name] = "no"
            fresh.unlink(missing_ok=True)

    def close(self, *, save: bool = True) -> None:
        """Release the folder; `save` makes everything durable first."""
        self.journal.close(save=save)


def latest_before(folder: Path) -> Path | None:
    """Return the folder with what a crawl had before it was last revisited, if it was."""
    kept = [path for path in (folder / BEFORE).glob("[0-9]*") if path.is_dir()]
    return max(kept, key=_day_and_number, default=None)


def _day_and_number(path: Path) -> tuple[str, int]:
    day, number = path.name[:10], path.name[11:]
    return day, int(number) if number.isdecimal() else 1


def _has_content(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def _refuse_to_begin_over(path: Path, what: str) -> None:
    """Refuse to begin a crawl in a folder with the output of another one."""
    there = [file for file in sorted(path.iterdir()) if _is_harvest(file) and _has_content(file)]
    if there:
        names = ", ".join(file.name for file in there)
        raise ConfigurationError(
            f"{path} has output of a crawl ({names}), but its journal {JOURNAL} {what}, and without"
            " it the crawl cannot continue: a new one would overwrite that output. Put the journal"
            f" back (with {JOURNAL}-wal, if there is one), or choose another folder with"
            " -a output=DIR. The files in the folder can still be read and exported."
        )


def _is_harvest(file: Path) -> bool:
    return file.name in {*HARVEST, SITES} or file.name.startswith("crawl-")


def _refuse_links(path: Path) -> None:
    """Refuse a folder with links: it may be made to have files elsewhere overwritten."""
    for file in path.iterdir():
        if file.name.startswith(OWN_NAMES) and file.is_symlink():
            raise ConfigurationError(
                f"{file} is a symbolic link, and a crawl does not follow those: put the file itself"
                " there, or choose another folder with -a output=DIR."
            )


def _kind(name: str) -> type[AppendFile]:
    return GzipAppendFile if name.endswith(".gz") else AppendFile


def _written(sink: AppendFile, file: Path, lines: Iterable[str]) -> int:
    """Write a new file and return its length; leave no file if something goes wrong."""
    try:
        remaining = iter(lines)
        while some := list(islice(remaining, 1000)):
            sink.append(some)
        return sink.sync()[file.name]
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    finally:
        sink.close()


def is_of_one_language(report: dict[str, Any]) -> bool:
    """Return True if a report (crawl.json) is of a crawl for one language, without pairs."""
    return report.get("harvest") == OneLanguage.harvest


def require_pairs(folder: Path, what: str) -> None:
    """Refuse the folder of a crawl for one language; `what` names the part that needs pairs."""
    try:
        report = json.loads((folder / REPORT).read_text("utf-8"))
    except (OSError, ValueError):
        return  # reading the folder reports what is wrong with it
    if isinstance(report, dict) and is_of_one_language(report):
        raise ConfigurationError(
            f"{folder} is a crawl for one language ({report.get('langs')}), with documents but no"
            f" pairs, and {what} needs pairs: crawl for two languages, as in -a langs=spa-eus, or"
            f" export the documents with scrapy export {folder} --to xml."
        )
