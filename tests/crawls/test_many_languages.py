"""Whole crawls of a site in three languages."""

import json
from collections import Counter

import pytest

from tests.support.crawling import crawl, pairs
from tests.support.many_languages import many_languages, true_versions

pytestmark = pytest.mark.crawl


def clusters(output):
    with (output / "clusters.jsonl").open() as lines:
        return [json.loads(line) for line in lines]


def by_url(versions):
    return sorted(versions, key=lambda each: sorted(each.values()))


@pytest.fixture(scope="module", params=["spa-eus-eng", "eng-*"])
def crawled(request, tmp_path_factory):
    output = tmp_path_factory.mktemp("crawl") / "out"
    with many_languages() as site:
        printed = crawl(site.url + "/", output, langs=request.param)
        yield site, output, printed


def test_each_page_is_fetched_once(crawled):
    site, _, _ = crawled
    assert set(Counter(site.pages_asked).values()) == {1}


def test_the_versions_of_each_page_are_a_cluster(crawled):
    site, output, _ = crawled
    found = clusters(output)
    assert by_url(each["versions"] for each in found) == by_url(true_versions(site.url))
    assert all(len(each["links"]) == 3 for each in found)


def test_there_are_pairs_of_every_two_languages(crawled):
    _, output, _ = crawled
    counts = Counter(frozenset((each["lang1"], each["lang2"])) for each in pairs(output))
    assert sorted(counts.values()) == [6, 6, 6]
