"""The crawls and corpora below a folder, found without following links and without trusting them.

Anything may be in such a folder: what others sent, half of a copy, links to elsewhere. A folder
that cannot be shown is listed with the reason.
"""

import json
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.languages import language_of_tag
from bilingual_crawler.reporting.terminal import plain
from bilingual_crawler.store.folder import JOURNAL, OWN_NAMES, PAIRS, REPORT, RUN
from bilingual_crawler.store.journal import is_locked
from bilingual_crawler.store.sentence_pair import SENTENCES
from bilingual_crawler.web.report_file import (
    UnreadableReportError,
    checked_report,
    imported_sentences,
    made_of_files,
)

SIGNS = (REPORT, JOURNAL, PAIRS, SENTENCES, RUN)
"""A crawl folder has at least one of these files; the last one if its crawl has yet to begin."""
MAX_DEPTH = 4
"""Folders below folders that are looked into."""
MAX_LISTED = 500
MAX_ENTRIES = 50_000
"""Files and folders that are looked at, all together."""
READ_NAMES = (
    *OWN_NAMES,
    "pairs",
    "sentence",
    "search.",
    "concordance",
    "lexicon.",
    "labels.",
    "audit.",
)
"""Prefixes of the names of files that the pages read or write, and which must not be links."""
LOCK = "crawl.lock"
MAX_FIRST = 1 << 17
"""Bytes in which the first sentence pair of an imported corpus is looked for."""
GZIP = 31
"""zlib's code for a stream with a gzip header."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderCard:
    """What the list says about a folder."""

    key: str
    """Its path below the served folder, as one segment of a URL."""
    path: Path
    name: str
    state: str
    languages: tuple[str, ...] = ()
    pages: int | None = None
    documents: int | None = None
    pairs: int | None = None
    sentences: int | None = None
    """Sentence pairs of an imported corpus; a crawl does not know how many it has."""
    bytes: int = 0
    updated: str = ""
    problem: str = ""
    """Why it cannot be opened, or what is wrong with it."""

    @property
    def opens(self) -> bool:
        """Whether there is anything to open."""
        return self.state != "broken"


@dataclass(slots=True)
class FolderList:
    """The folders that were found, and whether there may be more."""

    cards: list[FolderCard] = field(default_factory=list)
    is_cut: bool = False


def key_of_path(path: Path) -> str:
    """Return a relative path as one segment of a URL; `path_of_key` is the way back."""
    return path.as_posix().replace("~", "~0").replace("/", "~1")


def path_of_key(key: str) -> Path:
    """Return the relative path of a key; raise a ValueError if it leads out of the folder."""
    parts = [part.replace("~0", "~") for part in key.split("~1")]
    if any(part in {"", ".", ".."} or "/" in part or "\0" in part for part in parts):
        raise ValueError("There is no such folder in the list.")
    return Path(*parts)


def resolve_key(root: Path, key: str) -> Path:
    """Return the folder of a key; raise a ConfigurationError if it cannot be opened."""
    try:
        relative = path_of_key(key)
    except ValueError as error:
        raise ConfigurationError(str(error)) from None
    place = root
    try:
        for part in relative.parts:
            place /= part
            if place.is_symlink():
                raise ConfigurationError(f"{relative} is reached by a link, which is not followed.")
        if len(relative.parts) > MAX_DEPTH or not place.is_dir():
            raise ConfigurationError(f"There is no folder {relative}.")
        entries = _entries(place, MAX_ENTRIES)
    except OSError as error:
        raise ConfigurationError(f"{relative} cannot be read: {error.strerror}.") from None
    if len(entries) >= MAX_ENTRIES:  # there may be links among those that were not read
        raise ConfigurationError(f"{relative} has {MAX_ENTRIES:,} files or more.")
    if entries.keys().isdisjoint(SIGNS):
        raise ConfigurationError(f"{relative} is not the folder of a crawl or corpus.")
    if problem := _objection(entries):
        raise ConfigurationError(problem)
    return place


def is_of_crawl(folder: Path) -> bool:
    """Return True for the folder of one crawl or corpus."""
    return any((folder / name).exists() for name in SIGNS)


def list_folders(root: Path) -> FolderList:
    """Return all crawls and corpora below a folder: running ones first, then the latest."""
    found = FolderList()
    left = MAX_ENTRIES
    waiting: list[tuple[Path, int]] = [(root, 0)]
    while waiting:
        place, depth = waiting.pop()
        if left <= 0 or len(found.cards) >= MAX_LISTED:
            found.is_cut = True
            break
        relative = place.relative_to(root)
        try:
            entries = _entries(place, left)
        except OSError as error:
            if depth:
                found.cards.append(_broken(relative, f"It cannot be read: {error.strerror}."))
            continue
        left -= len(entries)
        if depth and not entries.keys().isdisjoint(SIGNS):
            found.cards.append(_card(place, relative, entries))
            if found.cards[-1].state != "new":  # or else there may be the folders of workers
                continue
        for entry in _inside(entries):
            if entry.is_symlink():
                found.cards += _linked(relative / entry.name, entry)
            elif entry.is_dir(follow_symlinks=False) and depth < MAX_DEPTH:
                waiting.append((place / entry.name, depth + 1))
    found.cards.sort(key=lambda each: each.name)
    found.cards.sort(key=lambda each: each.updated, reverse=True)
    found.cards.sort(key=lambda each: (each.state != "running", each.state == "broken"))
    return found


def _entries(place: Path, most: int) -> dict[str, "os.DirEntry[str]"]:
    entries: dict[str, os.DirEntry[str]] = {}
    with os.scandir(place) as listed:
        for entry in listed:
            if len(entries) >= most:
                break
            entries[entry.name] = entry
    return entries


def _inside(entries: Mapping[str, "os.DirEntry[str]"]) -> Iterator["os.DirEntry[str]"]:
    """Yield what is in a folder and not hidden, the last name first."""
    yield from (entries[name] for name in sorted(entries, reverse=True) if name[0] != ".")


def _linked(relative: Path, entry: "os.DirEntry[str]") -> Iterator[FolderCard]:
    with suppress(OSError):
        if entry.is_dir():
            yield _broken(relative, "It is a symbolic link, which is not followed.")


def _broken(relative: Path, problem: str) -> FolderCard:
    return FolderCard(
        key=key_of_path(relative),
        path=relative,
        name=_shown(relative),
        state="broken",
        problem=problem,
    )


def _shown(relative: Path) -> str:
    return plain(relative.as_posix().encode("utf-8", "replace").decode())


def _objection(entries: Mapping[str, "os.DirEntry[str]"]) -> str:
    """Return why a folder is not opened; "" if nothing speaks against it."""
    for name in sorted(entries):
        if not name.startswith(READ_NAMES):
            continue
        if entries[name].is_symlink():
            return f"{plain(name)} is a symbolic link, which is not followed: put the file there."
        if name in {*SIGNS, LOCK} and not entries[name].is_file(follow_symlinks=False):
            return f"{name} is not a file."
    return ""


def _card(place: Path, relative: Path, entries: Mapping[str, "os.DirEntry[str]"]) -> FolderCard:
    try:
        str(relative).encode()
    except UnicodeEncodeError:
        return _broken(relative, "Its name is not UTF-8: rename it to open it.")
    if problem := _objection(entries):
        return _broken(relative, problem)
    size, latest = _size(entries)
    card = FolderCard(
        key=key_of_path(relative), path=relative, name=_shown(relative), state="new", bytes=size,
        updated=datetime.fromtimestamp(latest, UTC).isoformat(timespec="seconds"),
    )  # fmt: skip
    if REPORT not in entries:
        state = "unknown" if JOURNAL in entries else "imported"
        if entries.keys() & set(SIGNS) == {RUN}:
            state = "new"
        return replace(card, state=state, languages=_first_languages(place, entries))
    try:
        report = checked_report(place)
    except (OSError, UnreadableReportError) as error:
        said = getattr(error, "strerror", None) or str(error)
        return replace(card, state="unknown", problem=f"{REPORT} {said}.")
    return replace(card, **_reported(report), state=_state(place, report, entries))


def _first_languages(place: Path, entries: Mapping[str, "os.DirEntry[str]"]) -> tuple[str, ...]:
    """Return the languages of the first sentence pair: imported folders have no report."""
    if SENTENCES not in entries:
        return ()
    with suppress(OSError, ValueError, LookupError, TypeError, zlib.error, RecursionError):
        with (place / SENTENCES).open("rb") as file:
            packed = file.read(MAX_FIRST)
        text = zlib.decompressobj(GZIP).decompress(packed, MAX_FIRST)
        first = json.loads(text.partition(b"\n")[0])
        languages = [language_of_tag(str(first[name])) for name in ("lang1", "lang2")]
        return tuple(each.name for each in languages if each is not None)
    return ()


def _reported(report: Mapping[str, Any]) -> dict[str, Any]:
    documents = report.get("documents")
    figures = {
        "pages": report.get("pages"),
        "documents": None if documents is None else sum(documents.values()),
        "pairs": report.get("pairs"),
    }
    if made_of_files(report) == "imported" and not any(figures.values()):
        figures = {"sentences": imported_sentences(report)}
    return {
        "languages": tuple(each["name"][:60] for each in report.get("languages", [])[:8]),
        **figures,
        "updated": report.get("updated", "")[:40],
    }


def _state(
    place: Path, report: Mapping[str, Any], entries: Mapping[str, "os.DirEntry[str]"]
) -> str:
    """Return the state of a crawl: the lock says whether it runs, the report how it ended."""
    with suppress(OSError):
        if LOCK in entries and is_locked(place / JOURNAL):
            return "running"
    if made := made_of_files(report):
        return made
    state = report.get("state")
    if state == "running":
        return "silent"
    return state if state in {"stopped", "finished"} else "unknown"


def _size(entries: Mapping[str, "os.DirEntry[str]"]) -> tuple[int, float]:
    """Return the bytes of the files, and when the latest was changed."""
    size, latest = 0, 0.0
    for entry in entries.values():
        with suppress(OSError):
            found = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(found.st_mode):
                size, latest = size + found.st_size, max(latest, found.st_mtime)
    return size, min(latest, 253_402_300_000.0)
