"""Where an export goes: the old one stays until the new one is complete."""

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
from bilingual_crawler.store.durable import put_in_place, sync

ABOUT = "export.json"
"""In every folder that an export makes: what is in it, and that it may be replaced."""
_PART, _OLD = ".part-", ".old-"
"""Before the number of the process and the name: what grows, and what is being replaced."""


@contextmanager
def replacing_file(target: Path) -> Iterator[Path]:
    """A path to write to; it takes the place of `target` when all went well."""
    if target.is_dir():
        raise ConfigurationError(f"{target} is a folder: name a file with --out.")
    part = _beside(target)
    with writing(target):
        try:
            yield part
            put_in_place(part, target)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def replacing_folder(target: Path, option: str = "--out") -> Iterator[Path]:
    """A new folder to fill; it takes the place of `target` when all went well.

    A folder that no export made is never touched; `option` is how another one is named. After a
    kill between the two renames the old folder stands beside its place, and the next export puts
    it back first.
    """
    _tidy(target)
    if target.exists() and not _is_ours(target):
        raise ConfigurationError(
            f"{target} is there already and is not an export: name another folder with {option}."
        )
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
    """Say in a folder what it holds."""
    text = json.dumps(facts, ensure_ascii=False, indent=1)
    (folder / ABOUT).write_text(text + "\n", encoding="utf-8")


@contextmanager
def text_file(path: Path) -> Iterator[TextIO]:
    """A UTF-8 text to be written, gzipped if its name says so."""
    with path.open("wb") as raw:
        if path.suffix != ".gz":
            with TextIOWrapper(raw, "utf-8", newline="\n") as text:
                yield text
            return
        packed = gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0)
        with packed, TextIOWrapper(cast("Any", packed), "utf-8", newline="\n") as text:
            yield text


def _beside(target: Path) -> Path:
    """Where the new one grows: in the same folder, so that it can be renamed; same ending."""
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        _tidy(target)
    return target.with_name(f"{_PART}{os.getpid()}-{target.name}")


def _tidy(target: Path) -> None:
    """Clear away what exports to the same place left behind that were killed."""
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
