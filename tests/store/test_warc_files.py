"""WARC files: their sizes, and their state after a kill."""

import io
import itertools
import random
import subprocess
import sys

import pytest
from warcio.archiveiterator import ArchiveIterator

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.store.warc import Records, WarcFiles
from tests.support import processes
from tests.support.crawling import ROOT
from tests.support.warc import (
    ABOUT,
    LARGE,
    Archive,
    exchange,
    files_in,
    note_growth,
    read,
    urls_in,
)


def test_every_record_can_be_read_from_its_own_place(tmp_path):
    with Archive(tmp_path) as archive:
        archive.add(exchange(), exchange("http://b.example/"))
    data = files_in(tmp_path)[0].read_bytes()
    with io.BytesIO(data) as stream:
        records = ArchiveIterator(stream)
        places = [records.get_record_offset() for _ in records]
    assert len(places) == 5
    for place, end in itertools.pairwise([*places, len(data)]):
        assert len(read(data[place:end])) == 1


def test_a_file_begins_with_what_it_is(tmp_path):
    with Archive(tmp_path) as archive:
        archive.add(exchange())
    path = files_in(tmp_path)[0]
    first = read(path.read_bytes())[0]
    assert path.name == first.warc["WARC-Filename"] == "crawl-00000.warc.gz"
    assert first.warc["WARC-Type"] == "warcinfo"
    assert first.body == b"software: bilingual-crawler/test\r\nformat: WARC File Format 1.1\r\n"


def test_a_crawl_that_fetches_nothing_leaves_no_file(tmp_path):
    with Archive(tmp_path):
        pass
    assert files_in(tmp_path) == []


def test_a_new_file_is_begun_at_the_size_that_was_asked_for(tmp_path):
    urls = [f"http://a.example/{number}" for number in range(40)]
    bodies = [random.randbytes(1000) for _ in urls]
    with Archive(tmp_path, max_bytes=5000) as archive:
        archive.add(*(exchange(u, body=b) for u, b in zip(urls[:30], bodies, strict=False)))
        archive.add(*(exchange(u, body=b) for u, b in zip(urls[30:], bodies, strict=False)))
        sizes = {name: archive.journal.file_size(name) for name in archive.journal.file_names()}
    files = files_in(tmp_path)
    assert len(files) > 5
    assert [path.name for path in files] == [f"crawl-{n:05d}.warc.gz" for n in range(len(files))]
    assert all(5000 <= path.stat().st_size < 9000 for path in files[:-1])
    assert sizes == {path.name: path.stat().st_size for path in files}
    assert urls_in(tmp_path) == urls


def test_a_resumed_crawl_goes_on_in_the_last_file(tmp_path):
    for number in range(3):
        with Archive(tmp_path) as archive:
            archive.add(exchange(f"http://a.example/{number}"))
    assert len(files_in(tmp_path)) == 1
    assert urls_in(tmp_path) == [f"http://a.example/{number}" for number in range(3)]


def test_a_resumed_crawl_begins_a_file_when_the_last_is_full(tmp_path):
    for number in range(3):
        with Archive(tmp_path, max_bytes=100) as archive:
            archive.add(exchange(f"http://a.example/{number}"))
    assert len(files_in(tmp_path)) == 3
    assert urls_in(tmp_path) == [f"http://a.example/{number}" for number in range(3)]


def test_what_no_checkpoint_vouches_for_is_cut_and_deleted(tmp_path):
    with Archive(tmp_path) as archive:
        archive.add(exchange("http://a.example/kept"))
    kept = files_in(tmp_path)[0]
    length = kept.stat().st_size
    kept.write_bytes(kept.read_bytes() + Records(ABOUT).of(exchange("http://a.example/lost")))
    (tmp_path / "crawl-00001.warc.gz").write_bytes(b"half a rec")
    (tmp_path / "crawl-about.warc.gz").write_bytes(b"somebody else's")
    note_growth(tmp_path, "warc", 10_000)
    with Archive(tmp_path):
        assert kept.stat().st_size == length
    assert [path.name for path in files_in(tmp_path)] == [kept.name, "crawl-about.warc.gz"]


def test_what_no_kill_explains_is_moved_aside(tmp_path):
    with Archive(tmp_path) as archive:
        archive.add(exchange("http://a.example/kept"))
    kept = files_in(tmp_path)[0]
    length, more = kept.stat().st_size, Records(ABOUT).of(exchange("http://a.example/more"))
    kept.write_bytes(kept.read_bytes() + more)
    (tmp_path / "crawl-00001.warc.gz").write_bytes(more)
    with Archive(tmp_path) as archive:
        aside = {path.name: path.read_bytes() for path in archive.files.moved_aside}
    assert kept.stat().st_size == length
    assert aside == {f"cut-1-crawl-0000{number}.warc.gz": more for number in (0, 1)}


def test_without_its_journal_an_archive_is_moved_and_not_deleted(tmp_path):
    with Archive(tmp_path) as archive:
        archive.add(exchange())
    whole = files_in(tmp_path)[0].read_bytes()
    (tmp_path / "crawl.sqlite").unlink()
    with Archive(tmp_path) as archive:
        assert [path.read_bytes() for path in archive.files.moved_aside] == [whole]


def test_files_that_were_taken_away_when_full_are_not_missed(tmp_path):
    with Archive(tmp_path, max_bytes=100) as archive:
        archive.add(exchange("http://a.example/0"), exchange("http://a.example/1"))
    files_in(tmp_path)[0].unlink()
    with Archive(tmp_path) as archive:
        archive.add(exchange("http://a.example/2"))
    assert urls_in(tmp_path) == ["http://a.example/1", "http://a.example/2"]


def test_a_file_that_lost_its_end_is_an_error_that_names_it(tmp_path):
    with Archive(tmp_path) as archive:
        archive.add(exchange())
    path = files_in(tmp_path)[0]
    path.write_bytes(path.read_bytes()[:-1])
    journal = Journal(tmp_path / "crawl.sqlite")
    with pytest.raises(ConfigurationError, match=r"crawl-00000\.warc\.gz has \d+ bytes"):
        WarcFiles(tmp_path, journal, ABOUT, LARGE)
    journal.close()


def test_what_cannot_be_built_is_counted_and_told_once(tmp_path, caplog):
    broken = exchange("http://a.example/broken", arrived=float("inf"))
    good = [exchange(f"http://a.example/{number}") for number in range(2)]
    with Archive(tmp_path) as archive:
        archive.add(good[0], broken, exchange("http://[::1/"), good[1])
    assert (archive.files.written, archive.files.failed) == (2, 2)
    assert urls_in(tmp_path) == [each.url for each in good]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "http://a.example/broken" in caplog.text


WRITER = """
import random, sys, time
from pathlib import Path
from bilingual_crawler.store.warc import Exchange, WarcFiles
from bilingual_crawler.store.journal import Journal

class Numbers:
    new = []
    def changes(self):
        rows, self.new = self.new, []
        return [("INSERT INTO numbers VALUES (?)", rows)]

folder, numbers = Path(sys.argv[1]), Numbers()
journal = Journal(folder / "crawl.sqlite")
journal.define("CREATE TABLE IF NOT EXISTS numbers (number INTEGER)")
journal.attach(numbers)
journal.attach_sink(WarcFiles(folder, journal, {"software": "test"}, 100_000))
number = next(journal.read("SELECT max(number) FROM numbers"))[0] or 0
print("ready", flush=True)
while True:
    for _ in range(random.randrange(20)):
        number += 1
        numbers.new.append((number,))
        body = random.randbytes(random.randrange(4000))
        url = f"http://a.example/{number}"
        one = Exchange(url=url, arrived=time.time(), status=200, headers=(), body=body)
        journal.append("warc", one)
    journal.checkpoint()
    print(number, flush=True)
    time.sleep(0.001)
"""


def kill_a_writer(folder):
    command = [sys.executable, "-c", WRITER, str(folder)]
    with processes.started(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "ready\n"
        for _ in range(random.randint(2, 20)):
            writer.stdout.readline()


def test_after_any_kill_every_committed_record_is_there_once(tmp_path):
    counts: list[int] = []
    sizes: dict[str, int] = {}
    while len(counts) < 10 or len(sizes) < 2:  # a slow disk commits little before each kill
        kill_a_writer(tmp_path)
        with Archive(tmp_path) as archive:
            numbers = [n for (n,) in archive.journal.read("SELECT number FROM numbers")]
            sizes = {name: archive.journal.file_size(name) for name in archive.journal.file_names()}
        assert numbers == list(range(1, len(numbers) + 1))
        assert urls_in(tmp_path) == [f"http://a.example/{number}" for number in numbers]
        assert sizes == {path.name: path.stat().st_size for path in files_in(tmp_path)}
        assert not list(tmp_path.glob("cut-*"))
        counts.append(len(numbers))
    assert counts[0] < counts[-1]
