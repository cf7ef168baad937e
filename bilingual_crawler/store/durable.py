"""Replaces files atomically and durably.

A rename is atomic for readers, but not for the disk: after a power loss the new name may lead to
a file without content. So first the content goes to disk, then the rename, then the folder with
the name.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NEW = ".new"
"""The suffix of a file that will replace another."""


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
