"""Opt-outs are found wherever they are said, honoured and counted."""

import json

import pytest
import scrapy
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from bilingual_crawler.crawl.fetching.optouts import (
    HOSTS_STAT,
    MAX_HOSTS,
    forbids_links,
    opt_out_of,
    record_opt_out,
    robots_directives,
)
from bilingual_crawler.crawl.request_state import RequestState
from bilingual_crawler.documents.builder import build_document
from tests.support.fetching import HTML, PAGE, Arrivals, Site, crawl

ALL = ("tdm", "noai", "noindex", "nofollow")
TDMREP = "/.well-known/tdmrep.json"


def page(**headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return (200, {**HTML, **named}, PAGE[2])


def tdmrep(*locations):
    rules = [{"location": location, "tdm-reservation": 1} for location in locations]
    return (200, {"Content-Type": "application/json"}, json.dumps(rules).encode())


@pytest.mark.parametrize(
    ("headers", "directives"),
    [
        ([b"noindex"], {"noindex"}),
        ([b"NoIndex, NOFOLLOW"], {"noindex", "nofollow"}),
        ([b"noarchive", b"noai, noimageai"], {"noarchive", "noai", "noimageai"}),
        ([b"otherbot: noindex, nofollow"], set()),
        ([b"otherbot: noindex", b"nofollow"], {"nofollow"}),
        ([b"bilingual-crawler: noindex"], {"noindex"}),
        ([b"Bilingual-Crawler: noindex, nofollow"], {"noindex", "nofollow"}),
        ([b"noai, otherbot: noindex, bilingual-crawler: nofollow"], {"noai", "nofollow"}),
        ([b"*: none"], {"none"}),
        ([b"unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"],
         {"unavailable_after", "noindex"}),
        ([b"max-snippet: 50, noai"], {"max-snippet", "noai"}),
        ([b"", b",,", b"\xff"], {"\xff"}),
        ([b"noindex; nofollow"], {"noindex", "nofollow"}),
        ([b"noindex;nofollow, noai"], {"noindex", "nofollow", "noai"}),
        ([b"noindex nofollow"], {"noindex", "nofollow"}),
        ([b"otherbot: noindex; nofollow"], set()),
        ([b"otherbot: noindex; bilingual-crawler: noai; nofollow"], {"noai", "nofollow"}),
        ([b"bilingual-crawler/0.1.0: noindex"], {"noindex"}),
        ([b"robots: noindex"], {"noindex"}),
        ([b"unavailable_after: 25 Jun 2010 15:00:00 PST; noindex"],
         {"unavailable_after", "noindex"}),
        ([b"unavailable_after: Friday, 25-Jun-10 15:00:00 PST, noindex"],
         {"unavailable_after", "25-jun-10", "15:00:00", "pst", "noindex"}),
        ([b"unavailable_after: 2010-06-25T15:00:00Z; noai"], {"unavailable_after", "noai"}),
        ([b"otherbot: unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT; noindex"], set()),
    ],
)  # fmt: skip
def test_directives_for_all_and_for_us_are_read(headers, directives):
    assert robots_directives(headers) == directives


@pytest.mark.parametrize(
    ("robots", "tdm", "honour", "reason"),
    [
        ((), False, ALL, None),
        ((), True, ALL, "tdm_reserved"),
        ((), True, ("noai",), None),
        (("noai",), False, ALL, "noai"),
        (("noimageai",), False, ALL, None),
        (("noindex",), False, ALL, "noindex"),
        (("none",), False, ALL, "noindex"),
        (("noindex",), False, ("tdm",), None),
        (("nofollow",), False, ALL, None),
        (("noindex", "noai"), True, ALL, "tdm_reserved"),
        (("noindex", "noai"), False, ALL, "noai"),
    ],
)
def test_the_strongest_opt_out_that_is_honoured_is_told(robots, tdm, honour, reason):
    assert opt_out_of(frozenset(robots), tdm, honour) == reason


@pytest.mark.parametrize(
    ("robots", "honour", "forbidden"),
    [
        ({"nofollow"}, ALL, True),
        ({"none"}, ALL, True),
        ({"noindex"}, ALL, False),
        ({"nofollow"}, ("noindex",), False),
    ],
)
def test_links_are_forbidden_by_nofollow_and_none(robots, honour, forbidden):
    assert forbids_links(robots, honour) is forbidden


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({"tdm_reservation": "1"}, "tdm_reserved"),
        ({"X_Robots_Tag": "noai"}, "noai"),
        ({"X_Robots_Tag": "noindex, nofollow"}, "noindex"),
        ({"X_Robots_Tag": ["otherbot: noai", "none"]}, "noindex"),
    ],
)
def test_a_page_that_opts_out_in_its_headers_is_refused_and_counted(headers, reason):
    with Site({"/page": page(**headers)}) as site:
        result = crawl(f"{site.url}/page")
    assert result.reasons == [reason]
    assert result.stats[f"bilingual/optouts/{reason}"] == 1
    assert result.stats[HOSTS_STAT] == {"127.0.0.1": {reason: 1}}


@pytest.mark.parametrize("directive", ["noindex", "nofollow"])
def test_a_page_that_opts_out_by_half_passes_with_a_mark(directive):
    with Site({"/page": page(X_Robots_Tag=directive)}) as site:
        result = crawl(f"{site.url}/page")
    (response,) = result.pages.values()
    assert RequestState.of(response.request).opt_out == directive
    assert result.stats[f"bilingual/optouts/{directive}"] == 1


def test_a_page_that_allows_everything_has_no_mark():
    with Site({"/page": page(tdm_reservation="0", X_Robots_Tag="all")}) as site:
        result = crawl(f"{site.url}/page")
    (response,) = result.pages.values()
    assert not RequestState.of(response.request).opt_out


def test_a_mark_that_a_request_brings_along_is_not_taken_for_its_own():
    with Site() as site:
        result = crawl(
            scrapy.Request(f"{site.url}/page", meta=RequestState(opt_out="noindex").as_meta())
        )
    (response,) = result.pages.values()
    assert not RequestState.of(response.request).opt_out


def test_the_headers_of_a_redirect_do_not_concern_its_target():
    away = (302, {"Location": "/page", "X-Robots-Tag": "noindex", "tdm-reservation": "1"}, b"")
    with Site({"/go": away}) as site:
        result = crawl(f"{site.url}/go")
    (response,) = result.pages.values()
    assert not RequestState.of(response.request).opt_out


def test_opt_outs_that_are_not_honoured_are_not_looked_for():
    answers = {"/page": page(tdm_reservation="1", X_Robots_Tag="noai"), TDMREP: tdmrep("/")}
    with Site(answers) as site:
        result = crawl(f"{site.url}/page", BILINGUAL_HONOUR="noindex")
    assert len(result.pages) == 1
    assert TDMREP not in site.asked


def test_a_page_that_tdmrep_json_reserves_is_not_asked_for():
    with Site({TDMREP: tdmrep("/private/*")}) as site:
        result = crawl(f"{site.url}/private/page", f"{site.url}/open/page")
    assert result.failures == {f"{site.url}/private/page": "tdm_reserved"}
    assert site.pages_asked == ["/open/page"]


def test_tdmrep_json_is_asked_for_once_however_many_wait_for_it():
    def slow(_handler):
        Arrivals.wait_for(8 + 1)
        return tdmrep("/")

    with Site({TDMREP: slow}) as site:
        urls = [f"{site.url}/{number}" for number in range(8)]
        result = crawl(*urls, middlewares=Arrivals.WIRED)
    assert result.reasons == ["tdm_reserved"] * 8
    assert site.asked == [TDMREP]


JSON = {"Content-Type": "application/json"}
BROKEN = b'[{"location": "/\\ud800", "tdm-reservation": 1}, {"location": "/news/'
NOT_GZIP = {**JSON, "Content-Encoding": "gzip"}


@pytest.mark.parametrize(
    "answer",
    [
        (200, JSON, BROKEN),
        (200, JSON, b"[" * 100_000),
        (200, JSON, b" " * 2_000_000),
        (200, JSON, b'{"all": "rights reserved"}'),
        (200, JSON, b"[1, 2]"),
        (200, NOT_GZIP, b"[]"),
    ],
)
def test_a_tdmrep_json_that_cannot_be_read_opts_the_whole_site_out(answer):
    with Site({TDMREP: answer}) as site:
        result = crawl(f"{site.url}/page", f"{site.url}/other")
    assert result.reasons == ["tdm_unreadable"] * 2
    assert site.asked == [TDMREP]
    assert result.stats["bilingual/tdmrep/unreadable"] == 1
    assert result.stats["bilingual/optouts/tdm_unreadable"] == 2
    assert result.stats[HOSTS_STAT] == {"127.0.0.1": {"tdm_unreadable": 2}}


def test_half_a_character_in_one_rule_does_not_void_the_others():
    rules = [{"location": path, "tdm-reservation": 1} for path in ("/\ud800", "/news/")]
    with Site({TDMREP: (200, JSON, json.dumps(rules).encode())}) as site:
        result = crawl(f"{site.url}/news/1")
    assert result.reasons == ["tdm_reserved"]


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        ((500, HTML, b""), "tdm_unavailable"),
        ((429, HTML, b""), "tdm_unavailable"),
        (lambda _handler: None, "connection"),
    ],
)
def test_a_tdmrep_json_that_cannot_be_had_keeps_pages_from_being_fetched(answer, failure):
    with Site({TDMREP: answer}) as site:
        result = crawl(f"{site.url}/page", f"{site.url}/other", RETRY_TIMES=1)
    assert result.reasons == [failure] * 2
    assert result.stats["retry/count"] == 2
    assert set(site.asked) == {TDMREP}


def test_a_header_that_names_the_robot_of_the_project_is_for_us():
    with Site({"/page": page(X_Robots_Tag="mybot/1: noai")}) as site:
        settings = {"USER_AGENT": "MyBot/2.0 (+https://example.org)", "ROBOTSTXT_USER_AGENT": None}
        assert crawl(f"{site.url}/page", **settings).reasons == ["noai"]
        assert not crawl(f"{site.url}/page").failures


@pytest.mark.parametrize(
    "answer",
    [
        (404, HTML, b""),
        (403, HTML, b""),
        (200, JSON, b""),
        (200, JSON, b"[]"),
        (200, HTML, b"<p>a page for everything"),
        (302, {"Location": "/"}, b""),
        (302, {"Location": TDMREP}, b""),
    ],
)
def test_a_site_without_a_tdmrep_json_reserves_nothing(answer):
    with Site({TDMREP: answer}) as site:
        result = crawl(f"{site.url}/page")
    assert len(result.pages) == 1
    assert site.asked.count(TDMREP) == 1 or answer[1:2] == ({"Location": TDMREP},)


def test_tdmrep_json_is_not_asked_for_on_behalf_of_a_forbidden_page():
    robots = (200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /")
    with Site({"/robots.txt": robots}) as site:
        crawl(f"{site.url}/page", ROBOTSTXT_OBEY=True)
    assert site.asked == ["/robots.txt"]


def test_a_file_about_the_site_is_read_whatever_its_headers_say():
    headers = {"Content-Type": "application/xml", "X-Robots-Tag": "none", "tdm-reservation": "1"}
    with Site({"/sitemap.xml": (200, headers, b"<urlset/>")}) as site:
        request = scrapy.Request(
            f"{site.url}/sitemap.xml", meta=RequestState(site_file=True).as_meta()
        )
        result = crawl(request)
    assert len(result.pages) == 1


def test_the_hosts_that_are_recorded_have_a_limit():
    stats = MemoryStatsCollector(get_crawler())
    for number in range(MAX_HOSTS + 10):
        record_opt_out(stats, f"host{number}.example", "noai")
    record_opt_out(stats, "host0.example", "noai")
    assert stats.get_value("bilingual/optouts/noai") == MAX_HOSTS + 11
    assert len(stats.get_value(HOSTS_STAT)) == MAX_HOSTS
    assert stats.get_value(HOSTS_STAT)["host0.example"] == {"noai": 2}


@pytest.mark.parametrize("said", ["noindex; nofollow", "noindex;nofollow", "NOINDEX, nofollow"])
def test_a_page_may_write_its_directives_with_semicolons_too(said):
    markup = f'<meta name="robots" content="{said}"><p>Kaixo'.encode()
    document = build_document("https://example.org/", markup, content_type="text/html")
    assert document.robots == {"noindex", "nofollow"}
