"""The sample site, crawled as a user crawls it: everything that is there, nothing else."""

import subprocess
import sys

import pytest

from bilingual_crawler.pairing.resources import DETECTORS
from demo import content
from tests.support.crawling import command, crawl, documents, pairs, report
from tests.support.servers import serve_demo

pytestmark = pytest.mark.crawl


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """One crawl of the sample site that many tests look at."""
    output = tmp_path_factory.mktemp("crawl") / "out"
    with serve_demo() as server:
        printed = crawl(server.url, output)
        yield server, output, printed


def test_every_pair_is_found_once_and_no_other(crawled):
    server, output, _ = crawled
    found = [(pair["url1"], pair["url2"]) for pair in pairs(output)]
    assert len(found) == len(set(found))
    expected = content.expected_pairs(server.url)
    assert expected <= set(found)
    assert set(found) <= expected | set(content.optional_pairs(server.url))


def test_pairs_are_written_as_urls_too(crawled):
    _, output, _ = crawled
    lines = (output / "pairs.tsv").read_text().splitlines()
    assert [line.split("\t") for line in lines] == [[p["url1"], p["url2"]] for p in pairs(output)]


def test_every_pair_has_languages_a_score_and_its_evidence(crawled):
    _, output, _ = crawled
    for pair in pairs(output):
        assert (pair["lang1"], pair["lang2"]) == ("spa", "eus")
        assert 0.5 <= pair["score"] <= 1
        assert all(item["why"] and item["detector"] for item in pair["evidence"])
    detectors = {item["detector"] for pair in pairs(output) for item in pair["evidence"]}
    assert detectors >= {"url_key", "alternates", "switches", "structure", "numbers", "almeida"}
    assert detectors <= set(DETECTORS)


def test_every_page_of_the_two_languages_is_stored_exactly_once(crawled):
    server, output, _ = crawled
    stored = [document["url"] for document in documents(output)]
    groups = content.storable_pages(server.url)
    assert {len(group & set(stored)) for group in groups} == {1}
    assert len(stored) == len(groups)


def test_what_must_not_be_asked_for_was_not(crawled):
    server, _, _ = crawled
    asked = {server.url.rstrip("/") + path for path in server.paths()}
    assert not asked & set(content.forbidden_urls(server.url))


def test_pages_in_latin_1_are_read_rightly_whatever_they_declare(crawled):
    _, output, _ = crawled
    latin = [each for each in documents(output) if each["encoding"] not in ("utf-8", "ascii")]
    assert latin
    for document in latin:
        text = " ".join(paragraph["text"] for paragraph in document["paragraphs"])
        assert "\ufffd" not in text
        assert "Ã" not in text
        assert "ñ" in text or "ó" in text


def test_the_report_accounts_for_every_url(crawled):
    _, output, _ = crawled
    told = report(output)
    assert told["langs"] == "spa-eus"
    assert told["state"] == "finished"
    ended = sum(reason["count"] for reason in told["urls_ended"].values())
    assert ended == told["urls_known"]
    assert told["urls_ended"]["stored"]["count"] == len(documents(output))
    assert told["pairs"] == len(pairs(output))


def test_a_finished_crawl_says_so_and_changes_nothing(crawled):
    server, output, _ = crawled
    before = {path.name: path.read_bytes() for path in output.glob("*.jsonl*")}
    asked = len(server.paths())
    printed = crawl(server.url, output)
    assert "finished" in printed
    assert {path.name: path.read_bytes() for path in output.glob("*.jsonl*")} == before
    assert len(server.paths()) == asked


def test_another_pair_of_languages_does_not_fit_into_the_folder(crawled):
    server, output, _ = crawled
    printed = crawl(server.url, output, langs="eng-eus", status=2)
    assert "holds a crawl for spa-eus" in printed
    assert "Traceback" not in printed


def test_the_crawl_needs_no_torch():
    code = "import sys, bilingual_crawler.addon; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_breadth_first_finds_the_same_pairs(tmp_path):
    with serve_demo() as server:
        crawl(server.url, tmp_path / "out", arguments={"scorer": "breadth_first"})
        found = {(pair["url1"], pair["url2"]) for pair in pairs(tmp_path / "out")}
        assert content.expected_pairs(server.url) <= found


def test_off_language_pages_can_be_dead_ends(tmp_path):
    with serve_demo() as server:
        settings = {"BILINGUAL_OFF_LANGUAGE": "discard"}
        crawl(server.url, tmp_path / "out", settings=settings)
        stored = {document["url"] for document in documents(tmp_path / "out")}
        assert stored
        assert server.url.rstrip("/") + content.BEHIND_ENGLISH not in stored


def test_the_rules_scorer_meets_pairs_sooner_than_breadth_first(tmp_path):
    """With half of the pages the rules have found more, or something is upside down."""
    found = {}
    for scorer in ("rules", "breadth_first"):
        with serve_demo(pages=40) as server:
            settings = {
                "CLOSESPIDER_PAGECOUNT": 70,
                "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
            }
            crawl(
                server.url,
                tmp_path / scorer,
                arguments={"scorer": scorer},
                settings=settings,
            )
            found[scorer] = len(pairs(tmp_path / scorer))
    assert found["rules"] > found["breadth_first"]


def test_the_command_is_the_one_of_the_documents():
    parts = command("https://www.example.org/", "out")
    assert parts[2:5] == ["scrapy", "crawl", "bilingual"]
