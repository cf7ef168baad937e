"""The folder of a crawl: who holds it, what is in it, what it was begun for."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from bilingual_crawler.corpus.files import AppendFile, GzipAppendFile
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.journal import Facts, Journal, Sink

DOCUMENTS = "documents.jsonl.gz"
PAIRS = "pairs.jsonl"
PAIRS_TSV = "pairs.tsv"
REPORT = "crawl.json"
JOURNAL = "crawl.sqlite"
LOG = "crawl.log"
REWRITE = "rewrite "
ENDED_SITES = "sites that ended"
"""The fact that names the sites of which a scorer wants nothing more."""
SITEMAPS_OF = "sitemaps of "
"""Before a host in the name of the fact that its sitemaps were read."""


class CrawlFolder:
    """Opens or resumes the folder of a crawl; one process at a time may hold it."""

    def __init__(self, path: Path, langs: str) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self.journal = Journal(path / JOURNAL)
        self.facts = Facts(self.journal)
        begun_for = self.facts.get("langs", langs)
        if begun_for != langs:
            self.close()
            raise ConfigurationError(
                f"{path} holds a crawl for {begun_for}, not {langs}: write -a langs={begun_for} "
                "to go on with it, or choose another folder with -a output=DIR."
            )
        self.resumed = bool(self.facts.get("langs"))
        self.was_finished = self.facts.get("finished") == "yes"
        self.facts["langs"] = langs
        self.facts["finished"] = "no"
        self._complete_rewrites()
        for name in (DOCUMENTS, PAIRS, PAIRS_TSV):
            self._open(name)

    def _open(self, name: str) -> None:
        self.add(_kind(name)(self.path / name, self.journal.file_size(name)))

    def add(self, sink: Sink) -> None:
        """Make a file part of the crawl's checkpoints."""
        self.journal.attach_sink(sink)

    def rewrite(self, name: str, lines: Iterable[str], settles: str = "") -> None:
        """Replace the content of a file, so that a kill at any moment leaves old or new.

        `settles` names a fact that is no longer true when the new file is in place.

        The new file is complete on disk before the journal knows its length, and the
        journal knows that it is to be renamed before it is.
        """
        self.journal.checkpoint(wait=True)
        path, fresh = self.path / name, self.path / f"{name}.new"
        size = _written(_kind(name)(fresh, 0), fresh, lines)
        self.facts[REWRITE + name] = "yes"
        if settles:
            self.facts[settles] = "no"
        self.journal.record_size(name, size)
        self.journal.checkpoint(wait=True)
        self.journal.detach_sink(name)
        fresh.replace(path)
        self.facts[REWRITE + name] = "no"
        self._open(name)

    def _complete_rewrites(self) -> None:
        for name in (DOCUMENTS, PAIRS, PAIRS_TSV):
            fresh = self.path / f"{name}.new"
            if self.facts.get(REWRITE + name) == "yes" and fresh.exists():
                fresh.replace(self.path / name)
            self.facts[REWRITE + name] = "no"
            fresh.unlink(missing_ok=True)

    def close(self, *, save: bool = True) -> None:
        """Let others have the folder, with everything made durable unless it is half done."""
        self.journal.close(save=save)


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
