"""The definition of a topic: a file of weighted terms, read and checked as a whole.

A line has weight, term, subdomain and language, separated by tabs; a first line with these names
can set another order or leave some out. A line without a tab is just a term. The defaults are
weight 1, no subdomain and any language. # starts a comment line.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bilingual_crawler.config.checks import read_utf8
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import find_language
from bilingual_crawler.languages.stemming import stems_of

COLUMNS = ("weight", "term", "subdomain", "language")
MOST_PROBLEMS = 20
MOST_WORDS = 20
BETWEEN = ";"
"""The separator of terms in the `topic` attribute of XML, which no term may contain."""


@dataclass(frozen=True, slots=True)
class Term:
    """One or more words that indicate a topic; language None is any."""

    text: str
    weight: float = 1.0
    subdomain: str = ""
    language: str | None = None


def read_terms(file: Path) -> tuple[Term, ...]:
    """Return the terms of a file; a ConfigurationError reports all problems with their lines."""
    layout = f"It is a file with {', '.join(COLUMNS)} on each line, with tabs between them."
    text = read_utf8(file, f"The topic {file}", layout)
    terms: list[Term] = []
    problems: list[str] = []
    columns: Sequence[str] = COLUMNS
    for number, cells in _lines(text):
        if not terms and not problems and (named := _header(cells)):
            columns = named
            continue
        try:
            terms.append(_term(cells, columns))
        except ValueError as error:
            problems.append(f"{file}, line {number}: {error}")
    if not terms and not problems:
        problems.append(
            f"{file} has no terms: write one per line, as weight, term, subdomain and language"
            " with tabs between them, or just the term."
        )
    if problems:
        more = len(problems) - MOST_PROBLEMS
        if more > 0:
            problems[MOST_PROBLEMS:] = [f"And {more:,} more lines of {file} like these."]
        raise ConfigurationError(*problems)
    return tuple(terms)


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, [" ".join(cell.split()) for cell in line.split("\t")]


def _header(cells: Sequence[str]) -> tuple[str, ...]:
    names = tuple(cell.lower() for cell in cells)
    return names if "term" in names and set(names) <= set(COLUMNS) else ()


def _term(cells: list[str], columns: Sequence[str]) -> Term:
    while len(cells) > len(columns) and not cells[-1]:
        cells.pop()
    if len(cells) > len(columns):
        raise ValueError(f"there are {len(cells)} columns instead of {', '.join(columns)}.")
    if len(cells) == 1 and columns is COLUMNS:
        _refuse_spaces(cells[0])
        cells = ["", cells[0]]
    named = dict(zip(columns, cells, strict=False))
    text = named.get("term", "")
    words = len(stems_of(None).of(text))
    if not words:
        raise ValueError("there is no term: write one or more words in the column term.")
    if words > MOST_WORDS:
        raise ValueError(f"the term has {words} words, but {MOST_WORDS} is the maximum.")
    if BETWEEN in text:
        raise ValueError(f"the term {text!r} has a semicolon; write it without one.")
    subdomain = named.get("subdomain", "")
    return Term(text, _weight(named), subdomain, _language(named.get("language", "")))


def _refuse_spaces(line: str) -> None:
    first, _, rest = line.partition(" ")
    if rest and _is_number(first):
        raise ValueError(f"write a tab, not a space, after the weight {first}.")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _weight(named: Mapping[str, str]) -> float:
    text = named.get("weight", "")
    if not text:
        return 1.0
    weight = float(text) if _is_number(text) else math.nan
    if not 0 < weight < math.inf:
        raise ValueError(f"the weight must be a number above 0, not {text!r}.")
    return weight


def _language(text: str) -> str | None:
    if not text:
        return None
    return find_language(text).code
