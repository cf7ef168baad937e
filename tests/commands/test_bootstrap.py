"""`scrapy bootstrap`, as it is typed."""

import json

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings

from bilingual_crawler.config.plan import CrawlPlan
from bilingual_crawler.pairing.word_list import WordList
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
