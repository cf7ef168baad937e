"""Accept and reject marks of document pairs: labels.tsv in the folder of the crawl.

A line has two URLs and 1 or 0, with tabs between them, which is what training reads. The
file is replaced as a whole with every mark, so that each pair stands there once; it may also
be edited by hand, and lines that are not understood are kept as they are.
"""

import threading
from pathlib import Path

from bilingual_crawler.store.durable import replacing

LABELS = "labels.tsv"
COLUMNS = 3
Key = tuple[str, str]


class MarkError(ValueError):
    """A mark that cannot be saved; the message says why."""


class Marks:
    """The marks of one folder; any thread may ask and change them."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LABELS
        self._lock = threading.Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._marks: dict[Key, bool] = {}
        self._others: list[str] = []

    def of(self, url1: str, url2: str) -> bool | None:
        """True for an accepted pair, False for a rejected one, None for one without a mark."""
        with self._lock:
            self._read()
            return self._marks.get((url1, url2))

    def all(self) -> dict[Key, bool]:
        """Every mark."""
        with self._lock:
            self._read()
            return dict(self._marks)

    def put(self, url1: str, url2: str, good: bool | None) -> None:
        """Accept or reject a pair, or take its mark away; it is on disk when this returns."""
        if any(set(url) & set("\t\r\n") or url.startswith("#") for url in (url1, url2)):
            raise MarkError("An address with a tab or a line break in it cannot be marked.")
        with self._lock:
            self._read()
            self._marks.pop((url1, url2), None)
            if good is not None:
                self._marks[url1, url2] = good
            self._write()

    def _read(self) -> None:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            self._stamp, self._marks, self._others = None, {}, []
            return
        stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
        if stamp == self._stamp:
            return
        self._stamp, self._marks, self._others = stamp, {}, []
        for line in self.path.read_text("utf-8", "surrogateescape").split("\n"):
            parts = line.rstrip("\r").split("\t")
            if len(parts) == COLUMNS and parts[2] in {"0", "1"}:
                self._marks[parts[0], parts[1]] = parts[2] == "1"
            elif line.strip():
                self._others.append(line)

    def _write(self) -> None:
        lines = [*self._others, *(f"{a}\t{b}\t{int(ok)}" for (a, b), ok in self._marks.items())]
        with (
            replacing(self.path) as fresh,
            fresh.open("x", encoding="utf-8", errors="surrogateescape", newline="\n") as file,
        ):
            file.writelines(f"{line}\n" for line in lines)
        self._stamp = None
