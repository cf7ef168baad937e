"""Lists of URLs into congruence classes, without fetching."""

from collections import defaultdict

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.pairing.congruence import FIRST, SECOND, Congruence, UrlKeys
from bilingual_crawler.urls.language_tokens import url_key

PAIR = LanguagePair.parse("eng-fra")
TOKENS = PAIR.first.tokens | PAIR.second.tokens
KEYS = UrlKeys(PAIR)

PARTS = [
    *("en", "fr", "EN", "fr-ca", "en_US", "eng", "xeng-us", "fr-en-us", "english", "français"),
    *("news", "index", "home", "index.html", ".html", "a.b", "n°1", "us", "İ", "2004", "f"),
    *("/", "//", "-", "_", ".", "!", "~", "-_", "%2F", "%0A", "%20", "%c3%a9", "+", ";", ":"),
    *("?", "&", "=", "lang=fr", "?lang=en&id=3", "#", "@", "[", " ", "\t"),
]
HOSTS = [
    *(
        "a.org",
        "www.a.org",
        "en.a.org",
        "fr.a.org",
        "a.fr",
        "A.ORG",
        "a.org:80",
        "u:p@a.org",
        "é.fr",
    ),
    *("127.0.0.1", "[::1]", "", "a..org", "-", "blog.fr.a.co.uk"),
]
URLS = st.builds(
    lambda scheme, host, parts: scheme + host + "".join(parts),
    st.sampled_from(["http://", "https://", "HTTP://", "ftp://", "//", "file://"]),
    st.sampled_from(HOSTS),
    st.lists(st.sampled_from(PARTS), max_size=9).map(lambda parts: ["/", *parts] if parts else []),
)


def slowly(url):
    """Return the key of a URL by the reference implementation."""
    try:
        key, tokens = url_key(url, TOKENS)
    except ValueError:
        return url, 0
    named = [any(token in language.tokens for token in tokens) for language in PAIR]
    return key, FIRST * named[0] + SECOND * named[1]


@given(URLS)
@example("http://a.org/index.html/en")
@example("http://a.org/a-/en/b")
@example("http://a.org/a/-b")
@example("http://a.org/index_fr.html/")
@example("http://[a.org/")
def test_the_fast_key_is_the_plain_one(url):
    assert KEYS.classify(url) == slowly(url)


@given(st.lists(URLS, max_size=30))
def test_the_classes_are_those_of_grouping_by_the_plain_key(urls):
    congruence = Congruence(PAIR)
    groups = defaultdict(set)
    for url in urls:
        congruence.add(url)
        groups[slowly(url)[0]].add(url)
    found = sorted(sorted(block) for block in congruence.classes())
    assert found == sorted(sorted(group) for group in groups.values() if len(group) > 1)


def pairs(*lines, **options):
    congruence = Congruence(PAIR, **options)
    for line in lines:
        congruence.add(*line.split())
    return [(each.first, each.second, each.score) for each in congruence.pairs()]


def test_two_languages_of_one_block_are_a_pair():
    found = pairs("http://ex.org/index_en.html", "http://ex.org/INDEX_FR.html", "http://ex.org/b")
    assert found == [("http://ex.org/index_en.html", "http://ex.org/INDEX_FR.html", 0.9)]


def test_a_url_without_a_token_stands_in_for_the_language_that_is_missing():
    assert pairs("http://ex.org/fr/a", "http://ex.org/a") == [
        ("http://ex.org/a", "http://ex.org/fr/a", pytest.approx(0.8))
    ]
    both = pairs("http://ex.org/a", "http://ex.org/fr/a", "http://ex.org/en/a")
    assert both == [("http://ex.org/en/a", "http://ex.org/fr/a", 0.9)]


def test_urls_without_tokens_are_no_pair():
    assert pairs("http://ex.org/a", "http://www.ex.org/a", "http://ex.org/a/") == []


def test_a_language_that_is_told_counts_more_than_the_url():
    found = pairs("http://ex.org/a fra", "http://www.ex.org/a eng", "http://ex.org/b eng")
    assert [each[:2] for each in found] == [("http://www.ex.org/a", "http://ex.org/a")]


def test_each_url_is_in_one_pair_and_the_plainest_go_together():
    found = pairs(
        *("http://www.ex.org/en/a", "http://ex.org/en/a"),
        *("http://ex.org/fr/a", "http://www.ex.org/fr/a", "http://ex.org/fr/a"),
    )
    assert [each[:2] for each in found] == [
        ("http://ex.org/en/a", "http://ex.org/fr/a"),
        ("http://www.ex.org/en/a", "http://www.ex.org/fr/a"),
    ]


def test_hosts_count_unless_told_otherwise():
    lines = ("http://one.org/en/a", "http://two.org/fr/a")
    assert pairs(*lines) == []
    assert len(pairs(*lines, across_hosts=True)) == 1
