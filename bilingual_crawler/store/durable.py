"""Replaces files and folders atomically and durably: an old one stays until a new one is complete.

A rename is atomic for readers, but not for the disk: after a power loss the new name may lead to
a file without content. So first the content goes to disk, then the rename, then the folder with
the name.
"""

import gzip
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO, cast

from bilingual_crawler.errors import ConfigurationError, writing

NEW = ".new"
"""The suffix of a file that will replace another."""

ABOUT = "export.json"
"""The file in every exported folder that describes it and shows that it may be replaced."""
_PART, _OLD = ".part-", ".old-"
"""Prefixes, before the process id and the name, of new parts and of what they replace."""


@contextmanager
def replacing(target: Path, *, durable: bool = True) -> Iterator[Path]:
    """Provide a path to write to; it replaces `target` if no exception is raised.

    `durable=False` does not wait for the disk, for files that may be lost in a power loss.
    """
    fresh = target.with_name(target.name + NEW)
    fresh.unlink(missing_ok=True)  # left by a kill, or a link to elsewhere
    try:
        yield fresh
        put_in_place(fresh, target, durable=durable)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def put_in_place(fresh: Path, target: Path, *, durable: bool = True) -> None:
    """Rename a complete file or folder, after all of it has been written to disk."""
    if durable:
        sync(fresh)
    os.replace(fresh, target)  # noqa: PTH105 - the one place that renames
    if durable:
        sync_folder(target.parent)


def sync(path: Path) -> None:
    """Flush a file to disk, or a folder with everything in it."""
    if path.is_dir():
        for each in path.iterdir():
            if not each.is_symlink():
                sync(each)
        sync_folder(path)
        return
    with path.open("rb") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def replacing_file(target: Path) -> Iterator[Path]:
    """Provide a path to write to; it replaces `target` if no exception is raised."""
    if target.is_dir():
        raise ConfigurationError(f"{target} is a folder: choose a file with --out.")
    part = _beside(target)
    with writing(target):
        try:
            yield part
            put_in_place(part, target)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def replacing_folder(
    target: Path, why_not: str = "and is not an export: choose another folder with --out"
) -> Iterator[Path]:
    """Provide a new folder to fill; it replaces `target` if no exception is raised.

    A folder that is not an export is never touched; `why_not` says why, and what to do instead.
    If a kill comes between the two renames, the next export first puts the old folder back.
    """
    _tidy(target)
    if target.exists() and not _is_ours(target):
        raise ConfigurationError(f"{target} already exists {why_not}.")
    part = _beside(target)
    old = target.with_name(f"{_OLD}{os.getpid()}-{target.name}")
    with writing(target):
        try:
            part.mkdir()
            yield part
            sync(part)
            if target.exists():
                put_in_place(target, old, durable=False)
            put_in_place(part, target)
        finally:
            shutil.rmtree(part, ignore_errors=True)
            shutil.rmtree(old, ignore_errors=True)


def write_about(folder: Path, facts: dict[str, Any]) -> None:
    """Describe a folder in a file in it."""
    text = json.dumps(facts, ensure_ascii=False, indent=1)
    (folder / ABOUT).write_text(text + "\n", encoding="utf-8")


@contextmanager
def text_file(path: Path) -> Iterator[TextIO]:
    """Open a file for UTF-8 text, gzipped if its name ends with .gz."""
    with path.open("wb") as raw:
        if path.suffix != ".gz":
            with TextIOWrapper(raw, "utf-8", newline="\n") as text:
                yield text
            return
        packed = gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0)
        with packed, TextIOWrapper(cast("Any", packed), "utf-8", newline="\n") as text:
            yield text


def _beside(target: Path) -> Path:
    """Return a path in the same folder, for renaming, and with the same suffix."""
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        _tidy(target)
    return target.with_name(f"{_PART}{os.getpid()}-{target.name}")


def _tidy(target: Path) -> None:
    """Delete what killed exports to the same place left behind."""
    for prefix in (_OLD, _PART):
        for left in target.parent.glob(f"{prefix}*-{escape(target.name)}"):
            number = left.name.removeprefix(prefix).removesuffix(f"-{target.name}")
            if not number.isdecimal() or _is_running(int(number)):
                continue
            if prefix == _OLD and not target.exists():
                put_in_place(left, target)
            elif left.is_dir():
                shutil.rmtree(left)
            else:
                left.unlink()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _is_ours(folder: Path) -> bool:
    return folder.is_dir() and ((folder / ABOUT).is_file() or not any(folder.iterdir()))
