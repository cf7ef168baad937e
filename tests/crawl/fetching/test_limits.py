"""Traps in URLs, files that are no pages, and what passes."""

import time
from datetime import UTC, datetime

import pytest
import scrapy
from scrapy.http import HtmlResponse

from bilingual_crawler.crawl.fetching.limits import looks_binary, looks_like_html
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.urls.traps import trap_of
from tests.support.fetching import HTML, RawServer, Site, crawl

NEXT_YEAR = datetime.now(UTC).year + 1
PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj"
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"


def trap(url):
    return trap_of(url, max_length=200, repeated_segments=3, query_parameters=4)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org",
        "https://example.org/",
        "https://example.org/es/noticias/2024/05/12/hola-mundo",
        "https://example.org/a/a/a",
        "https://example.org/es/blog/es/blog",
        "https://example.org/p?a=1&b=2&c=3&d=4",
        "https://example.org/p?sid=42",
        "https://example.org/p?s=euskara",
        "https://example.org/p?sessions=all",
        "https://example.org/historia/1936",
        "https://example.org/historia/1936/gerra-zibila",
        "https://example.org/codes/1234-99",
        "https://example.org/thread/1234/12",
        "https://example.org/thread/1950/2",
        "https://example.org/p?date=2024-05-12",
        f"https://example.org/agenda/{NEXT_YEAR}/01/",
        f"https://example.org/agenda?month={NEXT_YEAR}-01",
        "https://example.org/p?id=1800",
        "https://example.org/p?scale=1800&holiday=1800",
        "https://example.org/p?today=18000",
        "https://example.org/" + "x" * 100,
    ],
)
def test_an_ordinary_url_is_no_trap(url):
    assert trap(url) is None


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://example.org/" + "x" * 200, "url_too_long"),
        ("https://example.org/a/a/a/a", "repeated_segments"),
        ("https://example.org/a/b/a/c/a/d/a", "repeated_segments"),
        ("https://example.org/a/b/a/b/a/b", "repeated_segments"),
        ("https://example.org/x/a/b/c/a/b/c/a/b/c/y", "repeated_segments"),
        ("https://example.org/a/////b", "repeated_segments"),
        ("https://example.org/p?a=1&b=2&c=3&d=4&e=5", "too_many_parameters"),
        ("https://example.org/p?a=1;b=2;c=3;d=4;e=5", "too_many_parameters"),
        ("https://example.org/p?PHPSESSID=0123456789abcdef", "session_id"),
        ("https://example.org/p?x=1&session_id=0123456789", "session_id"),
        ("https://example.org/p?sid=0123456789abcdef0123456789abcdef", "session_id"),
        ("https://example.org/p;jsessionid=0123456789ABCDEF", "session_id"),
        ("https://example.org/(S(lit3py55t21z5v55vlm25s55))/p.aspx", "session_id"),
        ("https://example.org/agenda/1970/01/01", "calendar"),
        ("https://example.org/agenda/1989-12/", "calendar"),
        (f"https://example.org/agenda/{NEXT_YEAR + 20}/3/9", "calendar"),
        (f"https://example.org/agenda/{NEXT_YEAR + 2}-11-30", "calendar"),
        ("https://example.org/agenda/9999/12/31", "calendar"),
        ("https://example.org/agenda?date=2999-01-01", "calendar"),
        ("https://example.org/agenda?x=1&tribe-bar-date=1969-12-31", "calendar"),
        ("https://example.org/agenda?from=29990101", "calendar"),
        ("https://example.org/agenda?year=0001", "calendar"),
        ("https://example.org/agenda?startDate=1970-01-01", "calendar"),
    ],
)
def test_a_trap_is_told_by_its_kind(url, reason):
    assert trap(url) == reason


def test_without_a_length_no_url_is_too_long():
    url = "https://example.org/" + "x" * 10_000
    assert trap_of(url, max_length=0, repeated_segments=3, query_parameters=4) is None


def test_no_parameter_at_all_may_be_allowed():
    url = "https://example.org/p?x=1"
    assert (
        trap_of(url, max_length=0, repeated_segments=3, query_parameters=0) == "too_many_parameters"
    )


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/" + "a/b/" * 20_000,
        "https://example.org/" + "/".join(f"{n}/{n}/{n}" for n in range(10_000)),
        "https://example.org/" + "/1/2/" * 20_000,
        "https://example.org/?" + "d" * 80_000,
        "https://example.org/?" + "date" * 20_000,
        "https://example.org/?" + "date=1800" * 20_000,
        "https://example.org/" + "/".join([*map(str, range(9_000)), "x"] * 3),
        "https://example.org/?sess" * 4_000,
    ],
)
def test_hostile_urls_cost_little(url):
    start = time.process_time()
    trap_of(url, max_length=0, repeated_segments=100_000, query_parameters=100_000)
    assert time.process_time() - start < 10  # a quadratic way takes minutes


@pytest.mark.parametrize(
    "body",
    [PDF, PNG, b"PK\x03\x04rest", b"GIF89a", b"\x1f\x8b\x08", b"\x00\x00\x00\x18ftypmp42",
     bytes(range(256))],
)  # fmt: skip
def test_files_of_other_kinds_are_binary(body):
    assert looks_binary(body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<p>Kaixo",
        "<p>Ñandú €uro".encode("cp1252"),
        "<p>こんにちは".encode("shift_jis"),
        "<p>こんにちは".encode("iso2022_jp"),
        "<html><p>Hola".encode("utf-16"),
        "<html><p>Hola".encode("utf-16-le"),
        b"<html><p>one stray \x00 in a long text" + b" of words" * 20,
    ],
)
def test_text_in_any_encoding_is_not_binary(body):
    assert not looks_binary(body)


@pytest.mark.parametrize("body", [b"<p>x", b"\n <!DOCTYPE html>", b"<?xml version='1.0'?><html>"])
def test_a_tag_makes_a_page(body):
    assert looks_like_html(body)


@pytest.mark.parametrize("body", [b"", b"plain words, 1 < 2", b'{"a": 1}', PDF + b"<p>"])
def test_without_a_tag_there_is_no_page(body):
    assert not looks_like_html(body)


def test_a_file_of_another_type_is_not_downloaded():
    sent = 0

    def film(connection):
        nonlocal sent
        head = b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 900000000\r\n\r\n"
        connection.sendall(head)
        while sent < 900_000_000:
            connection.sendall(bytes(65536))
            sent += 65536

    with RawServer(film) as server:
        result = crawl(server.url, BILINGUAL_HONOUR="", DOWNLOAD_MAXSIZE=0)
    assert result.reasons == ["not_html"]
    assert "video/mp4" in result.details[f"{server.url}"]
    assert sent < 50_000_000


@pytest.mark.parametrize("kind", ["text/html", "TEXT/HTML; charset=x", "application/xhtml+xml"])
def test_html_of_either_kind_is_a_page(kind):
    with Site({"/page": (200, {"Content-Type": kind}, b"<p>x")}) as site:
        result = crawl(f"{site.url}/page")
    assert len(result.pages) == 1


def test_the_types_that_are_read_are_the_users_choice():
    with Site({"/page": (200, {"Content-Type": "text/plain"}, b"x")}) as site:
        result = crawl(f"{site.url}/page", BILINGUAL_CONTENT_TYPES="text/plain")
    assert len(result.pages) == 1


def test_a_page_without_a_type_is_handed_on_as_html():
    with Site({"/page.txt": (200, {}, b"<p>x"), "/other": (200, {}, b"x y z")}) as site:
        result = crawl(f"{site.url}/page.txt", f"{site.url}/other")
    assert isinstance(result.pages[f"{site.url}/page.txt"], HtmlResponse)
    assert result.failures == {f"{site.url}/other": "not_html"}


@pytest.mark.parametrize("body", [PDF, PNG])
def test_a_binary_file_that_is_called_a_page_is_refused(body):
    with Site({"/page": (200, HTML, body)}) as site:
        result = crawl(f"{site.url}/page")
    assert result.reasons == ["not_html"]


def test_an_error_of_any_type_is_told_as_the_error_it_is():
    answers = {
        "/gone": (404, {"Content-Type": "application/json"}, b"{}"),
        "/go": (302, {"Content-Type": "image/png", "Location": "/page"}, b"x"),
    }
    with Site(answers) as site:
        result = crawl(f"{site.url}/gone", f"{site.url}/go")
    assert result.failures == {f"{site.url}/gone": "http_404"}
    assert list(result.pages) == [f"{site.url}/page"]


def test_a_busy_server_is_asked_again_whatever_type_its_excuse_has():
    answers = [(503, {"Content-Type": "text/plain"}, b"busy"), (200, HTML, b"<p>x")]
    with Site({"/page": lambda _handler: answers.pop(0)}) as site:
        result = crawl(f"{site.url}/page")
    assert len(result.pages) == 1


def test_a_sitemap_passes_by_its_mark():
    answer = (200, {"Content-Type": "application/xml"}, b"<urlset/>")
    with Site({"/sitemap.xml": answer, "/other.xml": answer}) as site:
        marked = scrapy.Request(
            f"{site.url}/sitemap.xml", meta=RequestState(site_file=True).as_meta()
        )
        result = crawl(marked, f"{site.url}/other.xml")
    assert list(result.pages) == [f"{site.url}/sitemap.xml"]
    assert result.failures == {f"{site.url}/other.xml": "not_html"}
