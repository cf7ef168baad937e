"""A file that replaces another is on disk before and after the rename."""

import os
from pathlib import Path

import pytest

from bilingual_crawler.alignment.documents import write_sentences
from bilingual_crawler.commands.train_small import write_model
from bilingual_crawler.discovery.backlinks import open_index
from bilingual_crawler.reporting.report import write_report
from bilingual_crawler.store.durable import replacing, replacing_file, replacing_folder, write_about
from bilingual_crawler.store.folder import DOCUMENTS
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.store.marks import Marks
from tests.support.corpus import Crawl, page

ROOT = Path(__file__).parents[2]


class Disk:
    """Records the disk operations of a program in order: (operation, file or folder)."""

    def __init__(self, monkeypatch):
        self.calls = []
        for name in ("replace", "rename"):
            monkeypatch.setattr(os, name, self._renaming(getattr(os, name)))
        monkeypatch.setattr(os, "fsync", self._syncing(os.fsync))

    def _renaming(self, real):
        def rename(old, new, **options):
            folder = Path(new).parent.stat().st_ino
            self.calls.append(("rename", Path(old).stat().st_ino, folder, Path(new).name))
            real(old, new, **options)

        return rename

    def _syncing(self, real):
        def fsync(descriptor):
            self.calls.append(("sync", os.fstat(descriptor).st_ino))
            real(descriptor)

        return fsync

    def check(self, name):
        """Check that the content is flushed before the last rename, and the folder after it."""
        at = max(at for at, call in enumerate(self.calls) if call[0] == "rename" and name in call)
        _, content, folder, _ = self.calls[at]
        assert ("sync", content) in self.calls[:at], "the content was not on the disk"
        assert ("sync", folder) in self.calls[at:], "the name was not on the disk"


def rewrite(path):
    crawl = Crawl(path.parent)
    crawl.add(page("/a", "spa", "a"))
    crawl.folder.rewrite(DOCUMENTS, ["{}\n"])
    crawl.close(tidy=False)


def export_folder(path):
    for _ in range(2):
        with replacing_folder(path) as folder:
            write_about(folder, {})


def export_file(path):
    with replacing_file(path) as fresh:
        fresh.write_text("a")


def make_index(path):
    source = path.with_name("source.txt")
    source.write_text("a")
    open_index(path, [source], lambda _: 0).close()


WRITERS = {
    DOCUMENTS: rewrite,
    "crawl.json": lambda path: write_report(path, {}, durable=True),
    "sentences.jsonl.gz": lambda path: write_sentences(path, []),
    "labels.tsv": lambda path: Marks(path.parent).put("http://a.b/", "http://c.d/", good=True),
    "export.txt": export_file,
    "export": export_folder,
    "index": make_index,
    "model": lambda path: write_model(str(path), "a"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_content_and_name_are_on_the_disk(tmp_path, monkeypatch, name):
    disk = Disk(monkeypatch)
    WRITERS[name](tmp_path / name)
    disk.check(name)


def test_every_file_of_an_export_is_on_the_disk(tmp_path, monkeypatch):
    disk = Disk(monkeypatch)
    with replacing_folder(tmp_path / "export") as folder:
        (folder / "sub").mkdir()
        (folder / "sub" / "text").write_text("a")
        number = (folder / "sub" / "text").stat().st_ino
    assert ("sync", number) in disk.calls


def test_what_fails_leaves_the_old_file_and_no_other(tmp_path):
    target = tmp_path / "file"
    target.write_text("old")
    with pytest.raises(FileNotFoundError), replacing(target) as fresh:
        (fresh / "new").touch()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert target.read_text() == "old"


def test_a_commit_is_on_the_disk_before_a_file_is_renamed_on_its_word(tmp_path):
    journal = Journal(tmp_path / "crawl.sqlite")
    assert list(journal.read("PRAGMA synchronous")) == [(2,)]
    assert list(journal.read("PRAGMA journal_mode")) == [("wal",)]
    assert list(journal.read("PRAGMA trusted_schema")) == [(0,)]
    journal.close()


def test_files_are_renamed_in_one_place_alone():
    words = (".rename(", "os.rename", "os.replace", ".replace(path)", ".replace(target)")
    found = [
        f"{path.name}: {line.strip()}"
        for path in (ROOT / "bilingual_crawler").rglob("*.py")
        for line in path.read_text().splitlines()
        if any(word in line for word in words)
    ]
    assert len(found) == 1, found
