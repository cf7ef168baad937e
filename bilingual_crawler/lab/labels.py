"""Readers of labelled URLs and labelled pairs of URLs.

To evaluate a model, tables are tab-separated and read by position, from a file or from standard
input. To train one, they are tab- or comma-separated, and a header line may name further columns
(`domain`, `split`). Both may be gzipped, and both are read as streams: the tables that the models
are trained on have tens of millions of lines. A line that cannot be used is skipped and counted,
because a few broken lines are common; the first one is reported, so that a wrong file is noticed.
"""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TextIO

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import language_code
from bilingual_crawler.scoring.models import UNKNOWN
from bilingual_crawler.store.input_files import DAMAGED_GZIP, open_text, rows
from bilingual_crawler.urls.hosts import host_of, site_of

NO_LANGUAGE = frozenset({UNKNOWN, "und", "un", "unk"})
"""What tables for evaluation write where a page is in no known language."""
LABELS = frozenset({"0", "1"})
LONGEST_URL = 4096
FEWEST_COLUMNS = 2


class LabelledUrl(NamedTuple):
    """A URL, the ISO 639-3 code of its page, and how far to trust that (`weight`)."""

    url: str
    language: str
    domain: str = ""
    split: str = ""
    weight: float = 1.0


class LabelledPair(NamedTuple):
    """Two URLs, whether their pages are translations, and the languages where known."""

    first: str
    second: str
    parallel: bool = True
    first_language: str = ""
    second_language: str = ""
    domain: str = ""
    split: str = ""

    @property
    def language_pair(self) -> str:
        """Both languages in alphabetical order (`eng-fra`), "" if not two or not known."""
        codes = {self.first_language, self.second_language}
        return "-".join(sorted(codes)) if len(codes) > 1 and "" not in codes else ""


class GoldPair(NamedTuple):
    """Two URLs that are translations, one in each language."""

    first: str
    second: str


class SkippedLines:
    """The lines of tables that could not be used."""

    def __init__(self) -> None:
        self.reasons: Counter[str] = Counter()
        self.first = ""

    @property
    def count(self) -> int:
        """The number of skipped lines."""
        return self.reasons.total()

    def add(self, number: int, reason: str, detail: str = "") -> None:
        """Count a line; the first one is kept, with the detail if there is one."""
        if not self.reasons:
            self.first = f"line {number}: {detail or reason}"
        self.reasons[reason] += 1

    def __str__(self) -> str:
        lines = "line" if self.count == 1 else "lines"
        return f"{self.count:,} {lines} skipped, first {self.first}" if self.count else ""


def language_rows(source: str, skipped: SkippedLines) -> Iterator[LabelledUrl]:
    """Yield the rows `url<TAB>language` of a table to evaluate on; further columns are ignored."""
    for number, fields in rows(source):
        if len(fields) < FEWEST_COLUMNS or not fields[0]:
            skipped.add(number, "not a URL, a tab and a language")
        elif code := _evaluated_code(fields[1]):
            yield LabelledUrl(fields[0], code)
        else:
            skipped.add(number, "unknown language", f"{fields[1][:20]!r} is not a language")


def pair_rows(source: str, skipped: SkippedLines) -> Iterator[LabelledPair]:
    """Yield the rows of a table of pairs to evaluate on.

    The columns are two URLs, 0 or 1, and, where known, their two languages. A header line may name
    them in another order (`url1`, `url2`, `label`, `lang1`, `lang2`); a table with a header but
    without labels has only pairs that are translations.
    """
    names: tuple[str, ...] = ("url1", "url2", "label", "lang1", "lang2")
    for number, fields in rows(source):
        header = tuple(field.strip().lower() for field in fields)
        if number == 1 and {"url1", "url2"} <= set(header):
            names = header
            continue
        row = dict(zip(names, fields, strict=False))
        label = row.get("label", "" if "label" in names else "1")
        if not row.get("url1") or not row.get("url2") or not label:
            skipped.add(number, "not two URLs and 0 or 1, with tabs between")
        elif label not in LABELS:
            found = f"the third column is {label[:20]!r}, not 0 or 1"
            skipped.add(number, "no label", found)
        else:
            yield LabelledPair(
                row["url1"],
                row["url2"],
                label == "1",
                language_code(row.get("lang1", "")) or "",
                language_code(row.get("lang2", "")) or "",
                row.get("domain", ""),
            )


def gold_rows(source: str, skipped: SkippedLines) -> Iterator[GoldPair]:
    """Yield the rows `url<TAB>url` of a table; each column is one language."""
    for number, fields in rows(source):
        if len(fields) < FEWEST_COLUMNS or not all("/" in url for url in fields[:2]):
            skipped.add(number, "not two URLs with a tab between")
        else:
            yield GoldPair(fields[0], fields[1])


def candidate_rows(source: str, skipped: SkippedLines) -> Iterator[tuple[str, str]]:
    """Yield the URLs of a list and their languages, "" where the second column has none."""
    for number, fields in rows(source):
        if "/" not in fields[0]:
            skipped.add(number, "not a URL")
        else:
            language = fields[1] if len(fields) >= FEWEST_COLUMNS else ""
            yield fields[0], _evaluated_code(language) if language else ""


def link_rows(source: str, skipped: SkippedLines) -> Iterator[tuple[str, str, str]]:
    """Yield page, linked page and, if known, the language of the linked page."""
    for number, fields in rows(source):
        if len(fields) < FEWEST_COLUMNS or not all("/" in url for url in fields[:2]):
            skipped.add(number, "not two URLs with a tab between")
        else:
            language = fields[2] if len(fields) > FEWEST_COLUMNS else ""
            yield fields[0], fields[1], language_code(language) or "" if language else ""


def read_urls(
    paths: Iterable[Path], *, weight: float = 1.0, skipped: SkippedLines | None = None
) -> Iterator[LabelledUrl]:
    """Yield every usable `url, language` row of tables to train on."""
    skipped = SkippedLines() if skipped is None else skipped
    for path in paths:
        for number, row in _named_rows(path, ("url", "lang")):
            url, language = row["url"].strip(), _trained_code(row["lang"])
            if not _usable(url):
                skipped.add(number, "no URL")
            elif not language:
                skipped.add(number, "unknown language")
            else:
                domain = row.get("domain") or registered_domain(url)
                yield LabelledUrl(url, language, domain, row.get("split", ""), weight)


def read_pairs(
    paths: Iterable[Path], *, skipped: SkippedLines | None = None
) -> Iterator[LabelledPair]:
    """Yield every usable row of tables of pairs to train on.

    The columns are two URLs and, where known, two languages; a third column of 0 or 1
    instead says whether the two are translations (`url, url, 0|1`).
    """
    skipped = SkippedLines() if skipped is None else skipped
    for path in paths:
        for number, row in _named_rows(path, ("url1", "url2", "lang1", "lang2")):
            first, second = row["url1"].strip(), row["url2"].strip()
            if not (_usable(first) and _usable(second)):
                skipped.add(number, "no URL")
                continue
            label = row.get("label") or (row["lang1"] if row.get("lang1") in LABELS else "1")
            yield LabelledPair(
                first,
                second,
                parallel=label != "0",
                first_language=_trained_code(row.get("lang1", "")),
                second_language=_trained_code(row.get("lang2", "")),
                domain=row.get("domain") or registered_domain(first),
                split=row.get("split", ""),
            )


def registered_domain(url: str) -> str:
    """Return the registered domain of a URL (`site.co.uk`), or the whole host if it has none.

    Subdomains of hosting services (`user.github.io`) are sites of their own.
    """
    return site_of(host_of(url if "//" in url else f"//{url}"))


def _named_rows(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table by column name, with their numbers; the header may be missing."""
    names: tuple[str, ...] | None = None
    for number, cells in enumerate(_cells(path), 1):
        if names is None:
            header = tuple(cell.strip().lower() for cell in cells)
            names = header if columns[0] in header else columns
            if names is header:
                _check_header(path, header, columns[:FEWEST_COLUMNS])
                continue
        if len(cells) >= FEWEST_COLUMNS:
            yield number, dict(zip(names, cells, strict=False))


def _check_header(path: Path, header: tuple[str, ...], needed: tuple[str, ...]) -> None:
    if missing := [name for name in needed if name not in header]:
        raise ConfigurationError(
            f"{path} has no column {', '.join(missing)}; its header says {', '.join(header)}."
        )


def _cells(path: Path) -> Iterator[list[str]]:
    try:
        with open_text(path) as lines:
            yield from _split(lines, comma=".csv" in path.suffixes)
    except (OSError, *DAMAGED_GZIP) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigurationError(
            f"Cannot read {path}: {reason}.", "Write the path of a URL table."
        ) from None


def _split(lines: TextIO, *, comma: bool) -> Iterator[list[str]]:
    """Split lines into cells; tab-separated tables have no quoting, as URLs may hold quotes."""
    if comma:
        yield from csv.reader(lines)
    else:
        yield from (line.rstrip("\r\n").split("\t") for line in lines)


def _usable(url: str) -> bool:
    return "." in url and len(url) <= LONGEST_URL


def _evaluated_code(text: str) -> str:
    return UNKNOWN if text.lower() in NO_LANGUAGE else language_code(text) or ""


def _trained_code(text: str) -> str:
    text = text.strip().lower()
    return UNKNOWN if text == UNKNOWN else language_code(text) or ""
