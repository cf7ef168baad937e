"""What the journal vouches for after a kill at any moment."""

import gzip
import subprocess
import sys
import textwrap
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.files import AppendFile, GzipAppendFile
from bilingual_crawler.store.journal import FileEnd, Journal, JournalError, holding_off_writers
from bilingual_crawler.store.journal_tables import Facts, JournaledDict, JournaledRows, JournaledSet
from tests.support import processes


class Numbers:
    """A source with one row per number."""

    def __init__(self, journal):
        journal.define("CREATE TABLE IF NOT EXISTS numbers (n INTEGER PRIMARY KEY)")
        self.seen = [n for (n,) in journal.read("SELECT n FROM numbers ORDER BY n")]
        self.new = []
        journal.attach(self)

    def add(self, number):
        self.seen.append(number)
        self.new.append((number,))

    def changes(self):
        rows, self.new = self.new, []
        return [("INSERT INTO numbers VALUES (?)", rows)]


def reopen(folder):
    journal = Journal(folder / "crawl.sqlite")
    numbers = Numbers(journal)
    journal.attach_sink(AppendFile(folder / "out.txt", journal.file_end("out.txt")))
    return journal, numbers


def test_a_checkpoint_keeps_rows_and_lines_together(tmp_path):
    journal, numbers = reopen(tmp_path)
    for number in range(5):
        numbers.add(number)
        journal.append("out.txt", f"{number}\n")
    journal.close()
    journal, numbers = reopen(tmp_path)
    assert numbers.seen == list(range(5))
    assert (tmp_path / "out.txt").read_text().split() == list("01234")
    journal.close()


def test_lines_behind_the_last_checkpoint_are_cut_off(tmp_path):
    journal, _ = reopen(tmp_path)
    journal.append("out.txt", "kept\n")
    journal.close()
    with (tmp_path / "out.txt").open("a") as file:
        file.write("half a li")
    reopen(tmp_path)[0].close()
    assert (tmp_path / "out.txt").read_text() == "kept\n"


def test_a_file_that_lost_its_end_is_refused(tmp_path):
    journal, _ = reopen(tmp_path)
    journal.append("out.txt", "kept\n")
    journal.close()
    (tmp_path / "out.txt").write_text("k")
    journal = Journal(tmp_path / "crawl.sqlite")
    with pytest.raises(ConfigurationError, match="put the file back"):
        AppendFile(tmp_path / "out.txt", journal.file_end("out.txt"))
    journal.close()


def test_two_crawls_cannot_have_one_folder(tmp_path):
    journal, _ = reopen(tmp_path)
    with pytest.raises(ConfigurationError, match="Another crawl is running"):
        Journal(tmp_path / "crawl.sqlite")
    journal.close()
    reopen(tmp_path)[0].close()


def test_a_journal_of_another_version_is_refused(tmp_path):
    journal, _ = reopen(tmp_path)
    journal._connection.execute("PRAGMA user_version = 99")
    journal.close()
    with pytest.raises(ConfigurationError, match="another version"):
        Journal(tmp_path / "crawl.sqlite")


def test_facts_come_back(tmp_path):
    journal, _ = reopen(tmp_path)
    Facts(journal)["langs"] = "spa-eus"
    journal.close()
    journal, _ = reopen(tmp_path)
    assert Facts(journal)["langs"] == "spa-eus"
    assert Facts(journal).get("nothing", "yet") == "yet"
    journal.close()


def test_an_error_of_the_writer_shows_at_the_next_checkpoint(tmp_path):
    journal, numbers = reopen(tmp_path)
    numbers.add(1)
    numbers.new.append((1,))
    with pytest.raises(JournalError, match="UNIQUE"):
        journal.checkpoint(wait=True)
    with pytest.raises(JournalError):
        journal.checkpoint()
    journal.close()
    journal, numbers = reopen(tmp_path)
    assert numbers.seen == []
    journal.close()


def test_gzip_members_are_one_file(tmp_path):
    file = GzipAppendFile(tmp_path / "out.gz", FileEnd())
    for batch in (["a\n", "b\n"], ["c\n"]):
        file.append(batch)
    size = file.sync()["out.gz"]
    file.close()
    assert size == (tmp_path / "out.gz").stat().st_size
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == b"a\nb\nc\n"


WRITER = """
    import sys, time
    from pathlib import Path
    from tests.store.test_journal import reopen
    journal, numbers = reopen(Path(sys.argv[1]))
    print("ready", flush=True)
    while True:
        number = len(numbers.seen)
        numbers.add(number)
        journal.append("out.txt", f"{number}\\n")
        if number % 50 == 0:
            journal.checkpoint()
            print(number, flush=True)
            time.sleep(0.001)
"""


def test_rows_and_lines_agree_after_many_kills(tmp_path):
    reached = 0
    for kill in range(12):
        writer = processes.start(
            [sys.executable, "-c", textwrap.dedent(WRITER), str(tmp_path)],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        for _ in range(2 + 3 * kill):
            writer.stdout.readline()
        processes.end(writer)
        journal, numbers = reopen(tmp_path)
        assert numbers.seen == list(range(len(numbers.seen)))
        lines = (tmp_path / "out.txt").read_text().split()
        assert lines == [str(number) for number in numbers.seen]
        assert len(lines) >= reached
        reached = len(lines)
        journal.close()
        assert not list(tmp_path.glob("cut-*")), "a kill explains everything that it left"
    assert reached > 0


def test_a_journaled_set_is_read_back(tmp_path):
    schema = "CREATE TABLE IF NOT EXISTS seen (url TEXT PRIMARY KEY) WITHOUT ROWID;"
    with closing(Journal(tmp_path / "crawl.sqlite")) as journal:
        seen = JournaledSet(journal, "seen", schema)
        seen.add("a")
        seen.add("a")
        journal.checkpoint(wait=True)
        seen.add("b")
    with closing(Journal(tmp_path / "crawl.sqlite")) as journal:
        assert list(journal.read("SELECT url FROM seen")) == [("a",), ("b",)]
        assert "b" in JournaledSet(journal, "seen", schema)


def test_a_journaled_dict_saves_what_changed(tmp_path):
    schema = "CREATE TABLE IF NOT EXISTS sizes (name TEXT PRIMARY KEY, wide INT, high INT);"
    arguments: dict[str, Any] = {"key": str, "encode": tuple, "decode": lambda *size: size}
    with closing(Journal(tmp_path / "crawl.sqlite")) as journal:
        sizes: JournaledDict[str, tuple[int, ...]] = JournaledDict(
            journal, "sizes", schema, **arguments
        )
        sizes["a"] = (1, 2)
        sizes["b"] = (3, 4)
        journal.checkpoint(wait=True)
        sizes["a"] = (1, 2)
        assert not list(sizes.changes())
        sizes["a"] = (5, 6)
    with closing(Journal(tmp_path / "crawl.sqlite")) as journal:
        sizes = JournaledDict(journal, "sizes", schema, **arguments)
        assert dict(sizes.items()) == {"a": (5, 6), "b": (3, 4)}
        assert sizes.get("c") is None


def test_journaled_rows_are_written_once(tmp_path):
    with closing(Journal(tmp_path / "crawl.sqlite")) as journal:
        rows = JournaledRows(journal)
        rows.add("INSERT INTO facts VALUES (?, ?)", ("a", "1"), ("b", "2"))
        journal.checkpoint(wait=True)
        journal.checkpoint(wait=True)
        assert journal.fact("b") == "2"


def test_a_look_at_the_lock_does_not_keep_a_crawl_from_starting(tmp_path, monkeypatch):
    Journal(tmp_path / "crawl.sqlite").close()
    look = ExitStack()
    look.enter_context(holding_off_writers(tmp_path / "crawl.sqlite"))
    monkeypatch.setattr("bilingual_crawler.store.journal.time.sleep", lambda _: look.close())
    Journal(tmp_path / "crawl.sqlite").close()
