"""The rules of tdmrep.json, as the TDM Reservation Protocol states them."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.fetching.tdmrep import LARGEST_FILE, is_reserved, read_rules


def rules(*pairs):
    entries = [{"location": location, "tdm-reservation": value} for location, value in pairs]
    return read_rules(json.dumps(entries).encode())


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("/", "/", True),
        ("/", "/anything?x=1", True),
        ("/a", "/abc", True),
        ("/a/", "/a", False),
        ("/a/", "/b/a/", False),
        ("*", "/anything", True),
        ("/*.jpg", "/images/x.jpg?size=1", True),
        ("/*.jpg$", "/images/x.jpg?size=1", False),
        ("/*.jpg$", "/images/x.jpg", True),
        ("/this/*/then", "/this/or/that/then/on", True),
        ("/this/*/then", "/this/then", False),
        ("/exactly$", "/exactly", True),
        ("/exactly$", "/exactly/not", False),
        ("/a*a$", "/a", False),
        ("/a*a$", "/aa", True),
        ("/*a*b$", "/xaxbxb", True),
        ("/foo-%24", "/foo-$", True),
        ("/foo-%2A", "/foo-*", True),
        ("/%7Euser", "/~user", True),
        ("/a%2fb", "/a%2Fb", True),
        ("/a%2fb", "/a/b", False),
        ("/kaixo-ñ", "/kaixo-%C3%B1", True),
        ("/Case", "/case", False),
        ("pages", "/pages/1", True),
    ],
)
def test_a_pattern_matches_as_in_robots_txt(pattern, path, matches):
    assert is_reserved(f"https://example.org{path}", rules((pattern, 1))) is matches


def test_the_first_rule_that_matches_decides():
    both = rules(("/open/", 0), ("/", 1))
    assert not is_reserved("https://example.org/open/page", both)
    assert is_reserved("https://example.org/other", both)


def test_without_a_matching_rule_nothing_is_reserved():
    assert not is_reserved("https://example.org/b", rules(("/a", 1)))


def test_a_host_without_a_path_is_its_root():
    assert is_reserved("https://example.org", rules(("/", 1)))


@pytest.mark.parametrize("value", [1, "1", True])
def test_a_reservation_is_understood_however_it_is_written(value):
    assert is_reserved("https://example.org/", rules(("/", value)))


@pytest.mark.parametrize("value", [0, "0", 2, "yes", None, 1.5, [1], {}])
def test_other_values_reserve_nothing(value):
    assert not is_reserved("https://example.org/", rules(("/", value)))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>no such file",
        b'{"location": "/", "tdm-reservation": 1}',
        b"[" * 100_000,
        b"[1, null, [], {}, {}]",
        b'[{"location": 1, "tdm-reservation": 1}]',
        b'[{"location": "/", "tdm-reservation": ' + b"9" * 5_000 + b"}]",
        b"\xff\xfe\x00",
        b'[{"location": "/", "tdm-reservation": 1}]' + b" " * LARGEST_FILE,
    ],
)
def test_a_broken_or_hostile_file_has_no_rules(body):
    assert read_rules(body) == ()


def test_a_broken_rule_does_not_hide_the_others():
    body = b'[{"location": 1}, {"location": "/", "tdm-reservation": 1}]'
    assert is_reserved("https://example.org/", read_rules(body))


def test_hostile_patterns_cost_little():
    hostile = rules(*[("/" + "a*" * 400 + "b", 1)] * 500)
    start = time.process_time()
    assert not is_reserved("https://example.org/" + "a" * 900, hostile)
    assert time.process_time() - start < 10  # a quadratic way takes minutes


@given(st.binary(max_size=200))
def test_no_bytes_make_it_fail(body):
    read_rules(body)


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_pattern_and_no_path_make_it_fail(pattern, path):
    is_reserved(f"https://example.org/{path}".split("[", maxsplit=1)[0], rules((pattern, 1)))
