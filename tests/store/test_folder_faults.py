"""Crawl folders with missing or mismatched parts: nothing is thrown away."""

import gzip
import json
import os
import shutil
import sqlite3
from contextlib import closing

import pytest

from bilingual_crawler.corpus.merging.parts import CrawlPart
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.view import JournalView
from bilingual_crawler.reporting.summary import Ending, summary_text
from bilingual_crawler.store.folder import DOCUMENTS, HARVEST, PAIRS, CrawlFolder
from bilingual_crawler.store.journal import Journal
from tests.support.corpus import SITE, Crawl, page
from tests.support.crawling import crawl, documents, report
from tests.support.servers import serve_demo

COUNT = 60


def fill(path, first=0, last=COUNT):
    """A crawl of unrelated pages, left untidied."""
    filled = Crawl(path)
    filled.add(*(page(f"/{n}", "spa", f"page {n} of {path.name}") for n in range(first, last)))
    filled.close(tidy=False)
    return path


def content(path):
    """Return the bytes of all output files of a crawl."""
    return {name: (path / name).read_bytes() for name in HARVEST}


def refused(path, *words):
    """Check that a folder is refused with some words, and is unchanged."""
    before = content(path)
    with pytest.raises(ConfigurationError) as told:
        Crawl(path)
    assert content(path) == before
    assert not list(path.glob("cut-*"))
    for word in ("-a output=DIR", *words):
        assert word in str(told.value)


def change(path, *statements):
    with closing(sqlite3.connect(path / "crawl.sqlite", isolation_level=None)) as journal:
        for statement in statements:
            journal.execute(statement)


def test_without_its_journal_a_harvest_is_not_touched(tmp_path):
    folder = fill(tmp_path / "one")
    (folder / "crawl.sqlite").unlink()
    refused(folder, "is missing or empty", "documents.jsonl.gz")
    assert not (folder / "crawl.sqlite").exists(), "there is nothing in the way of a copy"
    assert len(documents(folder)) == COUNT


def test_an_empty_journal_has_no_say(tmp_path):
    folder = fill(tmp_path / "one")
    (folder / "crawl.sqlite").write_bytes(b"")
    refused(folder, "is missing or empty")


def test_a_journal_without_a_crawl_has_no_say(tmp_path):
    folder = fill(tmp_path / "one")
    (folder / "crawl.sqlite").unlink()
    Journal(folder / "crawl.sqlite").close()
    refused(folder, "has no crawl in it")


@pytest.mark.parametrize("pages", [COUNT // 4, COUNT, COUNT * 2])
def test_the_journal_of_another_crawl_has_no_say(tmp_path, pages):
    folder, other = fill(tmp_path / "one"), fill(tmp_path / "another", 0, pages)
    shutil.copy(other / "crawl.sqlite", folder)
    refused(folder, "crawl")


def test_a_damaged_journal_is_told_with_what_to_do(tmp_path):
    folder = fill(tmp_path / "one")
    (folder / "crawl.sqlite").write_bytes(b"no database at all" * 1000)
    refused(folder, "is damaged")


@pytest.mark.parametrize("size", ["-1", "'all'", "NULL", "1e300"])
def test_a_length_that_is_none_is_told(tmp_path, size):
    folder = fill(tmp_path / "one")
    change(
        folder,
        "DROP TABLE files",
        "CREATE TABLE files (name TEXT PRIMARY KEY, size)",
        f"INSERT INTO files VALUES ('{DOCUMENTS}', {size})",
    )
    refused(folder, "is damaged")


def test_what_an_old_journal_does_not_know_is_moved_aside(tmp_path, caplog):
    folder = fill(tmp_path / "one")
    shutil.copy(folder / "crawl.sqlite", tmp_path / "backup")
    fill(folder, COUNT, 2 * COUNT)
    whole = content(folder)
    shutil.copy(tmp_path / "backup", folder / "crawl.sqlite")
    resumed = Crawl(folder)
    (aside,) = resumed.folder.moved_aside
    assert aside.name == "cut-1-documents.jsonl.gz"
    assert content(folder)[DOCUMENTS] + aside.read_bytes() == whole[DOCUMENTS]
    with gzip.open(aside, "rt") as lines:
        cut = [json.loads(line)["url"].removeprefix(SITE) for line in lines]
    assert cut == [f"/{n}" for n in range(COUNT, 2 * COUNT)]
    assert str(aside) in caplog.text
    resumed.close()
    fill(folder, COUNT, 2 * COUNT)
    assert len(documents(folder)) == 2 * COUNT
    assert aside.exists()


def test_a_second_cut_does_not_write_over_the_first(tmp_path):
    folder = fill(tmp_path / "one")
    for number in (1, 2):
        with (folder / PAIRS).open("a") as file:
            file.write(f"more {number}\n")
        opened = Crawl(folder)
        assert [path.read_text() for path in opened.folder.moved_aside] == [f"more {number}\n"]
        opened.close(tidy=False)
    assert (folder / "cut-1-pairs.jsonl").read_text() == "more 1\n"


def test_the_summary_names_what_was_moved_aside(tmp_path):
    from tests.reporting.test_summary import counts  # noqa: PLC0415 - the counts of a small crawl

    ending = Ending(
        counts=counts(),
        pairs=[],
        folder=tmp_path,
        seconds=1.0,
        finished=True,
        stopped_why="",
        moved_aside=[tmp_path / "cut-1-documents.jsonl.gz"],
    )
    assert "cut-1-documents.jsonl.gz" in summary_text(ending)


@pytest.mark.parametrize("name", [*HARVEST, "crawl.sqlite", "crawl.lock", "crawl.log"])
def test_a_crawl_writes_through_no_link(tmp_path, name):
    folder, victim = tmp_path / "out", tmp_path / "victim"
    folder.mkdir()
    victim.write_text("precious")
    (folder / name).symlink_to(victim)
    with pytest.raises(ConfigurationError, match="symbolic link"):
        CrawlFolder(folder, "spa-eus")
    assert victim.read_text() == "precious"


def test_a_link_in_the_place_of_a_new_file_leads_nowhere(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    filled = Crawl(tmp_path / "out")
    filled.add(page("/a", "spa", "a"))
    (tmp_path / "out" / f"{DOCUMENTS}.new").symlink_to(victim)
    filled.folder.rewrite(DOCUMENTS, ["{}\n"])
    filled.close(tidy=False)
    assert victim.read_text() == "precious"


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, i FROM n"
PLANTED = {
    "view": ["ALTER TABLE facts RENAME TO old", f"CREATE VIEW facts(name, value) AS {ENDLESS}"],
    "trigger": ["CREATE TRIGGER t AFTER INSERT ON facts BEGIN DELETE FROM files; END"],
    "table": ["CREATE VIRTUAL TABLE v USING fts5(a)"],
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_journal_that_does_more_than_keep_rows_is_not_opened(tmp_path, kind):
    folder = fill(tmp_path / "one")
    change(folder, *PLANTED[kind])
    with pytest.raises(ConfigurationError, match=f"has a {kind} in it"):
        Crawl(folder)
    with pytest.raises(ConfigurationError, match=f"has a {kind} in it"):
        JournalView(folder)
    with pytest.raises(ConfigurationError, match=f"has a {kind} in it"):
        CrawlPart(folder, 0)


def after_power_loss(folder, name):
    """A file whose name reached the disk but whose content did not."""
    (folder / name).write_bytes(b"")


def test_a_harvest_that_lost_its_content_is_told(tmp_path):
    folder = fill(tmp_path / "one")
    after_power_loss(folder, DOCUMENTS)
    refused(folder, "has 0 bytes", "put the file back")


def test_a_rewrite_that_was_renamed_already_goes_on(tmp_path):
    folder = fill(tmp_path / "one")
    change(folder, f"INSERT OR REPLACE INTO facts VALUES ('rewrite {DOCUMENTS}', 'yes')")
    Crawl(folder).close(tidy=False)
    assert len(documents(folder)) == COUNT


def test_a_rewrite_that_was_not_renamed_yet_is_completed(tmp_path, monkeypatch):
    filled = Crawl(tmp_path)
    filled.add(*(page(f"/{n}", "spa", f"page {n}") for n in range(COUNT)))

    def power_loss(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", power_loss)
        with pytest.raises(KeyboardInterrupt):
            filled.folder.rewrite(DOCUMENTS, ['{"url": "a"}\n'])
    filled.folder.close(save=False)
    Crawl(tmp_path).close(tidy=False)
    assert documents(tmp_path) == [{"url": "a"}]


def test_a_lost_log_of_the_journal_loses_no_harvest(tmp_path):
    filled = Crawl(tmp_path / "one")
    filled.add(*(page(f"/{n}", "spa", f"page {n}") for n in range(COUNT)))
    filled.folder.journal.checkpoint(wait=True)
    shutil.copytree(tmp_path / "one", tmp_path / "copy")
    filled.close(tidy=False)
    (tmp_path / "copy" / "crawl.sqlite-wal").unlink()
    refused(tmp_path / "copy", "crawl.sqlite-wal")


@pytest.mark.crawl
def test_a_crawl_without_its_journal_ends_with_a_sentence(tmp_path):
    output = tmp_path / "out"
    with serve_demo(pages=12) as server:
        crawl(server.url, output)
        before = content(output)
        (output / "crawl.sqlite").unlink()
        printed = crawl(server.url, output, status=2)
    assert "its journal crawl.sqlite is missing" in printed
    assert "Traceback" not in printed
    assert content(output) == before


@pytest.mark.crawl
def test_a_crawl_with_an_empty_report_goes_on(tmp_path):
    output = tmp_path / "out"
    with serve_demo(pages=12) as server:
        crawl(server.url, output, settings={"CLOSESPIDER_PAGECOUNT": 4})
        after_power_loss(output, "crawl.json")
        crawl(server.url, output)
    assert report(output)["state"] == "finished"
