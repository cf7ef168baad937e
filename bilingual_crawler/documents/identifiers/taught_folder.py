"""A folder of taught languages: one JSON file per language, read as untrusted input.

A folder may come from someone else, so nothing in it is executed, everything is checked, and the
sizes are bounded. The text stays in the file: models are made from it in a moment, it can be
taught again with more text, and a reader sees what was learned.
"""

import json
import math
from pathlib import Path
from typing import Any

from bilingual_crawler.documents.identifiers.teaching import (
    LONGEST_TEXT,
    NearLanguage,
    TaughtLanguage,
    built_in_neighbours,
    clean_lines,
)
from bilingual_crawler.errors import ConfigurationError, writing
from bilingual_crawler.languages import find_language
from bilingual_crawler.store.durable import replacing_file

FORMAT = "taught language of bilingual-crawler, version 1"
ENDING = ".taught.json"
LARGEST_FILE = 20_000_000
MOST_LANGUAGES = 50
MOST_NEIGHBOURS = 40
REPAIR = "Teach it again with scrapy languages teach, or remove the file."


def read_taught(folder: str | Path) -> list[TaughtLanguage]:
    """Return the languages of a folder; a ConfigurationError says what is wrong with it."""
    place = Path(folder).expanduser()
    try:
        files = sorted(place.glob(f"*{ENDING}")) if place.is_dir() else None
    except OSError as error:
        raise ConfigurationError(f"{place} cannot be read: {error.strerror}.") from None
    if files is None:
        raise ConfigurationError(f"There is no folder {place} with taught languages.")
    if not files:
        raise ConfigurationError(
            f"{place} has no taught language (no file *{ENDING}): make one with"
            f" scrapy languages teach CODE --text FILE --out {place}."
        )
    if len(files) > MOST_LANGUAGES:
        raise ConfigurationError(
            f"{place} has {len(files)} taught languages; a crawl takes at most {MOST_LANGUAGES}."
        )
    return [_read(file) for file in files]


def file_of(folder: Path, code: str) -> Path:
    """Return the file of a language."""
    return folder / f"{code}{ENDING}"


def write_taught(folder: Path, taught: TaughtLanguage) -> Path:
    """Write a language into a folder, in place of what it has of it."""
    content = {
        "format": FORMAT,
        "code": taught.code,
        "name": find_language(taught.code).name,
        "threshold": round(taught.threshold, 4),
        "floor": round(taught.floor, 4),
        "recognised": round(taught.recognised, 4),
        "mistaken": {code: round(share, 4) for code, share in taught.mistaken.items()},
        "guesses": {code: round(share, 4) for code, share in taught.guesses.items()},
        "neighbours": {each.code: list(each.lines) for each in taught.neighbours},
        "text": list(taught.lines),
    }
    path = file_of(folder, taught.code)
    with writing(folder, "Choose another folder with --out FOLDER."):
        folder.mkdir(parents=True, exist_ok=True)
        with replacing_file(path) as part:
            part.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")
    return path


class _UnfitError(ValueError):
    """What is wrong with a file, as the end of a sentence."""


def _read(file: Path) -> TaughtLanguage:
    try:
        return _taught(json.loads(_bytes_of(file)))
    except _UnfitError as error:
        problem = str(error)
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    except (ValueError, RecursionError):
        problem = "is not JSON in UTF-8"
    raise ConfigurationError(f"{file} {problem}. {REPAIR}") from None


def _bytes_of(file: Path) -> bytes:
    with file.open("rb") as opened:
        content = opened.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise _UnfitError(f"is larger than {LARGEST_FILE // 1_000_000} MB")
    return content


def _taught(content: Any) -> TaughtLanguage:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise _UnfitError("was not written by scrapy languages teach")
    code = _code(content.get("code"))
    neighbours = content.get("neighbours")
    if not isinstance(neighbours, dict) or not 0 < len(neighbours) <= MOST_NEIGHBOURS:
        raise _UnfitError(f"must have 1 to {MOST_NEIGHBOURS} neighbours")
    found = tuple(NearLanguage(_code(each), _lines(text)) for each, text in neighbours.items())
    unknown = [
        each.code for each in found if not each.lines and each.code not in built_in_neighbours()
    ]
    lines = _lines(content.get("text"))
    if unknown or not lines:
        raise _UnfitError(f"has no text of {unknown[0] if unknown else code}")
    return TaughtLanguage(
        code,
        lines,
        found,
        _shares(content, "guesses"),
        _number(content, "threshold"),
        _number(content, "floor"),
        _number(content, "recognised"),
        _shares(content, "mistaken"),
    )


def _code(value: Any) -> str:
    try:
        code = find_language(value).code if isinstance(value, str) else None
    except ValueError:
        code = None
    if code is None or code != value:
        raise _UnfitError("has a code that is not in ISO 639-3")
    return code


def _lines(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise _UnfitError("must have texts as lists of lines")
    if sum(map(len, value)) > 2 * LONGEST_TEXT:
        raise _UnfitError("has a longer text than any that is written")
    return clean_lines(value)


def _number(content: dict[str, Any], name: str) -> float:
    value = content.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_sane(value):
        raise _UnfitError(f"must have a number as {name}")
    return float(value)


def _is_sane(value: float) -> bool:
    return math.isfinite(value) and abs(value) < 1e3  # noqa: PLR2004 - logarithms of one letter


def _shares(content: dict[str, Any], name: str) -> dict[str, float]:
    value = content.get(name)
    if not isinstance(value, dict) or len(value) > 2 * MOST_NEIGHBOURS:
        raise _UnfitError(f"must have a table of shares as {name}")
    return {str(each)[:10]: _number(value, each) for each in value}
