"""A disk that is full or cannot be written stops a crawl with a sentence; mended, it goes on."""

import os
import resource
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from demo import content
from tests.support import processes
from tests.support.crawling import ROOT, command, crawl, documents, pairs, report
from tests.support.servers import serve_demo

crawls = pytest.mark.crawl
PAGES = 40
QUICK = {"BILINGUAL_SCORER": "rules", "BILINGUAL_CHECKPOINT_SECONDS": 0.1, "BILINGUAL_WARC": 1}


class SmallDisk(NamedTuple):
    """A file system that a process has for itself: nobody else sees it, and it ends with it."""

    folder: Path
    holder: int

    def seen_by(self, command):
        """A command for whom the disk is there."""
        return ["nsenter", f"--target={self.holder}", "--mount", "--wd", "--", *command]

    def grow(self, size):
        mount = ["mount", "-o", f"remount,size={size}", str(self.folder)]
        subprocess.run(self.seen_by(mount), check=True)

    def copied(self, path, to):
        """A copy of a folder on the disk, for us who do not see it."""
        shutil.copytree(f"/proc/{self.holder}/root{path}", to)
        return to


@contextmanager
def small_disk(folder, size, *options):
    """A real file system of a few kilobytes, where mounting one is allowed."""
    folder.mkdir()
    mount = shlex.join(
        ["mount", "-t", "tmpfs", "-o", ",".join([f"size={size}", *options]), "tmpfs", str(folder)]
    )
    holder = ["unshare", "--mount", "sh", "-c", f"{mount} && echo mounted && exec sleep infinity"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with processes.started(holder, cwd=ROOT, **pipes) as process:
        if process.stdout.readline() != "mounted\n":
            pytest.skip("a file system can be mounted by root alone")
        yield SmallDisk(folder, process.pid)


def run(arguments, *, file_size=None, cwd=ROOT):
    """A command to its end, which can be forbidden files above a size; its status and words."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))

    done = processes.run(
        arguments,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=limit if file_size is not None else None,
        env=os.environ | {"NO_COLOR": "1"},
    )
    return done.returncode, done.stdout


def is_whole(site, output):
    stored = [document["url"] for document in documents(output)]
    assert len(stored) == len(set(stored)) == len(content.storable_pages(site.url, PAGES))
    found = {(pair["url1"], pair["url2"]) for pair in pairs(output)}
    assert content.expected_pairs(site.url, PAGES) <= found
    assert report(output)["state"] == "finished"


def stored_pages(output):
    """How many pages the last checkpoint has."""
    with closing(sqlite3.connect(output / "crawl.sqlite")) as journal:
        rows = journal.execute("SELECT count(*) FROM urls WHERE outcome = 'stored'")
        return rows.fetchone()[0]


def stopped_with_a_sentence(status, printed):
    assert status == 1, printed
    assert "cannot be written: " in printed
    assert "Everything up to the last checkpoint is kept" in printed
    assert printed.count("The crawl stops") == 1
    assert "Traceback" not in printed


@crawls
def test_a_full_disk_stops_a_crawl_that_goes_on_when_there_is_room(tmp_path):
    with serve_demo(pages=PAGES) as site, small_disk(tmp_path / "disk", "400k") as disk:
        output = disk.folder / "out"
        log = {"LOG_FILE": str(disk.folder / "crawl.log")}
        status, printed = run(disk.seen_by(command(site.url, output, settings=QUICK | log)))
        stopped_with_a_sentence(status, printed)
        assert "The log cannot be written: No space left on device." in printed
        disk.grow("100m")
        # its files may end in the middle of a line
        assert stored_pages(disk.copied(output, tmp_path / "stopped")) > 0
        status, printed = run(disk.seen_by(command(site.url, output, settings=QUICK)))
        assert status == 0, printed
        is_whole(site, disk.copied(output, tmp_path / "finished"))


@crawls
def test_a_file_that_may_not_grow_stops_a_crawl_that_goes_on_when_it_may(tmp_path):
    output = tmp_path / "out"
    with serve_demo(pages=PAGES) as site:
        status, printed = run(command(site.url, output, settings=QUICK), file_size=320_000)
        stopped_with_a_sentence(status, printed)
        assert report(output)["state"] != "finished"
        crawl(site.url, output, settings=QUICK)
        is_whole(site, output)


@pytest.mark.parametrize("size", [1_000, 100_000])  # no room for the journal, or for its tables
def test_a_disk_that_is_full_from_the_beginning_is_told_before_anything_is_fetched(tmp_path, size):
    status, printed = run(command("https://example.org/", tmp_path / "out"), file_size=size)
    assert status == 2
    assert f"{tmp_path / 'out'} cannot be written: " in printed
    assert "choose another folder" in printed
    assert "Traceback" not in printed


def test_a_read_only_disk_is_told_before_anything_is_fetched(tmp_path):
    with small_disk(tmp_path / "disk", "1m", "ro") as disk:
        status, printed = run(disk.seen_by(command("https://example.org/", disk.folder / "out")))
    assert status == 2
    assert "cannot be written (Read-only file system: " in printed
    assert "Traceback" not in printed


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    output = tmp_path_factory.mktemp("finished") / "out"
    with serve_demo() as site:
        crawl(site.url, output, settings=QUICK | {"BILINGUAL_ALIGN": 1})
    return output


@crawls
@pytest.mark.parametrize(
    "arguments", [["align"], ["export", "--to", "tmx", "--out", "memory.tmx"]], ids=lambda a: a[0]
)
def test_other_commands_say_so_too_and_leave_nothing_half_done(finished, tmp_path, arguments):
    before = {path: path.stat().st_size for path in finished.iterdir()}
    name, *options = arguments
    words = [sys.executable, "-m", "scrapy", name, str(finished), *options]
    status, printed = run(words, file_size=2000, cwd=tmp_path)
    assert status == 2, printed
    assert "cannot be written: File too large." in printed
    assert "Traceback" not in printed
    assert {path: path.stat().st_size for path in finished.iterdir()} == before
    assert list(tmp_path.iterdir()) == []
