"""BILINGUAL_ALIGN: a crawl leaves the sentences of its pairs behind."""

import pytest

from bilingual_crawler.alignment.two_passes import align_folder
from bilingual_crawler.store.sentence_pair import read_sentences
from tests.support.crawling import crawl, kill, pairs, start
from tests.support.processes import wait_until
from tests.support.servers import serve_demo

pytestmark = pytest.mark.crawl


def test_a_crawl_aligns_its_sentences_when_it_ends(tmp_path):
    with serve_demo() as site:
        printed = crawl(
            site.url,
            tmp_path / "crawl",
            settings={"BILINGUAL_ALIGN": 1, "BILINGUAL_PROGRESS": "plain"},
        )
    file = tmp_path / "crawl" / "sentences.jsonl.gz"
    found = list(read_sentences(file))
    assert "sentence pairs" in printed
    assert {(each.url1, each.url2) for each in found} == {
        (each["url1"], each["url2"]) for each in pairs(tmp_path / "crawl")
    }
    align_folder(tmp_path / "crawl", tmp_path / "again.gz")
    assert (tmp_path / "again.gz").read_bytes() == file.read_bytes()


def test_a_crawl_that_is_killed_has_aligned_what_it_had(tmp_path):
    file = tmp_path / "crawl" / "sentences.jsonl.gz"
    soon = {
        "BILINGUAL_ALIGN": 1,
        "BILINGUAL_ALIGN_SECONDS": 0.2,
        "BILINGUAL_CHECKPOINT_SECONDS": 0.1,
    }
    with serve_demo(pages=60) as site:
        site.hold(after=80)
        process = start(site.url, tmp_path / "crawl", settings=soon)
        wait_until(lambda: file.exists() and len(list(read_sentences(file))) > 20, process)
        kill(process)
    assert len(list(read_sentences(file))) > 20
