"""The folders of several workers become one crawl, whatever was spread over them and how."""

import json
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bilingual_crawler.corpus.merging.merge import Merge, Rules
from bilingual_crawler.corpus.merging.parts import find_folders, open_parts
from bilingual_crawler.corpus.offline import Task, find_pairs
from bilingual_crawler.corpus.sources.reading import SourceReading
from bilingual_crawler.documents.document import Relevance
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.frontier.journaled import JournaledFrontier
from bilingual_crawler.languages import LanguagePair, parse_languages
from bilingual_crawler.pairing.lexicon import TranslationLexicon, lexicon_file
from bilingual_crawler.reporting.tally import Tally
from bilingual_crawler.store.folder import CrawlFolder
from tests.support import processes
from tests.support.corpus import PAIR, SITE, Crawl, files, page
from tests.support.crawling import documents, pairs, report
from tests.support.typed_commands import typed

RULES = Rules(pair_of=lambda _url: PAIR)


def folder_of(path, *pages, tidy=True):
    """The folder of a worker that has fetched some pages."""
    crawl = Crawl(path)
    crawl.add(*pages)
    crawl.close(tidy=tidy)
    return path


def merge(target, *folders, rules=RULES):
    with open_parts(find_folders(folders, target)) as parts:
        folder = CrawlFolder(target, parts[0].langs)
        try:
            return Merge(parts, folder, rules, lambda _share: None).run()
        finally:
            folder.close()


def both(number, **more):
    """A page and its translation."""
    texts = range(number * 3, number * 3 + 3)
    return (
        page(f"/es/{number}", "spa", *texts, alternates=[(f"/eu/{number}", "eus")], **more),
        page(f"/eu/{number}", "eus", *texts, alternates=[(f"/es/{number}", "spa")], **more),
    )


@pytest.fixture
def scrapy(capsys):
    """Run scrapy merge; its status or message, and what it printed."""

    def run(*words):
        status, out, _ = typed(capsys, "merge", *words)
        return status, out

    return run


def test_the_two_sides_of_a_pair_are_found_in_two_folders(tmp_path):
    spanish, basque = both(0)
    merged = merge(
        tmp_path / "all", folder_of(tmp_path / "a", spanish), folder_of(tmp_path / "b", basque)
    )
    assert files(tmp_path / "all") == (["/es/0", "/eu/0"], [("/es/0", "/eu/0")])
    assert (merged.pages, merged.repeated, merged.missing) == (2, 0, 0)
    assert dict(merged.documents) == {"spa": 1, "eus": 1}


def test_a_page_that_two_workers_fetched_is_there_once_with_its_longest_text(tmp_path):
    short, long = page("/a", "spa", 0, 1), page("/a", "spa", 0, 1, 2)
    for target, order in (("one", (short, long)), ("other", (long, short))):
        place = tmp_path / target
        merged = merge(
            place / "all", *(folder_of(place / str(n), each) for n, each in enumerate(order))
        )
        assert merged.repeated == 1
        assert files(place / "all") == (["/a"], [])
        assert [len(document["paragraphs"]) for document in documents(place / "all")] == [3]


def test_near_duplicates_of_two_workers_are_dropped_unless_they_are_paired(tmp_path):
    copy = page("/copy", "spa", *range(9, 14))
    original = page("/original", "spa", *range(9, 16))
    paired = page("/es/x", "spa", *range(9, 14), "Un párrafo suyo", alternates=[("/eu/x", "eus")])
    partner = page("/eu/x", "eus", *range(9, 14), alternates=[("/es/x", "spa")])
    merge(
        tmp_path / "all",
        folder_of(tmp_path / "a", copy, partner),
        folder_of(tmp_path / "b", original, paired),
    )
    stored, found = files(tmp_path / "all")
    assert stored == ["/es/x", "/eu/x", "/original"]
    assert found == [("/es/x", "/eu/x")]


def test_a_page_off_topic_is_kept_if_another_worker_has_its_translation_on_topic(tmp_path):
    on, off = Relevance(on_topic=True), Relevance(on_topic=False)
    spanish, basque = both(0)
    spanish.topic, basque.topic = on, off
    alone = page("/sola", "eus", 17, 18, 19, topic=off)
    neither = both(1, topic=off)
    merge(
        tmp_path / "all",
        folder_of(tmp_path / "a", spanish, neither[0]),
        folder_of(tmp_path / "b", basque, alone, neither[1]),
    )
    assert files(tmp_path / "all") == (["/es/0", "/eu/0"], [("/es/0", "/eu/0")])
    resumed = Crawl(tmp_path / "all")
    assert resumed.corpus.documents == {"spa": 1, "eus": 1}
    assert len(resumed.corpus.pairs) == 1
    resumed.close()


def test_crawls_of_one_language_are_merged_without_pairs(tmp_path):
    spanish = parse_languages("spa")
    for name, pages in (("a", (0, 1)), ("b", (1, 2))):
        crawl = Crawl(tmp_path / name, spanish)
        crawl.add(*(page(f"/{n}", "spa", 3 * n, 3 * n + 1, 3 * n + 2) for n in pages))
        crawl.close()
    merged = merge(
        tmp_path / "all",
        tmp_path / "a",
        tmp_path / "b",
        rules=Rules(pair_of=lambda _url: spanish),
    )
    assert files(tmp_path / "all") == (["/0", "/1", "/2"], [])
    assert merged.repeated == 1


@pytest.mark.parametrize("langs", ["all", "spa-*", "spa-eus-eng", "eus-eng"])
def test_the_words_of_languages_that_are_kept_are_kept(tmp_path, langs):
    worker = folder_of(tmp_path / "a", *both(0))
    learned = TranslationLexicon(("spa", "eus"), {("plaza", "enparantza"): 9.0}, SEEN)
    rules = replace(RULES, langs=parse_languages(langs), learned=(learned,))
    merge(tmp_path / "all", worker, rules=rules)
    assert (tmp_path / "all" / lexicon_file("spa-eus")).exists() == (langs != "eus-eng")


SEEN = ({"plaza": 9.0}, {"enparantza": 9.0})
PAGES = [
    *both(0),
    *both(1),
    page("/es/imprimir/0", "spa", 0, 1, 2),
    page("/es/larga", "spa", *range(6, 12)),
    page("/es/corta", "spa", *range(6, 11)),
    page("/sola", "eus", 17, 18, 19),
]


@settings(max_examples=6)
@given(st.lists(st.sets(st.integers(0, 2), min_size=1), min_size=len(PAGES), max_size=len(PAGES)))
def test_how_pages_were_spread_over_workers_makes_no_difference(spread):
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        merge(place / "expected", folder_of(place / "one", *PAGES))
        folders = [
            folder_of(
                place / f"worker-{worker}",
                *(each for each, workers in zip(PAGES, spread, strict=True) if worker in workers),
            )
            for worker in range(3)
        ]
        merged = merge(place / "all", *reversed(folders))
        assert files(place / "all") == files(place / "expected")
        assert pairs(place / "all") == pairs(place / "expected")
        assert merged.repeated == sum(len(workers) > 1 for workers in spread)


def test_a_merged_folder_is_a_crawl_that_can_go_on(tmp_path):
    spanish, basque = both(0)
    merge(
        tmp_path / "all",
        folder_of(tmp_path / "a", spanish, page("/copy", "spa", 0, 1, 2)),
        folder_of(tmp_path / "b", page("/other", "spa", *range(10, 15))),
    )
    going_on = Crawl(tmp_path / "all")
    assert going_on.corpus.documents == {"spa": 2}
    going_on.add(basque)
    going_on.close()
    assert files(tmp_path / "all") == (["/es/0", "/eu/0", "/other"], [("/es/0", "/eu/0")])


def test_redirects_and_sitemaps_of_all_workers_count(tmp_path):
    first, second = Crawl(tmp_path / "a"), Crawl(tmp_path / "b")
    first.add(page("/es/lista", "spa", 0, 1, alternates=[("/eu/zaharra", "eus")]))
    first.add(page("/mapa", "spa", 5, 6))
    second.add(page("/eu/zerrenda", "eus", 0, 1), page("/mapa-eu", "eus", 5, 6))
    second.corpus.alias(f"{SITE}/eu/zaharra", f"{SITE}/eu/zerrenda")
    second.corpus.declare([(f"{SITE}/mapa", ((f"{SITE}/mapa-eu", "eus"),))])
    for crawl in (first, second):
        crawl.close()
    merge(tmp_path / "all", tmp_path / "a", tmp_path / "b")
    assert files(tmp_path / "all")[1] == [("/es/lista", "/eu/zerrenda"), ("/mapa", "/mapa-eu")]


def test_documents_that_a_worker_had_given_up_or_put_aside_are_not_lost(tmp_path):
    short, long = page("/es/0", "spa", *range(5)), page("/larga", "spa", *range(6))
    short.alternates = both(0)[0].alternates
    untidy = folder_of(tmp_path / "a", short, long, tidy=False)
    partner = page("/eu/0", "eus", *range(5), alternates=[("/es/0", "spa")])
    merge(tmp_path / "all", untidy, folder_of(tmp_path / "b", partner))
    assert files(tmp_path / "all") == (["/es/0", "/eu/0", "/larga"], [("/es/0", "/eu/0")])


KILLED = """
import os, sys
from pathlib import Path
from tests.support.corpus import Crawl, page
crawl = Crawl(Path(sys.argv[1]))
crawl.add(page("/es/0", "spa", 0, 1, 2))
crawl.folder.journal.checkpoint(wait=True)
os.write(os.open(crawl.path / "documents.jsonl.gz", os.O_WRONLY | os.O_APPEND), b"half a line")
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_worker_that_was_killed_is_read_as_its_last_checkpoint_left_it(tmp_path):
    program = [sys.executable, "-c", KILLED, tmp_path / "a"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with processes.started(program, **pipes) as worker:
        assert worker.stdout.readline() == "ready\n"
        with pytest.raises(ConfigurationError, match="is being written: wait"):
            merge(tmp_path / "too-early", tmp_path / "a")
    before = {path.name: path.read_bytes() for path in (tmp_path / "a").glob("[!.]*[!m]")}
    merged = merge(tmp_path / "all", tmp_path / "a")
    assert files(tmp_path / "all") == (["/es/0"], [])
    assert merged.missing == 0
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "a").glob("[!.]*[!m]")}


def test_a_damaged_file_of_documents_is_told_and_the_rest_is_merged(tmp_path, scrapy):
    folder_of(tmp_path / "run" / "a", *both(0))
    folder_of(tmp_path / "run" / "b", page("/sola", "spa", 7, 8))
    broken = tmp_path / "run" / "b" / "documents.jsonl.gz"
    broken.write_bytes(b"\x00" * broken.stat().st_size)
    status, printed = scrapy(tmp_path / "run", "--into", tmp_path / "all", "--json")
    told = json.loads(printed)
    assert status == 0
    assert (told["missing_documents"], told["damaged_lines"], told["pairs"]) == (1, 1, 1)
    assert files(tmp_path / "all")[0] == ["/es/0", "/eu/0"]


def test_a_worker_that_never_began_is_told_and_left_out(tmp_path, scrapy):
    folder_of(tmp_path / "run" / "a", *both(0))
    (tmp_path / "run" / "b").mkdir()
    (tmp_path / "run" / "b" / "crawl.sqlite").touch()
    told = json.loads(scrapy(tmp_path / "run", "--into", tmp_path / "all", "--json")[1])
    assert (told["workers"], told["empty_folders"], told["pairs"]) == (1, 1, 1)
    message, _ = scrapy(tmp_path / "run" / "b", "--into", tmp_path / "none")
    assert "never began" in message


def test_inputs_are_left_as_they_were_even_where_nothing_can_be_written(tmp_path):
    source = folder_of(tmp_path / "a", *both(0))
    before = {path.name: path.read_bytes() for path in source.iterdir()}
    merge(tmp_path / "all", source)
    assert {path.name: path.read_bytes() for path in source.iterdir()} == before


def counted(path, outcomes, **stats):
    """A folder with a frontier of its own and some sums."""
    folder = CrawlFolder(path, str(PAIR))
    frontier = JournaledFrontier(folder.journal)
    Tally(folder.journal, lambda: {f"bilingual/{name}": n for name, n in stats.items()})
    for number, outcome in outcomes.items():
        frontier.push(number, f"{SITE}/{number}", "www.udala.example", 1.0)
        if outcome is not None:
            frontier.pop(10**9)
            frontier.end(number, State.DONE if outcome == "stored" else State.FAILED, outcome)
    folder.facts["finished"] = "yes"
    folder.close()
    return path


def test_sums_are_added_and_a_url_that_one_worker_has_done_is_done(tmp_path, scrapy):
    first = counted(tmp_path / "a", {1: "stored", 2: "timeout", 3: None}, pages=4, failed=1)
    second = counted(tmp_path / "b", {1: "timeout", 2: "stored", 4: "http_404"}, pages=5, failed=2)
    assert scrapy(first, second, "--into", tmp_path / "all")[0] == 0
    found = report(tmp_path / "all")
    assert (found["pages"], found["urls_failed"], found["runs"]) == (9, 3, 2)
    ended = {reason: each["count"] for reason, each in found["urls_ended"].items()}
    assert ended == {"stored": 2, "http_404": 1}
    assert (found["urls_known"], found["urls_waiting"], found["state"]) == (4, 1, "stopped")
    with sqlite3.connect(tmp_path / "all" / "crawl.sqlite") as journal:
        assert journal.execute("SELECT url FROM urls WHERE state = 0").fetchall() == [
            (f"{SITE}/3",)
        ]
    journal.close()


def test_the_merge_is_told_and_other_commands_read_it(tmp_path, scrapy):
    spanish, basque = both(0)
    folder_of(tmp_path / "run" / "a", spanish, basque)
    folder_of(tmp_path / "run" / "b", basque)
    status, printed = scrapy(tmp_path / "run", "--into", tmp_path / "all")
    assert status == 0
    assert "2 folders merged into" in printed
    assert "2 documents (1 spa, 1 eus), 1 pairs" in printed
    assert "1 pages were fetched by several workers and are kept once" in printed
    found = report(tmp_path / "all")
    assert [each["folder"] for each in found["merged_from"]] == ["a", "b"]
    assert found["pages_fetched_by_several"] == 1
    again = find_pairs(Task(inputs=(str(tmp_path / "all"),), reading=SourceReading(PAIR)))
    assert [(pair.first, pair.second) for pair in again.pairs] == [(spanish.url, basque.url)]


def test_warc_files_stay_or_are_copied_as_far_as_the_journal_vouches_for_them(tmp_path, scrapy):
    for name, size in (("a", 3), ("b", 5)):
        crawl = Crawl(tmp_path / "run" / name)
        crawl.folder.journal.record_size("crawl-00000.warc.gz", size)
        crawl.close()
        (tmp_path / "run" / name / "crawl-00000.warc.gz").write_bytes(name.encode() * 6)
    _, printed = scrapy(tmp_path / "run", "--into", tmp_path / "without")
    assert "2 WARC files left where they are (--warc copies them)" in printed
    assert not list((tmp_path / "without").glob("*.warc.gz"))
    scrapy(tmp_path / "run", "--into", tmp_path / "with", "--warc")
    copied = sorted((tmp_path / "with").glob("*.warc.gz"))
    assert [(path.name, path.read_bytes()) for path in copied] == [
        ("crawl-00000.warc.gz", b"aaa"),
        ("crawl-00001.warc.gz", b"bbbbb"),
    ]


def test_what_cannot_be_merged_is_refused_in_a_sentence(tmp_path, scrapy):
    ours = folder_of(tmp_path / "ours", page("/a", "spa", 0))
    CrawlFolder(tmp_path / "theirs", "eng-fra").close()
    (tmp_path / "empty").mkdir()
    into = ("--into", tmp_path / "all")
    assert "holds a crawl for spa-eus, and" in scrapy(ours, tmp_path / "theirs", *into)[0]
    assert "is named twice" in scrapy(ours, tmp_path / "ours" / ".", *into)[0]
    assert "There is no crawl in" in scrapy(tmp_path / "empty", *into)[0]
    assert "does not exist" in scrapy(tmp_path / "nothing", *into)[0]
    assert "is inside" in scrapy(ours, "--into", ours / "all")[0]
    refusal = "already exists and a merge needs a new folder: choose another one with --into."
    assert refusal in scrapy(ours, "--into", tmp_path / "theirs")[0]
    assert not (tmp_path / "all").exists()


def test_pages_in_other_languages_ask_for_the_settings_of_their_sites(tmp_path, scrapy):
    french = page("/fr", "spa", 0, 1)
    french.language = "fra"
    crawl = Crawl(tmp_path / "a", LanguagePair.parse("fra-eng"), str(PAIR))
    crawl.add(french)
    crawl.close()
    assert "--sites FILE" in scrapy(tmp_path / "a", "--into", tmp_path / "all")[0]
    sites = tmp_path / "sites.toml"
    sites.write_text('["www.udala.example"]\nlanguages = "fra-eng"\n')
    command = (tmp_path / "a", "--into", tmp_path / "all", "--sites", sites)
    assert scrapy(*command)[0] == 0
    assert report(tmp_path / "all")["documents"] == {"fra": 1}


def test_the_settings_of_the_workers_hold_and_must_agree(tmp_path, scrapy):
    alike = page("/a", "spa", 0, 1, 2, 3), page("/b", "spa", 0, 1, 2, 9)
    for name, each in zip("ab", alike, strict=True):
        folder_of(tmp_path / "run" / name, each)
        settings = {"settings": {"BILINGUAL_DUPLICATE_SHARE": 0.5}}
        (tmp_path / "run" / name / "crawl.json").write_text(json.dumps(settings))
    assert scrapy(tmp_path / "run", "--into", tmp_path / "all")[0] == 0
    assert files(tmp_path / "all")[0] == ["/a"]
    usual = ("-s", "BILINGUAL_DUPLICATE_SHARE=0.8")
    scrapy(tmp_path / "run", "--into", tmp_path / "usual", *usual)
    assert files(tmp_path / "usual")[0] == ["/a", "/b"]
    (tmp_path / "run" / "b" / "crawl.json").unlink()
    message = scrapy(tmp_path / "run", "--into", tmp_path / "third")[0]
    assert "different values of BILINGUAL_DUPLICATE_SHARE (0.5 and none)" in message
