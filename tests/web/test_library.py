"""Several crawls and corpora in one server: the list, and the way to each."""

import json
import os
import shutil
from pathlib import Path

import pytest

from bilingual_crawler.config.plan import holds_workers
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.store.sentence_pair import pair_id
from bilingual_crawler.web import library, library_pages
from bilingual_crawler.web.library import key_of_path, list_folders, path_of_key
from tests.support.processes import wait_until
from tests.support.web_folders import ATTACK, SITE, LiveCrawl, packed, sentence, small_crawl
from tests.support.web_server import running

MUSEO = pair_id(f"{SITE}/es/museo", f"{SITE}/eu/museo")
WRONG_TYPES = {
    "languages": "x", "state": ["running"], "updated": 5, "documents": [1], "pages": -3,
    "pairs": "many", "seconds": 1e308, "yield": [[1]], "urls_ended": {"dns": 1}, "settings": 3,
    "links_refused": {"offsite": {"count": "x"}}, "best_waiting": [1], "forecast": {"pairs": 1},
    "off_language": {"eng": None}, "explanation": 9, "stopped_why": {}, "started": None,
}  # fmt: skip


def report(folder, content):
    folder.mkdir(parents=True)
    (folder / "crawl.json").write_text(content)


@pytest.fixture(scope="module")
def crawls(tmp_path_factory):
    """Good folders and bad ones, and a secret outside."""
    place = tmp_path_factory.mktemp("place")
    outside = small_crawl(place / "outside")
    crawls = place / "crawls"
    small_crawl(crawls / "spa-eus")
    small_crawl(crawls / "group" / "second~one")
    (crawls / "memory").mkdir()
    (crawls / "memory" / "sentences.jsonl.gz").write_bytes(packed([sentence("x", 0, "a", "b")]))
    report(crawls / "types", json.dumps(WRONG_TYPES))
    report(crawls / "deep", "[" * 200_000)
    report(crawls / "cut", '{"pages": 3')
    report(crawls / "huge-number", '{"pages": ' + "9" * 5000 + "}")
    report(crawls / ATTACK.replace("/", ""), "{}")
    (crawls / "linked").symlink_to(outside)
    shutil.copytree(outside, crawls / "index-linked")
    (crawls / "index-linked" / "search.sqlite").symlink_to(outside / "crawl.sqlite")
    (crawls / "pipe").mkdir()
    os.mkfifo(crawls / "pipe" / "crawl.json")
    (crawls / os.fsdecode(b"name-\xff")).mkdir()
    (crawls / os.fsdecode(b"name-\xff") / "pairs.jsonl").touch()
    small_crawl(crawls / ".hidden")
    (crawls / "notes").mkdir()
    return crawls


@pytest.fixture(scope="module")
def web(crawls):
    with running(crawls) as server:
        yield server


def test_each_folder_is_listed_with_its_state_or_the_reason_why_it_is_not_opened(crawls):
    cards = {each.name: each for each in list_folders(crawls).cards}
    assert {name: each.state for name, each in cards.items() if each.opens} == {
        "spa-eus": "stopped", "group/second~one": "stopped", "memory": "imported",
        "types": "unknown", "deep": "unknown", "cut": "unknown", "huge-number": "unknown",
        ATTACK.replace("/", ""): "unknown",
    }  # fmt: skip
    assert cards["spa-eus"].languages == ("Spanish", "Basque")
    assert cards["memory"].languages == ("Spanish", "Basque")
    assert cards["spa-eus"].bytes > 10_000
    assert "not a report" in cards["cut"].problem
    assert "link" in cards["linked"].problem
    assert "search.sqlite is a symbolic link" in cards["index-linked"].problem
    assert cards["pipe"].problem == "crawl.json is not a file."
    assert "UTF-8" in next(each.problem for name, each in cards.items() if "name-" in name)


def test_an_imported_corpus_is_listed_with_its_sentence_pairs(tmp_path):
    known = {"seeds": [], "pages": 0, "documents": {}, "pairs": 0}
    report(
        tmp_path / "memory", json.dumps(known | {"import": {"written": {"sentence pairs": 858}}})
    )
    report(tmp_path / "odd", json.dumps(known | {"import": {"written": {"sentence pairs": "x"}}}))
    memory, odd = list_folders(tmp_path).cards
    assert (memory.sentences, memory.pages, memory.pairs) == (858, None, None)
    assert odd.sentences is None


def test_the_page_lists_all_of_them_and_runs_nothing(web):
    answer = web.ask("/")
    assert answer.status == 200
    assert 'href="/c/spa-eus/"' in answer.text
    assert 'href="/c/group~1second~0one/"' in answer.text
    assert 'href="/c/linked/"' not in answer.text
    assert "Spanish – Basque" in answer.text
    assert "<script>window" not in answer.text
    assert ".hidden" not in answer.text


@pytest.mark.parametrize("name", ["types", "deep", "cut", "huge-number", "memory"])
def test_a_damaged_report_breaks_no_page(web, name):
    for page in ("", "crawl", "pairs"):
        assert web.ask(f"/c/{name}/{page}").status == 200


def test_every_folder_has_its_own_pages(web, crawls):
    root = "/c/group~1second~0one"
    wait_until(lambda: "<mark>museo</mark>" in web.ask(f"{root}/?q=museo").text)
    assert f'action="{root}/"' in web.ask(f"{root}/").text
    pair = web.ask(f"{root}/pair/{MUSEO}")
    answer = web.post(f"{root}/pair/{MUSEO}/mark", {"csrf": pair.csrf, "mark": "accept"})
    assert answer.headers["Location"] == f"{root}/pair/{MUSEO}"
    assert (crawls / "group" / "second~one" / "labels.tsv").exists()
    assert not (crawls / "spa-eus" / "labels.tsv").exists()


@pytest.mark.parametrize(
    "key",
    [
        "linked",
        "index-linked",
        "..",
        "..~1outside",
        "nowhere",
        "notes",
        "~1etc",
        "pipe",
        "%00",
        "x" * 300,
    ],
)
def test_what_is_not_in_the_list_is_not_opened(web, crawls, key):
    before = (crawls.parent / "outside" / "crawl.sqlite").read_bytes()
    assert web.ask(f"/c/{key}/").status == 404
    assert not (crawls.parent / "outside" / "search.sqlite").exists()
    assert (crawls.parent / "outside" / "crawl.sqlite").read_bytes() == before


def test_a_key_leads_back_to_its_path():
    for path in ("a", "a/b", "a~b/c~1", "ñ /~"):
        assert path_of_key(key_of_path(Path(path))) == Path(path)


def test_the_workers_of_a_crawl_that_the_page_has_started_are_listed_too(tmp_path):
    crawl = tmp_path / "crawl"
    small_crawl(crawl / "host-1")
    (crawl / "crawl.run.json").write_text("{}")
    (crawl / "crawl.log").touch()
    states = {each.name: each.state for each in list_folders(tmp_path).cards}
    assert states == {"crawl": "new", "crawl/host-1": "stopped"}
    assert holds_workers(crawl)


def test_the_list_has_an_end(tmp_path, monkeypatch):
    for number in range(5):
        report(tmp_path / f"crawl{number}", "{}")
    report(tmp_path / "1" / "2" / "3" / "4" / "5", "{}")
    assert len(list_folders(tmp_path).cards) == 5  # the last one is too deep
    monkeypatch.setattr(library, "MAX_LISTED", 3)
    found = list_folders(tmp_path)
    assert (len(found.cards), found.is_cut) == (3, True)
    monkeypatch.setattr(library, "MAX_ENTRIES", 1)
    with pytest.raises(ConfigurationError, match="crawl0 has 1 files or more"):
        library.resolve_key(tmp_path, "crawl0")


def test_only_some_folders_stay_open_and_the_others_are_opened_again(tmp_path, monkeypatch):
    monkeypatch.setattr(library_pages, "MAX_OPEN", 1)
    small_crawl(tmp_path / "one")
    crawl = LiveCrawl(tmp_path / "two")
    crawl.save()
    with running(tmp_path) as web:
        for name in ("one", "two", "one"):
            assert web.ask(f"/c/{name}/").status == 200
        assert "running" in web.ask("/").text
    crawl.close()
