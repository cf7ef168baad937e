"""Sitemaps of all kinds are read, and no bytes at all do harm."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.documents import sitemap
from bilingual_crawler.documents.sitemap import SitemapPage, is_sitemap, read_sitemap

SITE = "https://www.udala.example"
AT = f"{SITE}/sitemap.xml"
NAMESPACES = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"'
)
ENTRY = (
    f"<url><loc>\n  {SITE}/es/agenda?a=1&amp;b=2 </loc><lastmod>2024-01-01</lastmod>"
    f'<xhtml:link rel="alternate" hreflang="es-ES" href="{SITE}/es/agenda?a=1&amp;b=2"/>'
    '<xhtml:link rel="alternate" hreflang="eu" href="/eu/egutegia"/>'
    f'<xhtml:link rel="alternate" hreflang="x-default" href="{SITE}/"/>'
    f'<xhtml:link rel="canonical" hreflang="fr" href="{SITE}/fr/"/></url>'
)
PAGE = SitemapPage(f"{SITE}/es/agenda?a=1&b=2", ((f"{SITE}/eu/egutegia", "eus"),))


def urlset(*entries, attributes=NAMESPACES, end="</urlset>"):
    start = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {attributes}>'
    return f"{start}{''.join(entries)}{end}".encode()


def plain(number):
    return f"<url><loc>{SITE}/{number}</loc></url>"


def locations(body):
    return [page.url for page in read_sitemap(body, AT).pages]


def test_pages_come_with_their_translations_and_without_themselves():
    assert read_sitemap(urlset(ENTRY), AT).pages == [PAGE]


def test_only_pages_with_translations_make_claims():
    assert list(read_sitemap(urlset(plain(1), ENTRY), AT).claims()) == [PAGE]


@pytest.mark.parametrize("attributes", ["", 'xmlns="https://other.example/9"'])
def test_namespaces_that_are_missing_or_wrong_do_not_matter(attributes):
    assert read_sitemap(urlset(ENTRY, attributes=attributes), AT).pages == [PAGE]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_other_encodings_are_read(encoding):
    text = urlset(ENTRY).decode().partition("\n")[2]
    assert read_sitemap(text.encode(encoding), AT).pages == [PAGE]
    assert is_sitemap(text.encode(encoding))


def test_an_index_names_further_sitemaps():
    body = (
        f"<sitemapindex {NAMESPACES}><sitemap><loc>{SITE}/a.xml.gz</loc></sitemap>"
        "<sitemap><loc>/b.xml</loc></sitemap><sitemap><loc></loc></sitemap></sitemapindex>"
    ).encode()
    found = read_sitemap(body, AT)
    assert (found.pages, found.indexes) == ([], [f"{SITE}/a.xml.gz", f"{SITE}/b.xml"])


def test_a_list_of_urls_is_a_sitemap_too():
    body = f"\ufeff{SITE}/a\r\n\r\nnot a URL\n  {SITE}/b  \n".encode()
    assert locations(body) == [f"{SITE}/a", f"{SITE}/b"]


def test_packed_files_are_read_as_far_as_they_go():
    packed = gzip.compress(urlset(*map(plain, range(20_000))))
    assert len(locations(packed)) == 20_000
    assert 0 < len(locations(packed[: len(packed) // 2])) < 20_000


@pytest.mark.parametrize("end", ["", "<url><loc>/x</url>", "</oops>", "&nothing;", "\x00"])
def test_what_stands_before_a_fault_counts(end):
    assert locations(urlset(plain(1), plain(2), end=end)) == [f"{SITE}/1", f"{SITE}/2"]


def test_addresses_that_are_no_pages_are_left_out():
    bad = "<url><loc>javascript:alert(1)</loc></url>", "<url><loc>https://[</loc></url>"
    assert locations(urlset(*bad, f"<url><loc>/{'a' * 5_000}</loc></url>", plain(1))) == [
        f"{SITE}/1"
    ]


def test_a_site_speaks_for_its_own_pages_alone():
    near, far = "http://en.example.org/a", "https://www.example.net/a"
    body = f"{far}\n{near}\n".encode()
    assert read_sitemap(body, "https://www.example.org/").pages == [SitemapPage(near)]
    assert len(read_sitemap(body, "file:///tmp/sitemap.txt").pages) == 2


def test_no_more_is_read_than_a_sitemap_may_have(monkeypatch):
    monkeypatch.setattr(sitemap, "MOST_URLS", 10)
    monkeypatch.setattr(sitemap, "MOST_ALTERNATES", 3)
    links = "".join(
        f'<xhtml:link rel="alternate" hreflang="eu" href="/{number}"/>' for number in range(9)
    )
    first = f"<url><loc>/a</loc>{links}</url>"
    found = read_sitemap(urlset(first, *map(plain, range(30))), AT).pages
    assert (len(found), len(found[0].alternates)) == (10, 3)
    assert len(locations(f"{SITE}/a\n".encode() * 30)) == 10


def test_entities_are_neither_expanded_nor_fetched(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text(f"{SITE}/secret")
    laughs = "".join(f'<!ENTITY l{number} "{f"&l{number - 1};" * 10}">' for number in range(1, 12))
    head = f'<!DOCTYPE urlset [<!ENTITY l0 "lol">{laughs}<!ENTITY f SYSTEM "{secret.as_uri()}">]>'
    for name in ("l11", "f"):
        entry = f"{plain(1)}<url><loc>{SITE}/&{name};</loc></url>"
        found = locations(f"{head}<urlset>{entry}</urlset>".encode())
        assert found[0] == f"{SITE}/1"
        assert all(len(url) < 100 and "secret" not in url for url in found)


def test_a_packed_bomb_is_read_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(sitemap, "LARGEST", 1 << 20)
    bomb = gzip.compress(urlset(plain(1), " " * (1 << 24), plain(2)))
    assert locations(bomb) == [f"{SITE}/1"]


def test_a_sitemap_is_told_by_its_beginning_or_its_name():
    assert is_sitemap(urlset(ENTRY))
    assert is_sitemap(gzip.compress(urlset(ENTRY)))
    assert is_sitemap(b"https://a.example/", f"{SITE}/sitemap-1.txt?x")
    assert not is_sitemap(b"<html><p>urlset", f"{SITE}/sitemap")
    assert not is_sitemap(b"", "https://[")


_BITS = st.sampled_from(
    [b"<urlset>", b"<url>", b"</url>", b"<loc>", b"</loc>", b"/a", b"<link rel='alternate' ",
     b"hreflang='eu' href='/b'/>", b"&x;", b"<!DOCTYPE a [", b"]>", b"<![CDATA[", b"\x1f\x8b",
     b"\xff", b"<sitemap>", b"</sitemap>", b"https://a.example/", b"\n", b"\xff\xfe"]
)  # fmt: skip


@given(st.one_of(st.binary(max_size=200), st.lists(_BITS, max_size=30).map(b"".join)), st.text())
def test_nothing_raises_on_any_bytes(body, url):
    for each in (body, gzip.compress(body), gzip.compress(body)[:-6]):
        is_sitemap(each, url)
        found = read_sitemap(each, url or AT)
        assert all(page.url for page in found.pages)
        assert all(found.indexes)


def test_lines_without_end_are_not_all_looked_at():
    empty, page = b"\n" * sitemap.MOST_LINES, b"https://a.example/1\n"
    assert len(read_sitemap(page + empty + page, "https://a.example/sitemap.txt").pages) == 1


def test_elements_without_end_are_not_all_looked_at(monkeypatch):
    monkeypatch.setattr(sitemap, "MOST_ELEMENTS", 1000)
    entry = b"<url><loc>https://a.example/1</loc></url>"
    body = b"<urlset>" + entry + b"<a></a>" * 100_000 + entry + b"</urlset>"
    assert len(read_sitemap(body, "https://a.example/sitemap.xml").pages) == 1
