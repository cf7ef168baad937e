"""Clusters of versions in several languages, and the pairs that are read from them."""

import random
from dataclasses import replace

from bilingual_crawler.corpus.clusters import clusters_of
from bilingual_crawler.languages import parse_parallel
from bilingual_crawler.pairing.matcher import Matcher
from bilingual_crawler.pairing.pair import DocumentPair, Evidence, page_of
from tests.pairing.test_matcher import SITE, WORDS, made

THREE = parse_parallel("spa-eus-eng")
ENGLISH = ["house", "table", "book", "street", "council", "summer", "time", "person"]
ARTICLES = 8


def version(language, number, alternates=()):
    """A version of an article; in English too."""
    WORDS.setdefault("eng", ENGLISH)
    return made(language, number, f"/{language}/{number * 37 % 101}", alternates=alternates)


def stub(language, number):
    """A page that shares nothing with its versions but what English declares."""
    page = version(language, number + 500)
    return replace(page, url=f"{SITE}/{language}/{number * 37 % 101}")


def site():
    return [version(language, number) for number in range(ARTICLES) for language in THREE.codes]


def matched(documents, languages=THREE):
    matcher = Matcher(languages)
    for document in documents:
        matcher.add(page_of(document))
    matcher.finish()
    return matcher


def clusters(matcher):
    return {tuple(each.versions.values()) for each in clusters_of(matcher.pairs, matcher.languages)}


def true_clusters():
    return {
        tuple(f"{SITE}/{language}/{number * 37 % 101}" for language in THREE.codes)
        for number in range(ARTICLES)
    }


def test_the_versions_of_each_page_are_found_in_any_order():
    documents = site()
    assert clusters(matched(documents)) == true_clusters()
    random.Random(3).shuffle(documents)
    shuffled = matched(documents)
    assert clusters(shuffled) == true_clusters()
    assert len(shuffled) == 3 * ARTICLES


def test_a_restored_matcher_has_the_same_pairs():
    pages = [page_of(document) for document in site()]
    first, restored = Matcher(THREE), Matcher(THREE)
    for page in pages:
        first.add(page)
    first.finish()
    restored.restore((page, page.url) for page in pages)
    assert {(each.first, each.second) for each in restored.pairs} == {
        (each.first, each.second) for each in first.pairs
    }


def declared(number, *codes):
    return [(f"/{code}/{number * 37 % 101}", code) for code in codes]


def test_a_weak_link_is_made_by_two_strong_ones_through_a_third_language():
    documents = [each for each in site() if not each.url.endswith(("/eus/0", "/spa/0", "/eng/0"))]
    documents += [
        replace(version("spa", 0, declared(0, "eng"))),
        replace(version("eng", 0, declared(0, "spa", "eus"))),
        replace(stub("eus", 0), alternates=version("eus", 0, declared(0, "eng")).alternates),
    ]
    alone = matched(
        [each for each in documents if each.language != "eng"], parse_parallel("spa-eus")
    )
    ends = (f"{SITE}/spa/0", f"{SITE}/eus/0")
    assert ends not in {(each.first, each.second) for each in alone.pairs}
    together = {(each.first, each.second): each for each in matched(documents).pairs}
    supported = [each for each in together[ends].evidence if each.detector == "cluster"]
    assert [each.why for each in supported] == ["both are translations of the version in eng"]


def pair(first, second, score):
    codes = first[:3], second[:3]
    return DocumentPair(first, second, codes, (Evidence("words", score, ""),), score)


def test_a_cluster_has_one_version_per_language_the_likeliest_first():
    pairs = [
        pair("spa1", "eus1", 0.9),
        pair("spa1", "eng1", 0.95),
        pair("spa2", "eng1", 0.6),
        pair("spa2", "eus2", 0.8),
    ]
    found = {tuple(each.versions.values()): each for each in clusters_of(pairs, THREE)}
    assert set(found) == {("spa1", "eus1", "eng1"), ("spa2", "eus2")}
    assert [link.score for link in found["spa1", "eus1", "eng1"].links] == [0.9, 0.95]
