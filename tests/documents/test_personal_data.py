"""Personal data in texts: what is found, what is not, and how it is masked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.documents.personal_data import (
    MaskedPositions,
    find_personal_data,
    masked,
    region_of,
)


def shown(text, region=None):
    return masked(text, find_personal_data(text, region))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Write to ana.perez@museo.example.org.", "Write to [EMAIL]."),
        ("<jon@example.eus>, +34 943 48 11 66", "<[EMAIL]>, [PHONE]"),
        ("IBAN ES91 2100 0418 4502 0005 1332 BIC X", "IBAN [IBAN] BIC X"),
        ("DE89370400440532013000", "[IBAN]"),
        ("Call +44 20 7946 0018 or +33 1 42 68 53 00.", "Call [PHONE] or [PHONE]."),
    ],
)
def test_personal_data_is_replaced_by_its_kind(text, told):
    assert shown(text) == told


@pytest.mark.parametrize(
    "text",
    [
        "ES91 2100 0418 4502 0005 1333",  # a wrong checksum
        "Between 2015 and 2020, 1.234.567 visitors came.",
        "@museo is our name on the network; price @ 5 EUR",
        "ISBN 978-3-16-148410-0, 12/11/2020 10:30",
        "943 48 11 66",  # of which country?
    ],
)
def test_what_only_looks_like_it_stays(text):
    assert shown(text) == text


def test_a_site_of_a_country_writes_numbers_without_its_code():
    assert region_of("https://www.museoa.eus/kontaktua") == region_of("https://a.es/") == "ES"
    assert region_of("https://example.co.uk/") == "GB"
    assert region_of("https://example.org/") is None
    assert shown("Tel. 943 48 11 66", "ES") == "Tel. [PHONE]"


@given(st.lists(st.sampled_from(["a@b.org", "+34 943 48 11 66", " y ", "museo", "é 5", ", "])))
def test_positions_outside_of_finds_follow_their_characters(parts):
    text = "|".join(parts)
    found = find_personal_data(text)
    moved, result = MaskedPositions(found), masked(text, found)
    inside = {at for each in found for at in range(each.start, each.end)}
    for at, character in enumerate(text):
        if at not in inside:
            assert result[moved(at)] == character
    assert moved(len(text)) == len(result)
