"""Files that take the place of others at once, and are still there after a power loss.

A rename alone is atomic for readers, not for the disk: after a power loss the new name may
lead to a file without content. So the content goes to the disk first, then the rename, then
the folder that holds the name.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NEW = ".new"
"""The ending of a file that is to take the place of another."""


@contextmanager
def replacing(target: Path, *, durable: bool = True) -> Iterator[Path]:
    """A path to write to; it takes the place of `target` if nothing is raised.

    `durable=False` does not wait for the disk: for what may be lost with the power.
    """
    fresh = target.with_name(target.name + NEW)
    fresh.unlink(missing_ok=True)  # what a kill left, or a link that leads elsewhere
    try:
        yield fresh
        put_in_place(fresh, target, durable=durable)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def put_in_place(fresh: Path, target: Path, *, durable: bool = True) -> None:
    """Rename a file or a folder that is complete; of a folder all files go to the disk."""
    if durable:
        sync(fresh)
    os.replace(fresh, target)  # noqa: PTH105 - the one place that renames
    if durable:
        sync_folder(target.parent)


def sync(path: Path) -> None:
    """Push a file to the disk, or a folder with everything in it."""
    if path.is_dir():
        for each in path.iterdir():
            if not each.is_symlink():
                sync(each)
        sync_folder(path)
        return
    with path.open("rb") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Push the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
