"""Queries for both languages, and the results of search engines in all their forms."""

import contextlib
import json

import pytest

from bilingual_crawler.discovery.search_results import api_address, check_api, queries, read_results
from bilingual_crawler.languages import LanguagePair, parse_parallel

HITS = ["https://a.example/links", "https://b.example/"]
PAGE = """<!doctype html><html><head><link rel=canonical href="https://www.engine.test/search?q=x">
</head><body><form action="https://engine.test/search"></form>
<a href="/settings">Settings</a> <a href="https://www.engine.test/about">About</a>
<a href="https://a.example/links">A</a>
<a href="https://www.engine.test/l/?uddg=https%3A%2F%2Fb.example%2F&amp;rut=1">B</a>
<a href="javascript:void(0)">more</a></body></html>"""


def test_the_query_names_both_languages_in_english_and_in_their_own_words():
    pair = LanguagePair.parse("eng-por")
    assert queries(pair) == ['"English" "Portuguese"', '"English" "português"']
    assert queries(pair, "anchor:")[0] == 'anchor:"English" anchor:"Portuguese"'


def test_of_more_languages_there_are_queries_for_every_two():
    of_three = queries(parse_parallel("eng-por-deu"))
    for pair in ("eng-por", "eng-deu", "por-deu"):
        assert set(queries(LanguagePair.parse(pair))) <= set(of_three)


@pytest.mark.parametrize(
    "body",
    [
        "\n".join(["# saved by hand", *HITS, HITS[0]]),
        json.dumps({"query": "x", "results": [{"url": url, "engine": "e"} for url in HITS]}),
        PAGE,
    ],
    ids=["list", "searxng", "page"],
)
def test_results_are_read_from_a_list_from_json_and_from_a_saved_page(body):
    assert read_results(body.encode()) == HITS


@pytest.mark.parametrize(
    "body", [b"{", b"[" * 5_000, b"\xff\xfe\x00", b"<", b"", b"ftp://x\njavascript:1"]
)
def test_what_is_no_result_gives_none_or_an_error_in_words(body):
    with contextlib.suppress(ValueError):
        assert read_results(body) == []


def test_an_api_is_an_address_with_a_place_for_the_query():
    template = check_api("https://s.example/search?q={query}&format=json&pageno={page}")
    assert template.endswith("#results.url")
    asked = api_address(template, 'a "b"', 2)
    assert asked == "https://s.example/search?q=a%20%22b%22&format=json&pageno=2"
    for wrong in ("file:///etc/passwd", "https://s.example/", "https://s.example/{query}{key}"):
        with pytest.raises(ValueError, match=r"must be|needs|accepts"):
            check_api(wrong)
