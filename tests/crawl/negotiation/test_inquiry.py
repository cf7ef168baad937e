"""What tells that a site chooses a language: cookies, headers, switches without a link."""

import pytest
from scrapy import Request
from scrapy.utils.request import fingerprint

from bilingual_crawler.crawl.negotiation.inquiry import (
    HostFacts,
    KnownHosts,
    Way,
    cookies_set,
    headers_for,
    offers_without_link,
)
from bilingual_crawler.crawl.negotiation.middleware import VariantFingerprinter
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.documents.builder import build_document
from bilingual_crawler.store.journal import Journal
from bilingual_crawler.store.journal_tables import Facts

PROSE = "<p>El ayuntamiento ha abierto esta semana el expediente sobre la biblioteca vieja.</p>"


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (b"lang=eu; Path=/", {"lang": "eu"}),
        (b"pll_language=eu_ES; Max-Age=9; Secure", {"pll_language": "eu_ES"}),
        (b"i18n=eus", {"i18n": "eus"}),
        (b'lang="eu"; Secure; Partitioned; Priority=High', {"lang": "eu"}),
        (b"lang=es; Path=/", {}),
        (b"session=8f3aeu; HttpOnly", {}),
        (b"lang=eu%0d%0aX: y", {}),
        (b"la ng\xff=eu", {}),
        (b"=" * 10_000, {}),
        (b"", {}),
    ],
)
def test_only_cookies_that_are_set_to_the_language_count(header, found):
    assert cookies_set([header], "eus", by_switch=False) == found


def test_the_answer_to_a_language_switch_may_set_any_cookie():
    headers = [b"sid=8f3a%2F; HttpOnly", b"bad=x;y", b'worse="a b"'] + [
        b"n%d=1" % n for n in range(9)
    ]
    found = cookies_set(headers, "eus", by_switch=True)
    assert found == {"sid": "8f3a%2F", "bad": "x", "n0": "1", "n1": "1", "n2": "1"}


def test_cookies_are_tried_once_and_not_too_often():
    known = HostFacts(Way.NONE)
    assert known.may_try({"a": "1"})
    assert not known.may_try({"a": "2"})
    assert not known.may_try({})
    assert known.may_try({"b": "1"})
    assert known.may_try({"a": "1", "b": "1"})
    assert not known.may_try({"c": "1"})


@pytest.mark.parametrize(
    ("switch", "offered"),
    [
        ("<nav><button>Euskara</button></nav>", True),
        ('<nav><select><option value="1">Euskara</option></select></nav>', True),
        ('<nav><a href="#">Euskara</a></nav>', True),
        ('<nav><a href="/eu/">Euskara</a></nav>', False),
        ("<nav><button>Buscar</button></nav>", False),
        ('<link rel="alternate" hreflang="eu" href="/eu/"><button>Euskara</button>', False),
    ],
)
def test_a_language_is_offered_in_place_where_no_link_leads_to_it(switch, offered):
    body = f"<html lang=es><body>{switch}{PROSE * 4}</body></html>".encode()
    document = build_document("https://example.org/", body, content_type="text/html")
    assert offers_without_link(document, "eus") is offered


def test_a_host_is_asked_by_its_own_cookie():
    known = HostFacts(Way.COOKIE, cookies={"eus": {"sprache": "eu_ES"}})
    assert known.headers("eus") == {
        "Accept-Language": "eu, *;q=0.1",
        "Cookie": "sprache=eu_ES",
    }
    assert "Cookie" not in known.headers("spa")


def test_a_host_with_some_pages_in_one_language_is_asked_on():
    known = HostFacts(Way.HEADER)
    for number in range(100):
        known.note(answered=number % 4 == 0)
    assert known.way is Way.HEADER


def test_a_cache_keeps_the_variants_of_an_address_apart():
    url, key = "http://a.example/", VariantFingerprinter().fingerprint
    variants = [
        Request(url, headers=headers_for(code, cookies), meta=RequestState(variant=code).as_meta())
        for code, cookies in (("eus", {}), ("spa", {}), ("eus", {"lang": "eu"}))
    ]
    plain = Request(url, headers={"Accept-Language": "eu"})
    assert key(plain) == fingerprint(plain), "as Scrapy has it"
    assert len({key(each) for each in (plain, *variants)}) == 4


def test_what_is_known_of_a_host_survives_the_journal(tmp_path):
    journal = Journal(tmp_path / "crawl.sqlite")
    cookies = {"eus": {"lang": "eu"}}
    known = HostFacts(Way.COOKIE, "http://a.example/", "spa", ["/s"], cookies, ["x"], 7, 5)
    KnownHosts(Facts(journal)).save("a.example", known)
    journal.close()
    journal = Journal(tmp_path / "crawl.sqlite")
    try:
        assert KnownHosts(Facts(journal)).get("a.example") == known
        assert KnownHosts(Facts(journal)).get("b.example") is None
    finally:
        journal.close()
