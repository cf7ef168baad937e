"""The page with pictures: what is counted, and that every chart has its numbers behind it."""

import json
import re
from collections import Counter

import pytest

from bilingual_crawler.web.pictures import OTHERS, Pictures, language_layers, section_of
from bilingual_crawler.web.search.indexer import Indexer
from tests.support.web_folders import SITE, pair_line, small_crawl
from tests.support.web_server import running


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = small_crawl(tmp_path_factory.mktemp("pictures"))
    report = json.loads((folder / "crawl.json").read_text())
    report["forecast"] = {"pairs": [3, 4, 6], "pages": [8, 10, 12]}
    report["pairs_by_detector"] = {"images": 2, "almeida": 1, "<script>x": 1}
    (folder / "crawl.json").write_text(json.dumps(report))
    with running(folder) as server:
        yield server.ask("/pictures").text


def test_every_picture_has_a_name_and_a_table(page):
    pictures = page.count('role="img"')
    assert pictures == page.count('<details class="behind">') == 6
    for label in re.findall(r'role="img" aria-labelledby="([\w-]+)', page):
        assert f'id="{label}"' in page


def test_the_yield_has_its_forecast(page):
    assert "2 pairs in 5 pages; 3 to 6 are expected after 10" in page
    assert '<path class="fan"' in page
    assert "10 (forecast)" in page


def test_sections_have_their_pages_and_their_yields(page):
    table = page.split('<caption class="unseen">Sections')[1].split("</table>")[0]
    rows = re.findall(r"<bdi>(.*?)</bdi>.*?>(\d+)<.*?>(\d+)<", table)
    assert ("/es", "2", "2") in rows
    assert ("/en", "1", "0") in rows


def test_detectors_are_named_in_words_with_their_papers(page):
    assert "<title>same images: Papavassiliou et al. (2013)" in page
    assert "similar size and name: Almeida et al. (2002)" in page
    assert "<script>x" not in page


def test_a_section_is_the_first_two_folders():
    assert section_of(f"{SITE}/es/news/2020/a.html?b=c/d") == "/es/news"
    assert section_of(f"{SITE}/page") == "/"
    assert section_of(f"{SITE}/es/", with_host=True) == "www.example.org/es"
    assert section_of("http://[broken/x/y/") == "other sections"


def test_a_score_without_end_is_in_the_last_column(tmp_path):
    (tmp_path / "pairs.jsonl").write_text(pair_line(SITE, f"{SITE}/eu", score=1e308 * 10))
    indexer = Indexer(tmp_path)
    indexer.refresh()
    figures = Pictures(tmp_path, indexer.path).of("", {})
    indexer.close()
    assert figures.scores == [0] * 19 + [1]


def test_rare_languages_are_one_layer():
    bins = [Counter({name: 9 - at for at, name in enumerate("abcdefgh")})]
    merged, names = language_layers(bins)
    assert names == [*"abcde", OTHERS]
    assert merged[0][OTHERS] == 4 + 3 + 2
