"""Suggestions for names that do not exist."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.settings import Settings

from bilingual_crawler.config.settings import Config
from bilingual_crawler.errors import ConfigurationError
from bilingual_crawler.suggestions import hint, nearest

NAMES = ("allow_private", "duplicate_share", "site_pages", "site_yield", "scorer", "delay")


def problem(name):
    with pytest.raises(ConfigurationError) as caught:
        Config.from_settings(Settings({name: "1"}))
    return str(caught.value)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("private_addresses", ["allow_private"]),
        ("scorrer", ["scorer"]),
        ("dealy", ["delay"]),
        ("SCORER", ["scorer"]),
        ("sitepages", ["site_pages"]),
        ("site_limits", ["site_pages", "site_yield"]),
        ("colour", []),
        ("share_of_light_year_pages", ["duplicate_share", "site_pages"]),
        ("", []),
        ("x" * 100_000, []),
    ],
)
def test_only_what_is_near_is_suggested(written, meant):
    assert nearest(written, NAMES) == meant


def test_a_word_that_many_names_have_is_no_reason():
    assert nearest("site_of_a_museum", [f"site_{letter * 8}" for letter in "abcdef"]) == []


@given(st.text(max_size=30), st.lists(st.text(max_size=30), max_size=8))
def test_suggestions_are_known_names_and_a_known_name_is_its_own(written, known):
    near = nearest(written, known)
    assert set(near) <= set(known)
    if written and written in known:
        assert near[0].lower() == written.lower()


def test_a_hint_is_a_question_or_what_is_said_otherwise():
    assert hint(["a"], "no.") == "did you mean a?"
    assert hint(["a", "b", "c"], "no.") == "did you mean a, b or c?"
    assert hint([], "there are a and b.") == "there are a and b."


def test_a_setting_that_shares_a_word_is_suggested():
    assert problem("BILINGUAL_PRIVATE_ADDRESSES") == (
        "There is no setting BILINGUAL_PRIVATE_ADDRESSES: did you mean BILINGUAL_ALLOW_PRIVATE?"
    )


def test_a_setting_that_is_like_no_other_gets_the_list():
    assert problem("BILINGUAL_QWERTZ") == (
        "There is no setting BILINGUAL_QWERTZ: docs/reference/settings.md lists all."
    )
