"""What a WARC file answers, and what is taken out of it before a crawl sees it."""

import gzip
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.lab.replay.recording import Recording, site_name
from bilingual_crawler.lab.replay.site import strip_body, without_alternates
from bilingual_crawler.store.warc_reader import RecordedResponse
from tests.support.recordings import HTML, SITE, exchange, packed_whole, redirect, write_warc

SHARED = Path(os.environ.get("BILINGUAL_SHARED", Path(__file__).parents[3] / "shared"))
WGET = (
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: <%b>\r\n"
    b"Content-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
)


def wget_record(url, http):
    return WGET % (url.encode(), len(http), http)


def recorded(tmp_path, *exchanges, **options):
    return Recording(write_warc(tmp_path / "site.warc.gz", exchanges, **options))


def test_a_recorded_page_is_answered_with_its_headers_and_body(tmp_path):
    recording = recorded(tmp_path, exchange(f"{SITE}/", b"home"), exchange(f"{SITE}/a", b"a page"))
    answer = recording.answer(f"{SITE}/a")
    assert (answer.status, answer.body) == (200, b"a page")
    assert answer.header("content-type") == "text/html; charset=utf-8"


def test_what_was_not_recorded_does_not_exist(tmp_path):
    recording = recorded(tmp_path, exchange(f"{SITE}/", b"home"))
    assert recording.answer(f"{SITE}/b") is None
    assert recording.answer("https://other.example/") is None


def test_redirects_lead_to_pages_and_loops_to_none(tmp_path):
    recording = recorded(
        tmp_path,
        exchange(f"{SITE}/new/", b"new"),
        redirect(f"{SITE}/old", "/new"),
        redirect(f"{SITE}/new", "/new/"),
        redirect(f"{SITE}/loop", "/loop"),
    )
    assert recording.page_of(f"{SITE}/old") == f"{SITE}/new/"
    assert recording.page_of(f"{SITE}/loop") is None
    assert recording.pages == [f"{SITE}/new/"]


def test_two_spellings_of_a_url_are_one(tmp_path):
    recording = recorded(tmp_path, exchange(f"{SITE}/a?x=1&y=2", b"a page"))
    assert recording.name_of(f"{SITE}/a?y=2&x=1&utm_source=b#top") == f"{SITE}/a?x=1&y=2"


def test_a_page_counts_more_than_an_error_at_the_same_url(tmp_path):
    failed = exchange(f"{SITE}/a", b"busy", status=503)
    recording = recorded(tmp_path, failed, exchange(f"{SITE}/a", b"a page"), failed)
    assert recording.answer(f"{SITE}/a").body == b"a page"


@pytest.mark.parametrize("pack", [gzip.decompress, packed_whole], ids=["plain", "packed whole"])
def test_a_file_that_is_packed_otherwise_is_read_too(tmp_path, pack):
    pages = [exchange(f"{SITE}/{n}", b"%d " % n * 3000) for n in range(50)]
    recording = recorded(tmp_path, *pages, pack=pack)
    assert [recording.answer(f"{SITE}/{n}").body for n in (0, 1, 49)] == [
        b"%d " % n * 3000 for n in (0, 1, 49)
    ]


def test_the_records_of_wget_are_read_unpacked(tmp_path):
    body = gzip.compress(b"<p>packed and in chunks")
    http = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    )
    path = tmp_path / "wget.warc"
    path.write_bytes(wget_record(f"{SITE}/", http))
    answer = Recording(path).answer(f"{SITE}/")
    assert answer == RecordedResponse(
        200, ((b"Content-Type", b"text/html"),), b"<p>packed and in chunks"
    )


def test_a_body_that_is_not_packed_as_it_says_is_left_to_the_crawl(tmp_path):
    headers = (*HTML, (b"Content-Encoding", b"gzip"))
    recording = recorded(tmp_path, exchange(f"{SITE}/", b"no gzip at all", headers=headers))
    answer = recording.answer(f"{SITE}/")
    assert (answer.header("Content-Encoding"), answer.body) == ("gzip", b"no gzip at all")


def test_a_crawl_starts_at_the_root_or_at_the_shortest_page(tmp_path):
    deep = [exchange(f"{SITE}/docs/en/", b"en"), exchange(f"{SITE}/docs/de/", b"de")]
    other = exchange("https://a.example/", b"elsewhere")
    assert recorded(tmp_path, *deep, other).homes() == [f"{SITE}/docs/de/", f"{SITE}/docs/en/"]
    root = redirect(f"{SITE}/", "/docs/en/")
    assert recorded(tmp_path, *deep, other, root).homes() == [f"{SITE}/"]


def test_a_site_is_called_as_its_file():
    assert site_name(Path("/there/my.site.warc.gz")) == "my.site"


@pytest.mark.parametrize("content", [b"", b"no warc\n" * 99, b"\x1f\x8b broken", b"\0" * 5000])
def test_a_file_that_is_no_recording_is_refused_in_a_sentence(tmp_path, content):
    path = tmp_path / "site.warc.gz"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"site\.warc\.gz"):
        Recording(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match=r"There is no file .*nix\.warc"):
        Recording(tmp_path / "nix.warc")


CLAIMS = (
    b'<link rel="alternate" hreflang="eu" href="/eu/">',
    b"<LINK HREFLANG='eu' REL='Alternate' HREF='/eu/'>",
    b"<link rel=alternate hreflang=eu href=/eu/>",
    b'<link\nhref="/eu/" rel="home alternate"\threflang = "eu" />',
    b'<link title="a > b" rel="alternate" hreflang="eu" href="/eu/">',
    b'<link title="it\'s" rel="alternate" hreflang="eu" href="/eu/">',
    b'<link rel="alternate" hreflang="eu" href="/eu/" title="not closed>',
    b'<link rel="alternate" hre\0flang="eu" href="/eu/">',
)
SWITCHES = (
    b'<a hreflang="eu" href="/eu/">Euskara</a>',
    b'<a href="/eu/"hreflang="eu"rel="alternate">Euskara</a>',
    b"<a rel=alternate hreflang=eu href=/eu/>Euskara</a>",
    b'<A HREF="/eu/" HREFLANG>Euskara</A>',
)


@pytest.mark.parametrize("claim", CLAIMS)
def test_link_elements_that_name_translations_are_taken_out(claim):
    head = b'<html><head><link rel="stylesheet" href="/s.css">%b</head><body><p>text'
    document = build_document(f"{SITE}/", strip_body(head % claim))
    assert not document.alternates
    assert b"stylesheet" in strip_body(head % claim)


@pytest.mark.parametrize("switch", SWITCHES)
def test_links_to_translations_stay_links(switch):
    body = b"<html><body><p>%b</p></body></html>" % switch
    document = build_document(f"{SITE}/", strip_body(body))
    assert not document.alternates
    (link,) = document.links
    assert (link.url, link.anchor, link.hreflang, link.rel) == (f"{SITE}/eu/", "Euskara", "", "")


def test_a_page_in_utf_16_loses_its_claims_too():
    text = '\ufeff<html><head><link rel="alternate" hreflang="eu" href="/eu/"></head><p>año'
    for encoding in ("utf-16-le", "utf-16-be"):
        for page in (text, text[1:]):
            stripped = strip_body(page.encode(encoding)).decode(encoding)
            assert stripped.removeprefix("\ufeff") == "<html><head></head><p>año"


def test_text_about_hreflang_is_left_alone():
    body = b"<p>Write hreflang, or rel=alternate; see <b>hreflang</b>.</p>"
    assert strip_body(body) == body


def test_the_link_header_and_the_sitemaps_are_gone():
    link = (b"Link", b'</eu/>; rel="alternate"; hreflang="eu"')
    page = without_alternates(f"{SITE}/", RecordedResponse(200, (*HTML, link), b"<p>"))
    assert page == RecordedResponse(200, HTML, b"<p>")
    listed = RecordedResponse(200, (), b"<?xml version='1.0'?><urlset xmlns='x'><url/></urlset>")
    assert without_alternates(f"{SITE}/map", listed).status == 404
    assert (
        without_alternates(f"{SITE}/sitemap_index.xml.gz", RecordedResponse(200, (), b"")).status
        == 404
    )
    robots = RecordedResponse(200, (), b"User-agent: *\nSitemap: https://x/s.xml\nDisallow: /a\n")
    assert without_alternates(f"{SITE}/robots.txt", robots).body.split() == [
        b"User-agent:", b"*", b"Disallow:", b"/a",
    ]  # fmt: skip


@given(st.lists(st.sampled_from([*CLAIMS, *SWITCHES, b"<", b">", b'"', b"'", b"<link ", b"\0"])))
def test_whatever_the_bytes_no_claim_is_left(parts):
    assert not build_document(f"{SITE}/", strip_body(b" ".join(parts))).alternates


@pytest.mark.parametrize(
    "bit", [b"<link ", b"<a hreflang=", b'<link rel="alternate ', b"<a '", b' hreflang="'], ids=repr
)
def test_stripping_does_not_run_away(bit):
    begun = time.process_time()
    strip_body(b"hreflang" + bit * 200_000)
    assert time.process_time() - begun < 5


@pytest.mark.skipif(
    not (SHARED / "sites" / "xezpeleta.warc.gz").exists(),
    reason="the recorded sites are not here; BILINGUAL_SHARED says where they are",
)
def test_recorded_pages_lose_all_claims_and_no_link():
    recording = Recording(SHARED / "sites" / "xezpeleta.warc.gz")
    claimed = 0
    for url in recording.pages[::5]:
        answer = recording.answer(url)
        before = build_document(url, answer.body)
        after = build_document(url, without_alternates(url, answer).body)
        claimed += len(before.alternates)
        assert not after.alternates
        assert [each.url for each in after.links] == [each.url for each in before.links]
        assert after.text == before.text
    assert claimed
