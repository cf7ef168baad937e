"""Readers of URL tables: `url, language` and `url, url, language, language`.

Tables are tab- or comma-separated, plain or gzip, with or without a header line; a header
may name further columns (`domain`, `split`, `source`). They are read as streams, since the
tables that the models are made for have tens of millions of lines.
"""

import csv
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TextIO

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.training.split import registered_domain
from bilingual_crawler.languages import UnknownLanguageError, find_language
from bilingual_crawler.store.input_files import open_text

LONGEST_URL = 4096
FEWEST_COLUMNS = 2


class TrainingUrl(NamedTuple):
    """A URL, the language of its page, and how far to trust that (`weight`)."""

    url: str
    language: str
    domain: str
    split: str = ""
    weight: float = 1.0


class UrlPair(NamedTuple):
    """Two URLs, the languages of their pages, and whether the pages are translations."""

    first: str
    second: str
    first_language: str
    second_language: str
    domain: str
    split: str = ""
    parallel: bool = True


class SkippedLines(Counter[str]):
    """How many lines of which kind could not be used: counted, never fatal."""


def read_urls(
    paths: Iterable[Path], *, weight: float = 1.0, skipped: SkippedLines | None = None
) -> Iterator[TrainingUrl]:
    """Every usable `url, language` row of some tables."""
    skipped = SkippedLines() if skipped is None else skipped
    for path in paths:
        for row in _rows(path, ("url", "lang")):
            url, language = row["url"].strip(), _language(row["lang"])
            if not _usable(url):
                skipped["no URL"] += 1
            elif language is None:
                skipped["unknown language"] += 1
            else:
                domain = row.get("domain") or registered_domain(url)
                yield TrainingUrl(url, language, domain, row.get("split", ""), weight)


def read_pairs(paths: Iterable[Path], *, skipped: SkippedLines | None = None) -> Iterator[UrlPair]:
    """Every usable row of tables of pairs.

    The columns are two URLs and, where known, two languages; a third column of 0 and 1
    instead says whether a pair is one (`url, url, 0|1`).
    """
    skipped = SkippedLines() if skipped is None else skipped
    for path in paths:
        for row in _rows(path, ("url1", "url2", "lang1", "lang2")):
            first, second = row["url1"].strip(), row["url2"].strip()
            if not (_usable(first) and _usable(second)):
                skipped["no URL"] += 1
                continue
            label = row.get("label") or (row["lang1"] if row.get("lang1") in {"0", "1"} else "1")
            domain = row.get("domain") or registered_domain(first)
            yield UrlPair(
                first,
                second,
                _language(row.get("lang1", "")) or "",
                _language(row.get("lang2", "")) or "",
                domain,
                row.get("split", ""),
                parallel=label != "0",
            )


def cap(rows: Iterable[TrainingUrl], most: int, *, seed: int = 0) -> list[TrainingUrl]:
    """At most `most` rows a language, taken from its domains in turn.

    A large site would otherwise fill the share of its language and teach its own name.
    """
    by_language: defaultdict[str, defaultdict[str, list[TrainingUrl]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        by_language[row.language][row.domain].append(row)
    rng = random.Random(seed)  # noqa: S311 - a sample, not a secret
    kept: list[TrainingUrl] = []
    for language in sorted(by_language):
        kept += _in_turn(by_language[language], most, rng)
    return kept


def _in_turn(
    domains: dict[str, list[TrainingUrl]], most: int, rng: random.Random
) -> list[TrainingUrl]:
    piles = [domains[name] for name in sorted(domains)]
    for pile in piles:
        rng.shuffle(pile)
    rng.shuffle(piles)
    kept: list[TrainingUrl] = []
    depth = 0
    while piles and len(kept) < most:
        kept += [pile[depth] for pile in piles][: most - len(kept)]
        depth += 1
        piles = [pile for pile in piles if len(pile) > depth]
    return kept


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[dict[str, str]]:
    with _opened(path) as lines:
        names: tuple[str, ...] | None = None
        for cells in _cells(lines, comma=".csv" in path.suffixes):
            if names is None:
                header = tuple(cell.strip().lower() for cell in cells)
                names = header if columns[0] in header else columns
                if names is header:
                    _check_header(path, header, columns[:FEWEST_COLUMNS])
                    continue
            if len(cells) >= FEWEST_COLUMNS:
                yield dict(zip(names, cells, strict=False))


def _check_header(path: Path, header: tuple[str, ...], needed: tuple[str, ...]) -> None:
    if missing := [name for name in needed if name not in header]:
        raise ConfigurationError(
            f"{path} has no column {', '.join(missing)}; its header says {', '.join(header)}."
        )


def _cells(lines: TextIO, *, comma: bool) -> Iterator[list[str]]:
    """The cells of every line; a tab-separated table has no quoting, URLs may hold quotes."""
    if comma:
        yield from csv.reader(lines)
    else:
        yield from (line.rstrip("\r\n").split("\t") for line in lines)


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    try:
        with open_text(path) as text:
            yield text
    except OSError as error:
        raise ConfigurationError(
            f"Cannot read {path}: {error.strerror or error}.", "Write the path of a URL table."
        ) from None


def _usable(url: str) -> bool:
    return "." in url and len(url) <= LONGEST_URL


_codes: dict[str, str | None] = {"unknown": "unknown"}


def _language(text: str) -> str | None:
    """The ISO 639-3 code of a cell, None if it names no language."""
    text = text.strip().lower()
    if text not in _codes:
        try:
            _codes[text] = find_language(text).code
        except UnknownLanguageError:
            _codes[text] = None
    return _codes[text]
