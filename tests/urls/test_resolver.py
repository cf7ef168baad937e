import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.urls.resolver import LONGEST_URL, UrlResolver, may_be_page

PAGE = "https://example.org/eu/berriak/index.html"

pages = st.sampled_from(
    [
        *(
            PAGE,
            "https://a.org",
            "https://a.org/x//y/z?q=1",
            "http://A.org:8080/x",
            "http://a.org:8080/x/y",
        ),
        *("https://a.org/x;p/y;q", "http://a.org:80/x/..", "http://[::1]/a", "file:///x/y", ""),
    ]
)
pieces = st.lists(
    st.sampled_from(
        [
            *("a", "b.c", "..", ".", "/", "//", "?", "#", ":", "a=b", "&", "%20", "%", ";", "'"),
            *(
                "http://",
                "https://",
                "HTTPS://",
                "x.org",
                "X.org",
                "x.org:80",
                "x.org:8080",
                "x.org:70000",
                "ñ",
                " ",
                "\n",
            ),
        ]
    ),
    max_size=8,
).map("".join)
references = st.text("aB0./?#:;&=%+,'!*()~_-@$ \tñ|[]<>\"^\\{}", max_size=15) | pieces


@pytest.mark.parametrize(
    ("reference", "address"),
    [
        ("/es/", "https://example.org/es/"),
        ("bat.html", "https://example.org/eu/berriak/bat.html"),
        ("../../es/uno", "https://example.org/es/uno"),
        ("//cdn.org/x", "https://cdn.org/x"),
        ("?page=2", "https://example.org/eu/berriak/index.html?page=2"),
        ("bat.html#zati", "https://example.org/eu/berriak/bat.html"),
        (" /e\ns/\t ", "https://example.org/es/"),
        ("/año nuevo?q=ñ", "https://example.org/a%C3%B1o%20nuevo?q=%C3%B1"),
        ("HTTP://Example.ORG:80", "http://example.org/"),
        ("https://euskadi.eus", "https://euskadi.eus/"),
    ],
)
def test_a_reference_becomes_a_whole_address(reference, address):
    assert UrlResolver(PAGE)(reference) == address


@pytest.mark.parametrize(
    "reference",
    ["mailto:a@b.c", "javascript:void(0)", "data:text/html,x", "ftp://a.org/", "http://[::1"],
)
def test_what_is_no_web_page_has_no_address(reference):
    assert UrlResolver(PAGE)(reference) is None


def test_references_are_relative_to_the_base_of_the_page():
    resolve = UrlResolver(PAGE, "/otro/")
    assert resolve("uno") == "https://example.org/otro/uno"
    assert resolve("/dos") == "https://example.org/dos"


def test_a_base_that_is_no_address_is_ignored():
    assert UrlResolver(PAGE, "mailto:a@b.c")("/es/") == "https://example.org/es/"


def test_queries_are_written_in_the_encoding_of_the_page():
    assert UrlResolver(PAGE, encoding="cp1252")("/?q=ñ") == "https://example.org/?q=%F1"


def test_addresses_without_end_are_left_out():
    assert UrlResolver(PAGE)("/" + "x" * LONGEST_URL) is None


def test_mail_and_fragments_lead_to_no_page():
    assert not may_be_page("#top")
    assert not may_be_page(" MAILTO:a@b.c")
    assert may_be_page("/es/")


@given(pages, references, references)
def test_the_short_way_ends_where_the_long_way_ends(page, base, reference):
    resolve = UrlResolver(page, base)
    assert resolve(reference) == resolve.resolve(reference)
