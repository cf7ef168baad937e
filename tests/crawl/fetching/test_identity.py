"""The crawler says who it is, and says so to its user when it cannot."""

import logging

import pytest
from scrapy.settings import Settings

from bilingual_crawler.crawl.fetching.identity import (
    accept_language,
    identity_settings,
    warn_without_contact,
)
from bilingual_crawler.languages import LanguagePair

CONTACT = "https://corpus.example/crawl"


def test_the_name_carries_the_contact():
    values = identity_settings(Settings(), CONTACT)
    assert values["USER_AGENT"].startswith("bilingual-crawler/")
    assert f"+{CONTACT}" in values["USER_AGENT"]
    assert values["ROBOTSTXT_USER_AGENT"] == "bilingual-crawler"


def test_a_project_with_its_own_name_keeps_it():
    assert identity_settings(Settings({"USER_AGENT": "mine/1.0"}), CONTACT) == {}


def test_a_crawl_of_the_open_web_without_a_contact_is_warned_about(caplog):
    with caplog.at_level(logging.WARNING):
        assert warn_without_contact(
            "", ["http://10.0.0.1/", "https://example.org/", "https://x.eus"]
        )
    (record,) = caplog.records
    assert "example.org" in record.message
    assert "-s BILINGUAL_CONTACT=https://" in record.message


@pytest.mark.parametrize(
    ("contact", "seeds", "name"),
    [
        (CONTACT, ["https://example.org/"], ""),
        ("", ["http://127.0.0.1:8000/", "http://localhost/", "http://intranet/"], ""),
        ("", ["https://example.org/"], "mine/1.0 (+https://me.example)"),
        ("", ["https://example.org/"], "mine/1.0 (me@me.example)"),
        ("", ["http://[broken/", ""], ""),
        ("", [], ""),
    ],
)
def test_nobody_is_warned_without_need(caplog, contact, seeds, name):
    assert not warn_without_contact(contact, seeds, name)
    assert not caplog.records


def test_the_languages_of_the_pair_are_asked_for_first():
    assert accept_language(LanguagePair.parse("spa-eus")) == "es, eu;q=0.9, *;q=0.5"


def test_a_language_without_a_short_code_is_asked_for_by_its_long_one():
    assert accept_language(LanguagePair.parse("ast-spa")) == "ast, es;q=0.9, *;q=0.5"
