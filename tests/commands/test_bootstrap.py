"""`scrapy bootstrap`, as it is typed."""

import json
import os
import sys

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings

from bilingual_crawler.config.plan import CrawlPlan
from bilingual_crawler.pairing.word_list import WordList
from tests.support import processes
from tests.support.crawling import ROOT
from tests.support.named_hosts import NamedHosts
from tests.support.typed_commands import status_of
from tests.support.wiki_world import WikiServer, write_dumps

BALLET = ("--topic", "Ballet", "--langs", "eng-spa")


@pytest.fixture
def bootstrap(capsys):
    """Run the command; its status, its output and its messages."""

    def run(*words):
        settings = Settings()
        with pytest.raises(SystemExit) as end:
            execute(["scrapy", "bootstrap", *map(str, words)], settings)
        printed = capsys.readouterr()
        return status_of(end.value), printed.out, printed.err

    return run


def test_the_files_are_those_that_a_crawl_reads(bootstrap, tmp_path):
    out = tmp_path / "out"
    status, printed, told = bootstrap(
        *BALLET, "--wikipedia", write_dumps(tmp_path), "--output", out
    )
    assert status == 0, told
    assert "4 categories and 12 articles of Ballet" in printed
    assert "12 terms (7 eng, 5 spa), 5 pairs of terms" in printed
    assert "8 seeds, 2 candidate sites" in printed
    lines = (out / "topic.tsv").read_text().splitlines()
    assert lines[0].startswith("#")
    assert lines[1] == "weight\tterm\tsubdomain\tlanguage"
    assert lines[2] == "100\tpointe shoe\tBallet\teng"
    assert len(WordList.read(out / "terms.tsv")) == 3, "of one word, and not the same"
    plan = CrawlPlan.from_arguments("eng-spa", seeds_file=out / "seeds.txt", output=tmp_path / "c")
    assert len(plan.seeds) == 8
    sites = [json.loads(line) for line in (out / "sites.jsonl").read_text().splitlines()]
    assert [site["site"] for site in sites] == ["example.org", "example.com"]
    plan = CrawlPlan.from_arguments(
        "eng-spa", seeds_file=out / "sites.jsonl", output=tmp_path / "c"
    )
    assert "https://example.org/es/ballet" in plan.seeds
    assert len(plan.seeds) == 4, "a page of each language"


def test_a_server_is_asked_under_our_own_name_with_a_contact(bootstrap, tmp_path):
    contact = "BILINGUAL_CONTACT=https://example.net/us"
    with WikiServer() as server:
        status, printed, told = bootstrap(
            *BALLET, "--wikipedia", server.url, "--delay", 0, "--output", tmp_path, "-s", contact
        )  # fmt: skip
    assert status == 0, told
    assert "8 seeds" in printed
    names = {name for _, _, name in server.asked}
    assert len(names) == 1
    assert names.pop().endswith("(+https://example.net/us)")


def test_a_topic_that_cannot_be_found_leaves_no_files(bootstrap, tmp_path):
    status, _, told = bootstrap(
        "--topic", "Balett", "--langs", "eng-spa",
        "--wikipedia", write_dumps(tmp_path), "--output", tmp_path / "out",
    )  # fmt: skip
    assert status != 0
    assert "did you mean Ballet" in told
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--langs", "eng-spa", "--output", "x"), "name a topic"),
        (("--topic", "Ballet", "--output", "x"), "name the two languages"),
        (BALLET, "name a folder for the files"),
        ((*BALLET, "--output", "x", "more"), "unknown argument more"),
        (("--topic", "B", "--langs", "eng-xyzzy", "--output", "x"), "There is no language"),
        ((*BALLET, "--output", "x", "--depth", "-1"), "not a whole number"),
        ((*BALLET, "--output", "x", "--wikipedia", "nowhere"), "neither a folder with dump files"),
        ((*BALLET, "--output", "x", "--wikipedia", "ftp://a.example/{lang}"), "not a web address"),
        ((*BALLET, "--output", "x", "--wikipedia", "https://a.example/api.php"), "one language"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(bootstrap, words, sentence):
    status, _, told = bootstrap(*words)
    assert status != 0
    assert sentence in told


def test_candidate_sites_are_visited_and_judged(tmp_path):
    english = "<p>The ballet opens its new season in October with a gala for the city.</p>" * 4
    spanish = "<p>El ballet abre su nueva temporada en octubre con una gala para la ciudad.</p>" * 4
    home, spain = "http://once.example.com/", "http://once.example.com/es"
    pages = {
        home: f'<html><body>{english}<a href="/es" hreflang="es">Español</a></body></html>',
        spain: f'<html><body>{spanish}<a href="{home}" hreflang="en">English</a></body></html>',
    }
    hosts = NamedHosts({url: page.encode() for url, page in pages.items()})
    words = [*BALLET, "--wikipedia", write_dumps(tmp_path), "--visit", 9, "--output", tmp_path]
    words += ["-s", "BILINGUAL_ALLOW_PRIVATE=1", "-s", "DOWNLOAD_DELAY=0", "-s", "RETRY_TIMES=0"]
    with hosts.served() as proxy:
        run = processes.run(
            [sys.executable, "-m", "scrapy", "bootstrap", *map(str, words)],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=os.environ | {"http_proxy": proxy, "https_proxy": proxy},
        )
    assert run.returncode == 0, run.stderr
    assert "2 visited; bilingual: " in run.stdout
    lines = (tmp_path / "sites.jsonl").read_text().splitlines()
    sites = {site["site"]: site for site in map(json.loads, lines)}
    assert sites["example.com"]["bilingual"] == "yes", run.stderr
    assert sites["example.com"]["entry_pages"] == {"eng": home, "spa": spain}
    assert sites["example.org"]["bilingual"] == "unsure", "it could not be reached"
    assert hosts.pages_of("once.example.com") == ["/", "/es"]
