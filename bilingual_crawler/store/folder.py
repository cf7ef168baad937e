"""The folder of a crawl: who holds it, what is in it, what it was begun for."""

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import OneLanguage
from bilingual_crawler.store.durable import NEW, put_in_place, sync_folder
from bilingual_crawler.store.files import AppendFile, GzipAppendFile
from bilingual_crawler.store.journal import FileEnd, Journal, Sink
from bilingual_crawler.store.journal_tables import Facts

DOCUMENTS = "documents.jsonl.gz"
PAIRS = "pairs.jsonl"
PAIRS_TSV = "pairs.tsv"
SITES = "sites.jsonl"
HARVEST = (DOCUMENTS, PAIRS, PAIRS_TSV)
"""The files of a crawl that harvests."""
REPORT = "crawl.json"
PICTURE = "yield.png"
JOURNAL = "crawl.sqlite"
LOG = "crawl.log"
OWN_NAMES = ("crawl", "documents.", "pairs.", SITES)
"""How the names of all files begin that a crawl writes."""
REWRITE = "rewrite "
ENDED_SITES = "sites that ended"
"""The fact that names the sites of which a scorer wants nothing more."""
SITEMAPS_OF = "sitemaps of "
"""Before a host in the name of the fact that its sitemaps were read."""


class CrawlFolder:
    """Opens or resumes the folder of a crawl; one process at a time may hold it."""

    def __init__(self, path: Path, langs: str, topic: str = "", *, harvests: bool = True) -> None:
        self.path = path
        self.moved_aside: list[Path] = []
        """Files with what the journal does not know, cut off from the others in this run."""
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
        """Compare the crawl with the one that the journal tells of, or begin it."""
        path = self.path
        self.facts = Facts(self.journal)
        self.resumed = bool(self.facts.get("langs"))
        if not self.resumed:
            _refuse_to_begin_over(path, "tells of no crawl")
        begun_for = self.facts.get("langs", langs)
        if begun_for != langs:
            raise ConfigurationError(
                f"{path} holds a crawl for {begun_for}, not {langs}: write -a langs={begun_for} "
                "to go on with it, or choose another folder with -a output=DIR."
            )
        if self.facts.get("topic", topic) != topic:
            raise ConfigurationError(
                f"{path} holds a crawl for another topic: give -a topic=FILE with the terms that"
                " it was begun with (or none, if there was none), or choose another folder with"
                " -a output=DIR."
            )
        self.was_finished = self.facts.get("finished") == "yes"
        self.facts["langs"] = langs
        self.facts["topic"] = topic
        self.facts["finished"] = "no"
        if not self.resumed:  # from now on an empty journal is a lost one
            self.journal.checkpoint(wait=True)
        self._complete_rewrites()

    def _open(self, name: str) -> None:
        self.add(_kind(name)(self.path / name, self.journal.file_end(name)))

    def add(self, sink: Sink) -> None:
        """Make a file part of the crawl's checkpoints."""
        self.journal.attach_sink(sink)
        self.moved_aside += sink.moved_aside

    def rewrite(self, name: str, lines: Iterable[str], settles: str = "") -> None:
        """Replace the content of a file, so that a kill at any moment leaves old or new.

        `settles` names a fact that is no longer true when the new file is in place.

        The new file is complete on disk before the journal knows its length, and the
        journal knows that it is to be renamed before it is.
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

    def _complete_rewrites(self) -> None:
        for name in HARVEST:
            fresh = self.path / (name + NEW)
            if self.facts.get(REWRITE + name) == "yes" and fresh.exists():
                put_in_place(fresh, self.path / name)
            self.facts[REWRITE + name] = "no"
            fresh.unlink(missing_ok=True)

    def close(self, *, save: bool = True) -> None:
        """Let others have the folder, with everything made durable unless it is half done."""
        self.journal.close(save=save)


def _has_content(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def _refuse_to_begin_over(path: Path, what: str) -> None:
    """Refuse to begin a crawl in a folder that has the harvest of another one."""
    there = [file for file in sorted(path.iterdir()) if _is_harvest(file) and _has_content(file)]
    if there:
        names = ", ".join(file.name for file in there)
        raise ConfigurationError(
            f"{path} has a harvest ({names}), but its journal {JOURNAL} {what}, and without it the"
            " crawl cannot go on: a new one would write over that harvest. Put the journal back"
            f" (with {JOURNAL}-wal, if there is one), or choose another folder with"
            " -a output=DIR. The files that are there can still be read and exported."
        )


def _is_harvest(file: Path) -> bool:
    return file.name in {*HARVEST, SITES} or file.name.startswith("crawl-")


def _refuse_links(path: Path) -> None:
    """Refuse a folder whose files are elsewhere: it may come from somebody who wants them hit."""
    for file in path.iterdir():
        if file.name.startswith(OWN_NAMES) and file.is_symlink():
            raise ConfigurationError(
                f"{file} is a symbolic link, and a crawl writes through none: put the file itself"
                " there, or choose another folder with -a output=DIR."
            )


def _kind(name: str) -> type[AppendFile]:
    return GzipAppendFile if name.endswith(".gz") else AppendFile


def _written(sink: AppendFile, file: Path, lines: Iterable[str]) -> int:
    """Write a new file; its length, or no file at all if something goes wrong on the way."""
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
    """Whether the report of a crawl (crawl.json) is of one that looks for no translations."""
    return report.get("harvest") == OneLanguage.harvest


def require_pairs(folder: Path, what: str) -> None:
    """Refuse the folder of a crawl of one language; `what` is what needs pairs."""
    try:
        report = json.loads((folder / REPORT).read_text("utf-8"))
    except (OSError, ValueError):
        return  # whoever reads the folder tells what is wrong with it
    if isinstance(report, dict) and is_of_one_language(report):
        raise ConfigurationError(
            f"{folder} holds a crawl of one language ({report.get('langs')}), with documents and"
            f" no pairs, and {what} needs pairs: crawl for two, as in -a langs=spa-eus, or write"
            f" the documents with scrapy export {folder} --to xml."
        )
