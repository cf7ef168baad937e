"""Which folders are merged: those that a user names, or those in a folder of workers."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from bilingual_crawler.corpus.merging.part import CrawlPart
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.folder import JOURNAL


def find_folders(given: Sequence[Path], target: Path) -> list[Path]:
    """The crawl folders behind the arguments, in an order that does not depend on theirs."""
    found: list[Path] = []
    for path in given:
        found += _crawls_in(path)
        if target.resolve().is_relative_to(path.resolve()):
            raise ConfigurationError(
                f"--into {target} lies in {path}, which is merged: name a folder outside of it."
            )
    folders = sorted(path.resolve() for path in found)
    for folder, following in pairwise(folders):
        if folder == following:
            raise ConfigurationError(f"{folder} is named twice: name every folder once.")
    return folders


def _crawls_in(path: Path) -> list[Path]:
    """A crawl folder itself, or the crawl folders in it."""
    if (path / JOURNAL).is_file():
        return [path]
    if not path.is_dir():
        problem = "is not a folder" if path.exists() else "does not exist"
        raise ConfigurationError(f"{path} {problem}: name the folders of crawls.")
    found = [each for each in path.iterdir() if (each / JOURNAL).is_file()]
    if not found:
        raise ConfigurationError(
            f"There is no crawl in {path} (no {JOURNAL}, and none in the folders in it): name "
            "the folders that were given as -a output=DIR, or the one that has them all."
        )
    return found


@contextlib.contextmanager
def open_parts(folders: Iterable[Path]) -> Iterator[list[CrawlPart]]:
    """All folders in which a crawl began, held against writers; of one pair of languages.

    A worker that was killed before its first checkpoint leaves a folder with nothing in it.
    """
    with contextlib.ExitStack() as held:
        opened = [held.enter_context(CrawlPart(folder, at)) for at, folder in enumerate(folders)]
        parts = [part for part in opened if part.langs]
        if not parts:
            raise ConfigurationError(
                f"There is nothing to merge: the crawl of {opened[0].path} never began."
            )
        for part in parts:
            if part.langs != parts[0].langs:
                raise ConfigurationError(
                    f"{parts[0].path} holds a crawl for {parts[0].langs}, and {part.path} one for "
                    f"{part.langs}: merge crawls of the same languages, in the same order."
                )
            if part.topic != parts[0].topic:
                raise ConfigurationError(
                    f"{parts[0].path} and {part.path} hold crawls for different topics: merge "
                    "crawls of one topic, or of none."
                )
        yield parts
