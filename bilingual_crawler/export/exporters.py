"""Exporters, one per format: how they are found, and how an export runs.

A format is a class that inherits from `Exporter`. The built-in ones are imported only when they
are used. Others are named by import path (`scrapy export --to package.module:Class`), or by the
name that a package gives them in the entry-point group `bilingual_crawler.exporters`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, cast

from bilingual_crawler import __version__
from bilingual_crawler.corpus.audit import ANSWERS, RESULT
from bilingual_crawler.errors import ConfigurationError, writing
from bilingual_crawler.export.datasheet import DATASHEET, beside, datasheet
from bilingual_crawler.export.source import Account, CorpusSource, Selection
from bilingual_crawler.plugins import PluginKind
from bilingual_crawler.store.durable import replacing, replacing_file, replacing_folder, write_about
from bilingual_crawler.store.folder import (
    DOCUMENTS,
    JOURNAL,
    LOG,
    PAIRS,
    PAIRS_TSV,
    REPORT,
    require_pairs,
)
from bilingual_crawler.store.input_files import Watch
from bilingual_crawler.store.sentence_pair import SENTENCES
from bilingual_crawler.topics import NO_TOPIC, Topic

FOLDER = "export"
"""Where exports go by default: this folder inside the folder of the crawl."""
STEM = "sentences"
OWN_FILES = frozenset(
    {SENTENCES, DOCUMENTS, PAIRS, PAIRS_TSV, REPORT, JOURNAL, LOG, ANSWERS, RESULT}
)


class Exporter(ABC):
    """A format: its name, what it can hold, and how it is written."""

    name: ClassVar[str] = ""
    """What users write after --to, and the name of the folder if it has no ending."""
    about: ClassVar[str] = ""
    """One line for the list of formats."""
    ending: ClassVar[str] = ""
    """How its file is named, such as ".tmx"; "" for a format that is a folder."""
    stem: ClassVar[str] = STEM
    """The name of its file without the ending."""
    documents: ClassVar[bool] = False
    """Whether it is made of whole documents, not of sentence pairs."""
    dropped: ClassVar[bool] = False
    """Whether it has a place for why a sentence pair was dropped."""
    topics: ClassVar[bool] = False
    """Whether it has a place for the terms of a topic."""
    earlier: ClassVar[bool] = False
    """Whether it compares the corpus with that of an earlier crawl."""
    tagged: ClassVar[bool] = False
    """Whether it has columns for what a tagger says."""
    one_language: ClassVar[bool] = False
    """Whether it can also hold a crawl of one language, which has no pairs."""

    @abstractmethod
    def write(self, source: CorpusSource, path: Path, account: Account) -> None:
        """Write everything that `source` gives to `path`.

        `path` is a file to create, or an empty folder for a format without an ending. Hold only
        a bounded number of rows in memory, and count in `account` what is written, left out and
        changed.
        """


EXPORTERS = PluginKind(
    noun="an exporter",
    group="bilingual_crawler.exporters",
    base=Exporter,
    builtin={
        "tmx": "bilingual_crawler.export.tmx.Tmx",
        "multilingual-tmx": "bilingual_crawler.export.multilingual.MultilingualTmx",
        "multiparallel": "bilingual_crawler.export.multilingual.Multiparallel",
        "tsv": "bilingual_crawler.export.rows.Tsv",
        "jsonl": "bilingual_crawler.export.rows.JsonLines",
        "parquet": "bilingual_crawler.export.rows.Parquet",
        "moses": "bilingual_crawler.export.rows.Moses",
        "opusfilter": "bilingual_crawler.export.opusfilter.OpusFilter",
        "huggingface": "bilingual_crawler.export.hugging_face.HuggingFace",
        "tbx": "bilingual_crawler.export.glossary.Tbx",
        "glossary": "bilingual_crawler.export.glossary.GlossaryTable",
        "cwb": "bilingual_crawler.export.cwb.CorpusWorkbench",
        "standoff": "bilingual_crawler.export.standoff.Standoff",
        "delta": "bilingual_crawler.export.delta.Delta",
        "documents": "bilingual_crawler.export.whole_documents.WholeDocuments",
        "xml": "bilingual_crawler.export.ilsp.AnnotatedXml",
        "pml": "bilingual_crawler.export.pml.Pml",
    },
)


def find_exporter(name: str) -> Exporter:
    """Return the exporter with this name or import path."""
    found = cast("Exporter", EXPORTERS.make(name, "--to"))
    if not (found.name and found.about):
        raise ConfigurationError(
            f"--to={name} is not a complete exporter: give the class a name and a line about it, "
            'such as name = "text" and about = "one sentence per line".'
        )
    return found


def listed_exporters() -> Iterator[tuple[str, str]]:
    """Yield name and description of every exporter, built-in or installed, that can be loaded."""
    for name in EXPORTERS.names():
        try:
            yield name, find_exporter(name).about
        except ConfigurationError as error:
            yield name, str(error)


def place_of(folder: Path, exporter: Exporter, out: str | None) -> Path:
    """Return where the export goes: what the user says, or a name inside the crawl's folder."""
    name = exporter.stem + exporter.ending if exporter.ending else exporter.name
    if out is None:
        return folder / FOLDER / name
    path = Path(out)
    if exporter.ending and (path.is_dir() or out.endswith("/")):
        path /= name
    if path.name in OWN_FILES and path.resolve().parent == folder.resolve():
        raise ConfigurationError(f"{path} belongs to the crawl: choose another file with --out.")
    return path


def export(
    folder: Path,
    exporter: Exporter,
    target: Path,
    *,
    selection: Selection | None = None,
    watch: Watch = lambda _share: None,
    topic: Topic = NO_TOPIC,
) -> Account:
    """Write the corpus of a folder to `target`. Return the account of its rows."""
    if not folder.is_dir():
        raise ConfigurationError(f"There is no folder {folder}: name the folder of a crawl.")
    if not exporter.one_language:
        require_pairs(folder, f"the format {exporter.name}")
    selection = selection or Selection()
    _check(exporter, selection, topic)
    account = Account()
    source = CorpusSource(folder, account, selection, watch, topic)
    if exporter.ending:
        with replacing_file(target) as path:
            exporter.write(source, path, account)
            _keep_what_is_there(target, account, selection)
        sheet = beside(target)
        with writing(sheet), replacing(sheet) as fresh:
            text = datasheet(folder, target.name, account, selection, exporter.name)
            fresh.write_text(text, "utf-8")
        return account
    with replacing_folder(target) as path:
        exporter.write(source, path, account)
        _keep_what_is_there(target, account, selection)
        text = datasheet(folder, target.name, account, selection, exporter.name)
        (path / DATASHEET).write_text(text, "utf-8")
        about = {"format": exporter.name, "made_by": f"bilingual-crawler {__version__}"}
        write_about(path, about | account.to_dict())
    return account


def _keep_what_is_there(target: Path, account: Account, selection: Selection) -> None:
    """Refuse to replace an earlier export by an empty one because of a least score."""
    chosen = selection.min_score is not None
    if chosen and not account.written.total() and account.left_out and target.exists():
        reasons = ", ".join(f"{count:,} {why}" for why, count in account.left_out.most_common())
        raise ConfigurationError(f"Nothing is left to export ({reasons}): {target} stays as it is.")


def _check(exporter: Exporter, selection: Selection, topic: Topic) -> None:
    """Refuse options that the format has no use for."""
    name, least = exporter.name, selection.min_score
    if least is not None and not 0 <= least <= 1:
        raise ConfigurationError(
            f"--min-score {least:g} is not a score: write a number from 0 to 1."
        )
    if selection.dropped and not exporter.dropped:
        raise ConfigurationError(
            f"{name} has no place for the reason why a pair was dropped: "
            "write --dropped with --to tsv, jsonl or parquet."
        )
    if selection.since is not None and not exporter.earlier:
        raise ConfigurationError(f"{name} compares nothing: --since is for --to delta.")
    if selection.tagger and not exporter.tagged:
        raise ConfigurationError(f"{name} has no columns for tokens: --tagger is for --to cwb.")
    if exporter.documents and selection.min_score is not None:
        raise ConfigurationError(
            f"{name} is made of documents, and --min-score is for sentence pairs."
        )
    if topic and not exporter.topics:
        raise ConfigurationError(f"{name} has no place for a topic: --topic is for --to xml.")
