"""BILINGUAL_ALIGN: a crawl leaves the sentences of its pairs behind."""

import time

import pytest

from bilingual_crawler.alignment.two_passes import align_folder
from bilingual_crawler.store.sentence_pair import read_sentences
from tests.crawls import crawl, pairs, start
from tests.servers import serve_demo

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
    with serve_demo(pages=10_000, delay=0.05) as site:
        process = start(site.url, tmp_path / "crawl", settings=soon)
        stop = time.monotonic() + 300
        while not file.exists() and time.monotonic() < stop:
            assert process.poll() is None, process.communicate()[0]
            time.sleep(0.05)
        process.kill()
        process.communicate()
    assert len(list(read_sentences(file))) > 20
