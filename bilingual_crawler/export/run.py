"""An export from beginning to end, without a terminal."""

from pathlib import Path

from bilingual_crawler import __version__
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.account import Account
from bilingual_crawler.export.formats import Format
from bilingual_crawler.export.source import CorpusSource, Selection
from bilingual_crawler.store.folder import (
    DOCUMENTS,
    JOURNAL,
    LOG,
    PAIRS,
    PAIRS_TSV,
    REPORT,
    require_pairs,
)
from bilingual_crawler.store.json_lines import Watch
from bilingual_crawler.store.sentence_pair import SENTENCES
from bilingual_crawler.store.target import replacing_file, replacing_folder, write_about
from bilingual_crawler.topics.topic import NO_TOPIC, Topic

FOLDER = "export"
"""In the folder of a crawl: where exports go that are not told another place."""
STEM = "sentences"
OWN_FILES = frozenset({SENTENCES, DOCUMENTS, PAIRS, PAIRS_TSV, REPORT, JOURNAL, LOG})


def place_of(folder: Path, form: Format, out: str | None) -> Path:
    """Where the export goes: what the user says, or a name inside the crawl's folder."""
    name = STEM + form.ending if form.ending else form.name
    if out is None:
        return folder / FOLDER / name
    path = Path(out)
    if form.ending and (path.is_dir() or out.endswith("/")):
        path /= name
    if path.name in OWN_FILES and path.resolve().parent == folder.resolve():
        raise ConfigurationError(f"{path} belongs to the crawl: name another file with --out.")
    return path


def export(
    folder: Path,
    form: Format,
    target: Path,
    *,
    selection: Selection | None = None,
    watch: Watch = lambda _share: None,
    topic: Topic = NO_TOPIC,
) -> Account:
    """Write the corpus of a folder to `target`; what became of the rows is returned."""
    if not folder.is_dir():
        raise ConfigurationError(f"There is no folder {folder}: name the folder of a crawl.")
    if form.name != "xml":
        require_pairs(folder, f"the format {form.name}")
    selection = selection or Selection()
    if selection.dropped and not form.dropped:
        raise ConfigurationError(
            f"{form.name} has no place for the reason why a pair was dropped: "
            "write --dropped with --to tsv, jsonl or parquet."
        )
    if form.documents and selection.min_score is not None:
        raise ConfigurationError(
            f"{form.name} is made of documents, and --min-score is for sentence pairs."
        )
    if topic and form.name != "xml":
        raise ConfigurationError(f"{form.name} has no place for a topic: --topic is for --to xml.")
    account = Account()
    source = CorpusSource(folder, account, selection, watch, topic)
    if form.ending:
        with replacing_file(target) as path:
            form.writer(source, path, account)
        return account
    with replacing_folder(target) as path:
        form.writer(source, path, account)
        write_about(
            path,
            {"format": form.name, "made_by": f"bilingual-crawler {__version__}"}
            | account.to_dict(),
        )
    return account
