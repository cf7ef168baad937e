"""What is rendered, what a page may ask for, and what is remembered: without a browser."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bilingual_crawler.crawl.browser.chromium import check_rendering, launch_options
from bilingual_crawler.crawl.browser.rendering import (
    GIVEN_UP,
    MAX_USELESS,
    MIN_USEFUL,
    SiteMemory,
    has_more,
    merged,
)
from bilingual_crawler.crawl.browser.resources import Treatment, treatment_of
from bilingual_crawler.documents.document import Document, Link, Paragraph
from bilingual_crawler.errors import ConfigurationError
from tests.support.crawling import crawl

SITE = "example.org"


class Facts(dict):
    """What a journal remembers, in memory."""

    def get(self, name, default=""):
        return super().get(name, default)


def learned(*gained):
    facts = Facts()
    for each in gained:
        SiteMemory(facts).learn(SITE, each)
    return SiteMemory(facts), facts


def test_an_unknown_site_is_rendered_where_there_are_signs():
    memory, _ = learned()
    assert memory.wants(SITE, has_signs=True)
    assert not memory.wants(SITE, has_signs=False)


def test_a_site_that_needed_it_is_rendered_at_once():
    memory, _ = learned(*[True] * MIN_USEFUL)
    assert memory.wants(SITE, has_signs=False)
    assert not memory.wants("example.com", has_signs=False)


def test_a_site_that_gains_nothing_is_given_up():
    memory, facts = learned(True, *[False] * MAX_USELESS, True)
    assert not memory.wants(SITE, has_signs=True)
    assert list(facts.values()) == [GIVEN_UP]


def test_a_site_that_no_longer_needs_it_is_asked_for_signs_again():
    memory, _ = learned(*[True] * MIN_USEFUL, *[False] * MAX_USELESS)
    assert not memory.wants(SITE, has_signs=False)
    assert memory.wants(SITE, has_signs=True)


def test_a_gain_makes_up_for_all_that_gained_nothing():
    memory, _ = learned(*[False] * (MAX_USELESS - 1), True, *[False] * (MAX_USELESS - 1))
    assert memory.wants(SITE, has_signs=True)


@pytest.mark.parametrize("value", ["", "what?", "3", "x y", "-1 5"])
def test_a_memory_that_cannot_be_read_is_none(value):
    facts = Facts({f"rendering of {SITE}": value})
    assert not SiteMemory(facts).wants(SITE, has_signs=False)


@pytest.mark.parametrize(
    ("kind", "method", "url", "treatment"),
    [
        ("script", "GET", "https://cdn.example/a.js", Treatment.FETCH),
        ("xhr", "GET", "http://example.org/a.json", Treatment.FETCH),
        ("fetch", "GET", "https://api.example.org/", Treatment.FETCH),
        ("fetch", "POST", "https://api.example.org/", Treatment.REFUSE),
        ("script", "GET", "https://www.google-analytics.com/ga.js", Treatment.REFUSE),
        ("stylesheet", "GET", "https://example.org/a.css", Treatment.EMPTY),
        ("script", "GET", "file:///etc/passwd", Treatment.REFUSE),
        *((kind, "GET", "https://example.org/x", Treatment.REFUSE)
          for kind in ("image", "font", "media", "ping", "websocket", "eventsource", "document",
                       "manifest", "other", "texttrack", "prefetch")),
    ],
)  # fmt: skip
def test_pages_get_what_text_is_made_of(kind, method, url, treatment):
    assert treatment_of(kind, method, url) is treatment


def with_text(length, links=0):
    found = [Link(f"https://example.org/{number}") for number in range(links)]
    return Document("https://example.org/", paragraphs=[Paragraph("a" * length)], links=found)


@pytest.mark.parametrize(
    ("plain", "rendered", "more"),
    [
        (with_text(0), with_text(200), True),
        (with_text(0), with_text(199), False),
        (with_text(2000), with_text(2300), False),
        (with_text(2000), with_text(2400), True),
        (with_text(2000), with_text(1000), False),
        (with_text(500, links=3), with_text(500, links=8), True),
        (with_text(500, links=3), with_text(500, links=7), False),
    ],
)
def test_a_page_is_worth_more_by_text_or_by_links(plain, rendered, more):
    assert has_more(plain, replace(rendered)) is more


def found_of(document, **more):
    visit = pytest.importorskip("bilingual_crawler.crawl.browser.visit")
    return visit.Findings(page=visit.View(document, b""), **more)


@pytest.mark.parametrize("length", [0, 1000])
def test_opt_outs_that_a_script_adds_hold_whatever_else_it_adds(length):
    closing = replace(with_text(length), robots=frozenset({"noai"}), tdm_reservation=True)
    document = merged(replace(with_text(0), robots=frozenset({"nofollow"})), found_of(closing))
    assert document.rendered is bool(length)
    assert document.robots == {"noai", "nofollow"}
    assert document.tdm_reservation


def test_a_rendered_page_has_the_links_of_both_forms_and_those_that_scripts_take():
    plain, target = with_text(0, links=1), Link("https://example.org/eu/", "EU")
    found = found_of(replace(with_text(500), links=[]), links={target.url: target})
    assert [link.url for link in merged(plain, found).links] == [
        "https://example.org/0",
        "https://example.org/eu/",
    ]


def test_a_missing_package_is_told_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "scrapy_playwright", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'bilingual-crawler\[render\]'"):
        check_rendering("")


def test_a_program_that_is_none_is_told_before_anything_is_fetched(tmp_path):
    wrong = {"BILINGUAL_RENDER": "auto", "BILINGUAL_CHROMIUM": tmp_path / "chromium"}
    printed = crawl("http://127.0.0.1:9/", tmp_path / "out", settings=wrong, status=2)
    assert "is not a program: give the path of Chromium" in printed
    assert "Traceback" not in printed


def test_a_program_that_is_named_is_used(tmp_path):
    program = Path(sys.executable)
    assert launch_options(str(program))["executable_path"] == str(program)
    check_rendering(str(program))


def test_the_browser_has_no_network_of_its_own():
    arguments = launch_options("")["args"]
    assert "--host-resolver-rules=MAP * ~NOTFOUND" in arguments
    assert "--proxy-bypass-list=<-loopback>" in arguments
