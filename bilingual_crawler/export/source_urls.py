"""The source URLs of corpora and lists: what names the sites that gave parallel text.

A corpus is the folder of a crawl, a translation memory (TMX), or a table whose rows have the two
URLs of a sentence pair, as ParaCrawl, MaCoCu and Bitextor publish them. A list has URLs with
languages: the index of a web archive as CSV, TSV, JSON lines or CDXJ, or any text with one URL per
line. Corpora have millions of rows, so all are read line by line.
"""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.export.source import Account
from bilingual_crawler.export.tmx import TmxFile
from bilingual_crawler.languages import LanguagePair, ParallelLanguages, language_of_tag
from bilingual_crawler.store.folder import PAIRS
from bilingual_crawler.store.input_files import (
    MAX_TABLE_LINE,
    Damage,
    Watch,
    bounded_lines,
    open_unpacked,
    read_json_lines,
    rows,
)
from bilingual_crawler.store.sentence_pair import SENTENCES

_TMX = re.compile(rb"\s*(?:<\?xml|<!DOCTYPE|<tmx)", re.IGNORECASE)
_URL = re.compile(r"https?://[^\s\"'<>()\[\]|]+", re.IGNORECASE)
_BETWEEN_URLS = re.compile(r"[\s|]+")
_URL_COLUMNS = ("url", "original_url", "uri")
_LANGUAGE_COLUMNS = ("content_languages", "languages", "language", "lang")


class SourcePair(NamedTuple):
    """Two URLs of a corpus, and how many sentence pairs this record stands for."""

    url1: str
    url2: str
    sentences: int


def read_corpus(
    path: Path, languages: ParallelLanguages, account: Account, watch: Watch = lambda _share: None
) -> Iterator[SourcePair]:
    """Yield the URLs of a corpus; rows of other languages and without URLs are counted."""
    if path.is_dir():
        yield from _folder(path, languages, account.damage, watch)
    elif not path.is_file():
        raise ConfigurationError(
            f"There is no corpus {path}: name the folder of a crawl, a TMX file, or a table."
        )
    elif _is_tmx(path):
        if not isinstance(languages, LanguagePair):
            raise ConfigurationError(
                f"{path} is a TMX file, of which two languages are read, and {languages} are more:"
                " name two with --langs."
            )
        for row in TmxFile(path, account, languages).read(watch):
            if row.url1 and row.url2:
                yield SourcePair(row.url1, row.url2, 1)
            else:
                account.left_out["the unit does not name its source documents"] += 1
    else:
        yield from _table(path, account)


def _is_tmx(path: Path) -> bool:
    with open_unpacked(path) as content:
        start = content.read(200)
    return _TMX.match(start.removeprefix(b"\xef\xbb\xbf")) is not None or start[:2] in {
        b"\xff\xfe",
        b"\xfe\xff",
    }


def _folder(
    folder: Path, languages: ParallelLanguages, damage: Damage, watch: Watch
) -> Iterator[SourcePair]:
    """Yield the document pairs of a crawl, then its good sentence pairs if it is aligned."""
    there = [name for name in (PAIRS, SENTENCES) if (folder / name).is_file()]
    if not there:
        raise ConfigurationError(
            f"{folder} has neither {PAIRS} nor {SENTENCES}: name the folder of a crawl."
        )
    for name in there:
        for _, fields in read_json_lines(folder / name, damage, watch):
            both = str(fields.get("lang1")), str(fields.get("lang2"))
            if languages.admits(*both) and not fields.get("dropped"):
                urls = fields.get("url1"), fields.get("url2")
                yield SourcePair(str(urls[0]), str(urls[1]), int(name == SENTENCES))


def _table(path: Path, account: Account) -> Iterator[SourcePair]:
    """Yield the first two fields of each row that are URLs.

    Where a text was found on several pages, corpora list all of them in one field; the first
    counts.
    """
    header: list[str] | None = None
    for number, fields in rows(str(path)):
        urls = [each for each in fields if each[:8].lower().startswith(("http://", "https://"))]
        if number == 1 and not urls:
            header = fields
        elif len(urls) >= 2:  # noqa: PLR2004 - a pair
            first, second = (_BETWEEN_URLS.split(url, maxsplit=1)[0] for url in urls[:2])
            yield SourcePair(first, second, 1)
        else:
            account.left_out["the row does not have two URLs"] += 1
    if header is not None and not any("url" in name.lower() for name in header):
        account.left_out["the header of the table names no URL"] += 1


def read_urls(path: Path, language: str | None, damage: Damage) -> Iterator[tuple[str, str | None]]:
    """Yield the URLs of a list with the code of their language.

    `language` is that of all URLs which the list itself gives none. Where it gives several, most
    text first, the first counts.
    """
    if not path.is_file():
        raise ConfigurationError(f"There is no list {path}.")
    columns: list[str] | None = None
    delimiter = "\t"
    with open_unpacked(path) as content:
        for number, raw in enumerate(bounded_lines(content, MAX_TABLE_LINE), 1):
            if raw is None:
                damage.add(f"{path.name}, line {number}", "too long")
                continue
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8", "replace").strip()
            if number == 1 and (found := _header(line)) is not None:
                columns, delimiter = found
            elif columns is not None:
                yield from _of_columns(line, columns, delimiter, language)
            elif (start := line.find("{")) >= 0 and line.endswith("}"):
                yield from _of_json(line[start:], language, damage, f"{path.name}, line {number}")
            else:
                yield from _of_text(line, language)


def _header(line: str) -> tuple[list[str], str] | None:
    """Return the columns of a table and what separates them; None if this is no header."""
    for delimiter in ("\t", ","):
        names = [name.strip().strip('"').lower() for name in line.split(delimiter)]
        if any(name in _URL_COLUMNS for name in names):
            return names, delimiter
    return None


def _of_columns(
    line: str, columns: list[str], delimiter: str, language: str | None
) -> Iterator[tuple[str, str | None]]:
    fields = next(csv.reader([line], delimiter=delimiter), [])
    row = dict(zip(columns, fields, strict=False))
    url = next((row[name] for name in _URL_COLUMNS if row.get(name)), "")
    named = next((row[name] for name in _LANGUAGE_COLUMNS if row.get(name)), "")
    if url:
        yield url, _code(named) or language


def _of_json(
    text: str, language: str | None, damage: Damage, place: str
) -> Iterator[tuple[str, str | None]]:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        damage.add(place, "not JSON")
        return
    url = next((record[name] for name in _URL_COLUMNS if record.get(name)), None)
    if not isinstance(url, str):
        damage.add(place, "without a URL")
        return
    named = next((record[name] for name in _LANGUAGE_COLUMNS if record.get(name)), "")
    yield url, _code(named if isinstance(named, str) else "") or language


def _of_text(line: str, language: str | None) -> Iterator[tuple[str, str | None]]:
    """Yield the URLs of a line; a field that is the code of a language names theirs."""
    codes = (_code(field) for field in line.split("\t") if len(field.strip()) <= len("zh-Hant"))
    named = next((code for code in codes if code), language)
    for url in _URL.findall(line):
        yield url.rstrip(".,;"), named


def _code(text: str) -> str | None:
    first = re.split(r"[,;\s]", text.strip(), maxsplit=1)[0]
    found = language_of_tag(first) if first else None
    return None if found is None else found.code
