"""Hosts of URLs."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.urls.hosts import host_of

pieces = st.lists(
    st.sampled_from(
        [
            *("http", "https", "HTTP", "ftp", ":", "//", "/", "a.org", "A.org", "x-y", ".", "@"),
            *("user", ":80", "[::1]", "?", "#", "\n", "\t", " ", "ñ", "_", "%41", "\\"),
        ]
    ),
    max_size=9,
).map("".join)


def parsed(url):
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


@given(pieces)
def test_the_short_way_to_a_host_leads_to_the_same_as_the_parser(url):
    assert host_of(url) == parsed(url)


@given(pieces)
def test_so_it_does_behind_a_scheme(rest):
    assert host_of(f"https://{rest}") == parsed(f"https://{rest}")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://www.example.org/a?b", "www.example.org"),
        ("http://example.org", "example.org"),
        ("http://example.org#a", "example.org"),
        ("https://Example.ORG:8080/", "example.org"),
        ("http://user@example.org/", "example.org"),
        ("http://example.org\n", "example.org"),
        ("mailto:a@example.org", ""),
    ],
)
def test_the_host_of_a_url(url, host):
    assert host_of(url) == host
