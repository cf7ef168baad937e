"""URLs with the same fingerprint, and with different ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.urls.fingerprint import (
    canonical_url,
    request_fingerprint,
    url_fingerprint,
)
from bilingual_crawler.urls.hosts import host_of

PAGE = "https://www.udala.example/es/agenda"


@pytest.mark.parametrize(
    "same",
    [
        PAGE + "#top",
        PAGE + "?",
        PAGE + "?utm_source=x&utm_medium=y",
        PAGE + "?fbclid=123",
        "HTTPS://WWW.UDALA.EXAMPLE/es/agenda",
        PAGE.replace("agenda", "%61genda"),
    ],
)
def test_one_page_under_another_spelling(same):
    assert url_fingerprint(same) == url_fingerprint(PAGE)


@pytest.mark.parametrize(
    "other",
    [PAGE + "/", PAGE + "?id=1", PAGE.replace("https", "http"), PAGE.replace("/es/", "/ES/")],
)
def test_what_may_be_another_page_stays_another(other):
    assert url_fingerprint(other) != url_fingerprint(PAGE)


def test_parameters_are_one_in_any_order_and_campaigns_do_not_count():
    assert canonical_url(PAGE + "?b=2&utm_id=9&a=1") == canonical_url(PAGE + "?a=1&b=2")


def test_a_form_is_not_the_page_it_is_sent_to():
    plain = request_fingerprint(PAGE, "GET", b"")
    assert plain == url_fingerprint(PAGE)
    others = {
        request_fingerprint(PAGE, "POST", b""),
        request_fingerprint(PAGE, "POST", b"a=1"),
        request_fingerprint(PAGE, "GET", b"", "eus"),
    }
    assert len(others | {plain}) == 4


@given(st.text())
def test_any_text_has_a_fingerprint_and_a_host(text):
    number = url_fingerprint(text)
    assert -(2**63) <= number < 2**63
    assert isinstance(host_of(text), str)
