"""Sites ranked by what they gave: hand-computed counts, and what hostile addresses may not do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.discovery.productive_sites import SiteRanking, seed_lines
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.urls.addresses import read_address, read_lines

PAIR = LanguagePair.parse("spa-eus")


@pytest.fixture
def ranking():
    return SiteRanking(PAIR)


def names(ranking):
    return [site.site for site in ranking.ranked()]


def test_sites_are_ranked_by_their_different_pages_in_pairs(ranking):
    for number in range(3):
        ranking.add_pair("https://a.example/es/1", "https://a.example/eu/1", 10)
        ranking.add_pair(f"https://b.example/es/{number}", f"https://b.example/eu/{number}", 1)
    assert names(ranking) == ["b.example", "a.example"]
    second, first = ranking.ranked()[::-1]
    assert (len(first.pages), first.sentences) == (6, 3)
    assert (len(second.pages), second.sentences) == (2, 30)


def test_sentences_decide_between_equally_many_pages(ranking):
    ranking.add_pair("https://a.example/es", "https://a.example/eu", 1)
    ranking.add_pair("https://b.example/es", "https://b.example/eu", 5)
    assert names(ranking) == ["b.example", "a.example"]


def test_a_pair_of_two_domains_counts_for_both_and_once_each(ranking):
    ranking.add_pair("https://example.es/x", "https://example.eus/x", 4)
    assert [(site.site, len(site.pages), site.sentences) for site in ranking.ranked()] == [
        ("example.es", 1, 4),
        ("example.eus", 1, 4),
    ]


def test_a_site_of_a_list_counts_as_much_as_its_smaller_language(ranking):
    for language, number in (("spa", 50), ("eus", 3), ("eng", 70)):
        for page in range(number):
            ranking.add_page(f"https://news.example/{language}/{page}", language)
    for page in range(10):
        ranking.add_page(f"https://only.example/{page}", "spa")
    [site] = ranking.ranked()
    assert (site.site, site.expected) == ("news.example", 6)
    assert ranking.skipped == {"in another language, or in none that is named": 70}


def test_the_home_page_is_that_of_most_pages(ranking):
    ranking.add_pair("http://example.org/es", "https://www.example.org/eu", 1)
    ranking.add_pair("https://www.example.org/es/2", "https://www.example.org/eu/2", 1)
    assert ranking.ranked()[0].home == "https://www.example.org/"


def test_sites_that_are_left_out_are_counted(ranking):
    ranking = SiteRanking(PAIR, {"example.org"})
    ranking.add_pair("https://www.example.org/es", "https://blog.example.org/eu", 1)
    assert names(ranking) == []
    assert ranking.skipped == {"on a site that is left out": 2}


def test_what_is_written_is_a_list_of_seeds(ranking):
    ranking.add_pair("https://www.example.org:8080/es", "https://www.example.org:8080/eu", 1234)
    ranking.add_page("https://www.example.org:8080/x", "eus")
    text = "\n".join(seed_lines(ranking.ranked()))
    assert text == (
        "https://www.example.org:8080/  # 2 pages in pairs, 1,234 sentence pairs, 1 pages in eus"
    )
    assert [address for _, address in read_lines(text)] == ["https://www.example.org:8080/"]


@given(st.lists(st.tuples(st.text(max_size=40), st.text(max_size=40)), max_size=10))
def test_addresses_of_any_text_are_counted_or_skipped(pairs):
    ranking = SiteRanking(PAIR)
    for prefix in ("", "https://", "http://user@"):
        for url1, url2 in pairs:
            ranking.add_pair(prefix + url1, prefix + url2, 1)
    sites = ranking.ranked()
    assert len(list(seed_lines(sites))) == len(sites)
    for site in sites:
        assert "\n" not in site.home
        assert "@" not in site.home


def test_a_home_page_can_be_crawled(ranking):
    ranking.add_pair("https://EXAMPLE.org/es?a=1", "https://example.org/eu", 1)
    assert read_address(ranking.ranked()[0].home) == "https://example.org/"
