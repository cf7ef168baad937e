"""Whole crawls with a topic, for two languages and for one."""

import json

import pytest

from bilingual_crawler.errors import ConfigurationError
from tests.support.crawling import documents, pairs, report
from tests.support.scoring import crawl_site
from tests.support.topic import KEPT, ON_TOPIC, PAGES, PAIRED, TOPIC, harbour_site

pytestmark = pytest.mark.crawl
SPANISH = {path for path in PAGES if PAGES[path].language == "spa"}
WARC = {"BILINGUAL_WARC": True}


def path(url):
    return "/" + url.split("/", 3)[3]


def kept(output):
    return {path(each["url"]): each for each in documents(output)}


def paired(output):
    return {(path(pair["url1"]), path(pair["url2"])) for pair in pairs(output)}


@pytest.fixture(scope="module")
def topic(tmp_path_factory):
    file = tmp_path_factory.mktemp("topic") / "topic.tsv"
    file.write_text(TOPIC)
    return file


@pytest.fixture(scope="module")
def crawled(tmp_path_factory, topic):
    """A crawl for two languages, as the paper does it."""
    output = tmp_path_factory.mktemp("crawl") / "two"
    with harbour_site() as site:
        outcome = crawl_site(site, output, "ilsp", {"topic": topic}, **WARC)
        yield output, outcome


@pytest.fixture(scope="module")
def alone(tmp_path_factory, topic):
    """A crawl for one language, with the scorer that such a crawl has by itself."""
    output = tmp_path_factory.mktemp("crawl") / "one"
    with harbour_site() as site:
        yield output, crawl_site(site, output, None, {"langs": "spa", "topic": topic})


def test_pages_on_topic_and_their_translations_are_kept(crawled):
    output, _ = crawled
    assert set(kept(output)) == KEPT
    assert {url for url, each in kept(output).items() if each["topic"]["on_topic"]} == ON_TOPIC


def test_a_pair_off_topic_is_no_pair_of_the_crawl(crawled):
    output, _ = crawled
    assert paired(output) == PAIRED


def test_pages_off_topic_give_links_all_the_same(crawled):
    output, outcome = crawled
    assert set(outcome.asked) == set(PAGES)
    assert "/es/lonja" in kept(output)  # which only a page off topic links to


def test_what_is_said_to_be_on_topic_is_fetched_first_and_translations_before_that(crawled):
    _, outcome = crawled
    assert outcome.asked[:3] == ["/", "/es/puerto", "/eu/portua"]


def test_the_documents_say_why_they_are_on_topic(crawled):
    output, _ = crawled
    found = kept(output)["/es/puerto"]
    assert [term["term"] for term in found["topic"]["terms"]] == [
        "puerto",
        "barco de pesca",
        "lonja",
    ]
    assert found["topic"]["score"] == 3 * (10 + 6) + 5 * 2 + 3 * 2
    assert list(found["topic"]["subdomains"]) == ["mar", "pesca"]
    assert [each["topic"] for each in found["paragraphs"] if "topic" in each] == [
        ["puerto"],
        ["barco de pesca", "puerto", "lonja"],
        ["puerto", "barco de pesca", "lonja"],
    ]


def test_the_report_counts_what_was_off_topic(crawled):
    output, outcome = crawled
    told = report(output)
    assert told["topic_terms"] == 5
    assert told["harvest"] == "pairs"
    assert told["urls_ended"]["off_topic"]["count"] == outcome["urls/off_topic"] == 3
    assert "not about the topic" in told["urls_ended"]["off_topic"]["meaning"]


@pytest.mark.parametrize("scorer", ["rules", "breadth_first"])
def test_the_scorer_decides_the_order_and_not_what_is_kept(tmp_path, topic, scorer):
    with harbour_site() as site:
        crawl_site(site, tmp_path / "out", scorer, {"topic": topic})
    assert set(kept(tmp_path / "out")) == KEPT
    assert paired(tmp_path / "out") == PAIRED


def test_a_crawl_that_was_stopped_ends_as_if_it_had_not_been(tmp_path, topic):
    output = tmp_path / "out"
    with harbour_site() as site:
        asked = []
        for limit in (4, 6, 0):
            settings = {"CLOSESPIDER_PAGECOUNT": limit}
            asked += crawl_site(site, output, "rules", {"topic": topic}, **settings).asked
    assert sorted(asked) == sorted(PAGES)
    assert set(kept(output)) == KEPT
    assert paired(output) == PAIRED
    assert report(output)["pairs"] == len(PAIRED)
    assert report(output)["runs"] == 3


def test_a_crawl_does_not_go_on_with_another_topic(crawled, tmp_path):
    output, _ = crawled
    other = tmp_path / "other.tsv"
    other.write_text("puerto\nbarco\n")
    with harbour_site() as site:
        for arguments in ({}, {"topic": other}):
            with pytest.raises(ConfigurationError, match="holds a crawl for another topic"):
                crawl_site(site, output, "ilsp", arguments)
        assert site.asked == []


def test_a_topic_with_too_few_terms_for_any_page_is_refused(tmp_path):
    file = tmp_path / "few.tsv"
    file.write_text("1\tpuerto\t\tspa\n")
    with harbour_site() as site, pytest.raises(ConfigurationError) as caught:
        crawl_site(site, tmp_path / "out", "ilsp", {"topic": file})
    assert "1 in Spanish and 0 in Basque: BILINGUAL_TOPIC_TERMS=1 wants more" in str(caught.value)


def test_terms_in_one_language_are_enough_for_a_pair(tmp_path):
    file = tmp_path / "spanish.tsv"
    file.write_text("".join(f"1\t{term}\t\tspa\n" for term in ("puerto", "lonja", "pesca")))
    with harbour_site() as site:
        crawl_site(site, tmp_path / "out", "rules", {"topic": file})
    assert paired(tmp_path / "out") == PAIRED


def test_one_language_alone_is_kept_and_nothing_is_paired(alone):
    output, outcome = alone
    assert set(kept(output)) == ON_TOPIC & SPANISH
    assert pairs(output) == []
    assert outcome["urls/off_language"] >= 2


def test_the_report_of_one_language_is_about_documents(alone):
    output, _ = alone
    told = report(output)
    assert told["langs"] == "spa"
    assert told["harvest"] == "documents"
    assert told["state"] == "finished"
    assert told["yield"][-1] == [told["pages"], 3]
    assert told["explanation"] == []


def test_one_language_needs_no_topic(tmp_path):
    with harbour_site() as site:
        crawl_site(site, tmp_path / "out", None, {"langs": "Spanish"})
    texts = {PAGES[url].text for url in kept(tmp_path / "out")}
    assert set(kept(tmp_path / "out")) <= SPANISH
    assert texts == {PAGES[url].text for url in SPANISH}
    assert json.loads((tmp_path / "out" / "crawl.json").read_text())["topic_terms"] == 0
