"""What users say about the pairs of a crawl: accepted or rejected, in tables beside the corpus.

The web page writes these tables, alignment and exports read them. A rejected pair is left out of
exports. A pair of sentences is known by its text, so a mark stays with it when the crawl is aligned
again, and holds for each of its copies.
"""

import threading
from pathlib import Path

from bilingual_crawler.store.durable import replacing

LABELS = "labels.tsv"
SENTENCE_LABELS = "sentence_labels.tsv"
COLUMNS = 3
REJECTED = "rejected"
"""What `dropped` says of a pair that a user rejected."""

Key = tuple[str, str]


class MarkError(ValueError):
    """A mark that cannot be saved; the message says why."""


class Marks:
    """Accept and reject marks of document pairs: labels.tsv in the folder of the crawl.

    A line has two URLs and 1 or 0, separated by tabs, which is what training reads. The whole
    file is replaced with every mark, so each pair is in it once. It may also be edited by hand:
    lines that are not understood are kept. Any thread may read and change the marks.
    """

    file = LABELS

    def __init__(self, folder: Path) -> None:
        self.path = folder / self.file
        self._lock = threading.Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._marks: dict[Key, bool] = {}
        self._others: list[str] = []

    def of(self, url1: str, url2: str) -> bool | None:
        """Return True for an accepted pair, False for a rejected one, None without a mark."""
        with self._lock:
            self._read()
            return self._marks.get((url1, url2))

    def all(self) -> dict[Key, bool]:
        """Return every mark."""
        with self._lock:
            self._read()
            return dict(self._marks)

    def put(self, url1: str, url2: str, good: bool | None) -> None:
        """Accept or reject a pair, or remove its mark; it is on disk when this returns."""
        self._check((url1, url2))
        with self._lock:
            self._read()
            self._marks.pop((url1, url2), None)
            if good is not None:
                self._marks[url1, url2] = good
            self._write()

    def _check(self, key: Key) -> None:
        if any(set(url) & set("\t\r\n") or url.startswith("#") for url in key):
            raise MarkError("A pair whose URL has a tab or a line break cannot be marked.")

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


class SentenceMarks(Marks):
    """Accept and reject marks of sentence pairs: sentence_labels.tsv, texts instead of URLs."""

    file = SENTENCE_LABELS

    def of(self, text1: str, text2: str) -> bool | None:
        """Return True for an accepted pair, False for a rejected one, None without a mark."""
        return super().of(_one_line(text1), _one_line(text2))

    def put(self, text1: str, text2: str, good: bool | None) -> None:
        """Accept or reject a pair, or remove its mark; it is on disk when this returns."""
        super().put(_one_line(text1), _one_line(text2), good)

    def _check(self, key: Key) -> None:
        """Accept any text: it is one line by now."""


class CorpusMarks:
    """The marks of a folder, read once."""

    def __init__(self, folder: Path) -> None:
        self._documents = Marks(folder).all()
        self._sentences = SentenceMarks(folder).all()

    def of_documents(self, url1: str, url2: str) -> bool | None:
        """Return the mark of a document pair, in either order of its pages."""
        found = self._documents
        return found.get((url1, url2), found.get((url2, url1))) if found else None

    def of_sentences(self, text1: str, text2: str) -> bool | None:
        """Return the mark of a sentence pair."""
        if not self._sentences:
            return None
        return self._sentences.get((_one_line(text1), _one_line(text2)))


def _one_line(text: str) -> str:
    return " ".join(text.split())
