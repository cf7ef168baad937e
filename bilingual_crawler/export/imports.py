"""Other people's corpora as a folder like a crawl's: TMX, tables, JSON lines, Moses, CWB.

The format is seen in the name and the first bytes. Everything is streamed; files may be gzipped.
Several inputs become one corpus of the same two languages.
"""

import csv
import gzip
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import IO, Any

from bilingual_crawler.alignment.cleaning import Repeats, Rule, broken_rule, rules
from bilingual_crawler.alignment.vocabularies import Vocabularies
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.cwb_reader import is_corpus, read_corpus
from bilingual_crawler.export.records import Record, RecordReading, field_of, usual_columns
from bilingual_crawler.export.rows import IDS, STEM, to_line
from bilingual_crawler.export.source import Account
from bilingual_crawler.export.tmx import FOLDER, TmxFile, place_of, write_import_report
from bilingual_crawler.languages import LanguagePair, language_of_tag
from bilingual_crawler.store.durable import replacing_file, text_file
from bilingual_crawler.store.folder import DOCUMENTS, JOURNAL, PAIRS
from bilingual_crawler.store.input_files import (
    DAMAGED_GZIP,
    Watch,
    bounded_lines,
    open_unpacked,
    read_json_lines,
)
from bilingual_crawler.store.sentence_pair import SENTENCES, SentencePair

FORMATS = ("tmx", "tsv", "csv", "jsonl", "parquet", "moses", "cwb")
_ENDINGS = {
    "tmx": "tmx",
    "tsv": "tsv",
    "tab": "tsv",
    "csv": "csv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "parquet": "parquet",
}
BATCH = 1_000
_IGNORED = "-"
_IDS = ("pair", "at", "url1", "url2", "score")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportTask:
    """What to import, and how."""

    inputs: tuple[Path, ...]
    folder: Path
    languages: LanguagePair | None = None
    format: str = ""
    """One of `FORMATS`; "" if the files show it."""
    columns: tuple[str, ...] = ()
    """What the columns of tables without a header hold."""
    clean: bool = False
    """Whether the cleaning rules of `scrapy align` mark the pairs that they would drop."""


def import_corpus(
    task: ImportTask, watch: Watch = lambda _share: None
) -> tuple[Account, LanguagePair]:
    """Import corpora; an earlier import is replaced when this one is complete."""
    if any((task.folder / name).exists() for name in (DOCUMENTS, JOURNAL, PAIRS)):
        raise ConfigurationError(
            f"{task.folder} holds a crawl: choose another folder with --out, so that nothing is"
            " lost."
        )
    sources = list(_sources(task))
    account = Account()
    reading = _Reading(task, account, watch)
    with replacing_file(task.folder / SENTENCES) as path:
        with text_file(path) as rows:
            found = chain.from_iterable(map(reading.read, sources))
            rows.writelines(map(to_line, _cleaned(found) if task.clean else found))
        if not account.written or reading.languages is None:
            raise ConfigurationError(_nothing(task, account))
    names = ", ".join(each.name for each in task.inputs)
    write_import_report(task.folder, names, reading.languages, account)
    return account, reading.languages


Source = tuple[str, tuple[Path, ...]]
"""A format, and the files that belong together."""


def _sources(task: ImportTask) -> Iterator[Source]:
    """Yield the inputs, files that belong together as one; check them all first."""
    files: list[Path] = []
    for each in task.inputs:
        if each.is_dir():
            yield _folder(each)
        elif each.is_file():
            files.append(each)
        else:
            raise ConfigurationError(f"There is no file {each}.")
    unknown: list[Path] = []
    for file in files:
        kind = task.format or _format_of(file)
        if kind == "cwb":
            raise ConfigurationError(f"{file}: a CWB corpus is a folder; name the folder.")
        if kind and kind != "moses":
            yield kind, (file,)
        else:
            unknown.append(file)
    if len(unknown) == 2:  # noqa: PLR2004 - the two sides
        yield "moses", tuple(unknown)
    elif unknown:
        raise ConfigurationError(
            f"{unknown[0]} is in none of the formats {', '.join(FORMATS)}: write which one it is"
            " with --from FORMAT. A Moses corpus is two files, named together."
        )


def _folder(folder: Path) -> Source:
    if (folder / SENTENCES).is_file():
        return "jsonl", (folder / SENTENCES,)
    if is_corpus(folder):
        return "cwb", (folder,)
    sides = sorted(each for each in folder.glob(f"{STEM}.*") if each.name != IDS)
    if len(sides) == 2:  # noqa: PLR2004 - the two sides
        return "moses", tuple(sides)
    tables = sorted(folder.rglob("*.parquet"))
    if tables:
        return "parquet", tuple(tables)
    raise ConfigurationError(
        f"{folder} has neither {SENTENCES} (scrapy align makes it) nor a Moses corpus nor Parquet"
        " files nor a corpus of the Corpus Workbench."
    )


def _format_of(file: Path) -> str:
    """Return the format by the name, or by the first bytes; "" if they show none."""
    ending = file.name.lower().removesuffix(".gz").rpartition(".")[2]
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    try:
        with open_unpacked(file) as content:
            start = content.read(4096)
    except (*DAMAGED_GZIP, OSError) as error:
        raise ConfigurationError(f"{file} cannot be read: {error}.") from error
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"PAR1"):
        return "parquet"
    if text.startswith(b"<") or start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "tmx"
    if text.startswith(b"{"):
        return "jsonl"
    return "tsv" if b"\t" in text.partition(b"\n")[0] else ""


class _Reading:
    """Reads one source after the other; the languages are those of the first."""

    def __init__(self, task: ImportTask, account: Account, watch: Watch) -> None:
        self.languages = task.languages
        self._task = task
        self._account = account
        self._watch = watch

    def read(self, source: Source) -> Iterator[SentencePair]:
        kind, files = source
        try:
            if kind == "tmx":
                yield from self._tmx(files[0])
                return
            if kind == "moses":
                yield from self._moses(files)
                return
            if kind == "cwb":
                yield from self._records(files[0], read_corpus(files[0], self._account))
                return
            for file in files:
                yield from self._records(file, _RECORDS[kind](file, self._task, self._account))
        except DAMAGED_GZIP as error:
            raise ConfigurationError(
                f"{files[0]} ends too early: the gzip file is truncated. Nothing was imported."
            ) from error
        except OSError as error:
            reason = error.strerror or error
            raise ConfigurationError(f"{files[0]} cannot be read: {reason}.") from error

    def _tmx(self, file: Path) -> Iterator[SentencePair]:
        tmx = TmxFile(file, self._account, self.languages)
        for row in tmx.read(self._watch):
            self.languages = tmx.languages
            yield row

    def _moses(self, files: tuple[Path, ...]) -> Iterator[SentencePair]:
        languages = self.languages or _languages_of(files)
        first, second = _in_order(files, languages)
        yield from self._records(first, _lines_side_by_side(first, second, languages))

    def _records(self, file: Path, records: Iterable[tuple[str, Record]]) -> Iterator[SentencePair]:
        reader = RecordReading(file, self._account, self.languages, records)
        for row in reader.read():
            self.languages = reader.languages
            yield row


def _lines(file: Path) -> Iterator[tuple[int, str | None]]:
    """Yield every line of a text with its number; None for one that is too long."""
    with open_unpacked(file) as content:
        for number, line in enumerate(bounded_lines(content), 1):
            coding = "utf-8-sig" if number == 1 else "utf-8"
            yield number, None if line is None else line.decode(coding, "replace").rstrip("\r\n")


def _tsv(file: Path, task: ImportTask, account: Account) -> Iterator[tuple[str, Record]]:
    def rows() -> Iterator[tuple[int, list[str]]]:
        for number, line in _lines(file):
            if line is None:
                account.damage.add(f"{file.name}, line {number}", "too long")
            elif line.strip():
                yield number, line.split("\t")

    return _table(file, task, account, rows())


def _csv(file: Path, task: ImportTask, account: Account) -> Iterator[tuple[str, Record]]:
    texts = (f"{line or ''}\n" for _, line in _lines(file))
    reader = csv.reader(texts)
    return _table(file, task, account, ((reader.line_num, row) for row in reader if row))


def _table(
    file: Path, task: ImportTask, account: Account, rows: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[str, Record]]:
    """Yield the rows of a table, which has a header unless the user or its first row says not."""
    columns = [field_of(name) for name in task.columns]
    if columns and not {"text1", "text2"} <= set(columns):
        raise ConfigurationError(
            f"--columns {','.join(task.columns)} names no two texts: write text1 and text2."
        )
    for number, row in rows:
        if not columns:
            usual = usual_columns(row, file)
            columns = usual or list(row)
            if usual is None:
                continue
        if len(row) < len(columns):
            account.damage.add(f"{file.name}, line {number}", "too few columns")
            continue
        named = zip(columns, row, strict=False)
        yield f"{file.name}, line {number}", {k: v for k, v in named if k != _IGNORED}


def _json(file: Path, _task: ImportTask, account: Account) -> Iterator[tuple[str, Record]]:
    return read_json_lines(file, account.damage)


def _parquet(file: Path, _task: ImportTask, _account: Account) -> Iterator[tuple[str, Record]]:
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra that only this format needs
        from pyarrow import ArrowException  # noqa: PLC0415
    except ImportError as error:
        raise ConfigurationError(
            "Parquet needs pyarrow: pip install 'bilingual-crawler[parquet]'."
        ) from error
    number = 0
    try:
        with pq.ParquetFile(file) as table:
            for batch in table.iter_batches(batch_size=BATCH):
                for record in batch.to_pylist():
                    number += 1
                    yield f"{file.name}, row {number}", record
    except ArrowException as error:
        raise ConfigurationError(f"{file} is not a valid Parquet file: {error}.") from error


_RECORDS: dict[str, Callable[[Path, ImportTask, Account], Iterator[tuple[str, Record]]]] = {
    "tsv": _tsv,
    "csv": _csv,
    "jsonl": _json,
    "parquet": _parquet,
}


def _code_of(file: Path) -> str:
    language = language_of_tag(file.name.removesuffix(".gz").rpartition(".")[2])
    return "" if language is None else language.code


def _languages_of(files: tuple[Path, ...]) -> LanguagePair:
    codes = [_code_of(file) for file in files]
    if not all(codes) or len(set(codes)) == 1:
        names = " and ".join(file.name for file in files)
        raise ConfigurationError(
            f"The names {names} do not end with two languages, such as corpus.en and corpus.fr:"
            " write --langs with the language of the first file first."
        )
    return LanguagePair.parse("-".join(codes))


def _in_order(files: tuple[Path, ...], languages: LanguagePair) -> tuple[Path, Path]:
    first, second = files
    swapped = _code_of(first) == languages.second.code or _code_of(second) == languages.first.code
    return (second, first) if swapped else (first, second)


def _lines_side_by_side(
    first: Path, second: Path, languages: LanguagePair
) -> Iterator[tuple[str, Record]]:
    """Yield the lines of two texts, with what the file of ids beside them says."""
    ids = first.with_name(IDS)
    about = (line for _, line in _lines(ids)) if ids.is_file() else iter(())
    codes = dict(zip(("lang1", "lang2"), languages.codes, strict=True))
    for one, other in zip_longest(_lines(first), _lines(second)):
        if one is None or other is None:
            longer, shorter = (second, first) if one is None else (first, second)
            raise ConfigurationError(
                f"{longer} has more lines than {shorter}, so they do not belong together. Nothing"
                " was imported."
            )
        number, text = one
        known = dict(zip(_IDS, (next(about, "") or "").split("\t"), strict=False))
        record = {**known, **codes, "text1": text or "", "text2": other[1] or ""}
        yield f"{first.name}, line {number}", record


def _cleaned(rows: Iterable[SentencePair]) -> Iterator[SentencePair]:
    """Yield every pair again, with the cleaning rule that it broke."""
    repeats = Repeats()
    try:
        with ExitStack() as files:
            aside = files.enter_context(tempfile.TemporaryFile())
            packed = files.enter_context(gzip.GzipFile(fileobj=aside, mode="wb", compresslevel=1))
            characters, known = [0, 0], Vocabularies("", "")
            for row in rows:
                known.languages = row.lang1, row.lang2
                known.learn([row.text1], [row.text2])
                characters[0] += len(row.text1)
                characters[1] += len(row.text2)
                packed.write(to_line(replace(row, dropped="")).encode())
            packed.close()
            asked = rules(characters[1] / max(1, characters[0]), known)
            yield from _judged(aside, asked, repeats)
    finally:
        repeats.close()


def _judged(
    aside: IO[bytes], asked: Mapping[str, Rule], repeats: Repeats
) -> Iterator[SentencePair]:
    documents: dict[str, int] = {}
    for number, row in enumerate(_set_aside(aside)):
        if not broken_rule(row, asked):
            repeats.add(number, documents.setdefault(row.pair, len(documents)), row)
    for number, row in enumerate(_set_aside(aside)):
        dropped = broken_rule(row, asked) or repeats.broken_rule(number, row)
        yield replace(row, dropped=dropped)


def _set_aside(aside: IO[bytes]) -> Iterator[SentencePair]:
    aside.seek(0)
    with gzip.GzipFile(fileobj=aside, mode="rb") as lines:
        for line in lines:
            fields: dict[str, Any] = json.loads(line)
            yield SentencePair.from_dict(fields)


def _nothing(task: ImportTask, account: Account) -> str:
    reasons = [f"{reason} ({count:,})" for reason, count in account.left_out.items()]
    if account.damage.lines:
        reasons.append(f"{account.damage.lines:,} damaged rows, first {account.damage.first}")
    wanted = f" of {task.languages}" if task.languages else ""
    names = ", ".join(map(str, task.inputs))
    return f"{names}: no sentence pair{wanted} was found: {', '.join(reasons) or 'it is empty'}."


__all__ = ["FOLDER", "FORMATS", "ImportTask", "import_corpus", "place_of"]
