"""The rules of tdmrep.json, as the TDM Reservation Protocol states them."""

import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.crawl.fetching.tdmrep import (
    MAX_FILE,
    UnreadableError,
    is_reserved,
    read_rules,
)


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


@pytest.mark.parametrize("value", [1, "1", True, 2, "yes", 1.5, [1], {}])
def test_a_reservation_is_understood_however_it_is_written(value):
    assert is_reserved("https://example.org/", rules(("/", value)))


@pytest.mark.parametrize("value", [0, "0", False, 0.0, "false"])
def test_a_rule_may_say_that_nothing_is_reserved(value):
    assert not is_reserved("https://example.org/", rules(("/", value)))


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"null",
        b'"/"',
        b"[" * 100_000,
        b"[1, null, [], {}, {}]",
        b'[{"location": "/"}]',
        b'[{"location": "/", "tdm-reservation": null}]',
        b'[{"location": "/", "tdm-reservation": 1},]',
        b'[{"location": "/", "tdm-reservation": 1}',
        b'[{"location": "/", "tdm-reservation": ' + b"9" * 5_000 + b"}]",
        b"\xff\xfex\x00",
        b"Not found",
        b'[{"location": "/", "tdm-reservation": 1}]' + b" " * MAX_FILE,
    ],
)
def test_a_file_without_a_readable_rule_is_unreadable(body):
    with pytest.raises(UnreadableError, match=r"^tdmrep\.json [^\n]{1,60}\.$"):
        read_rules(body)


@pytest.mark.parametrize(
    "body", [b"", b" \r\n", b"\xef\xbb\xbf", b"[]", b"<html>no such file", b"\n<!doctype html>"]
)
def test_an_empty_file_and_a_web_page_have_no_rules(body):
    assert read_rules(body) == ()


@pytest.mark.parametrize(
    "broken",
    [
        {"location": 1},
        "text",
        None,
        {"location": "/\ud800", "tdm-reservation": 1},
        {"location": "/\ud800", "tdm-reservation": 0},
        {"location": "/" + "x" * 1_001, "tdm-reservation": 1},
    ],
)
def test_a_broken_rule_does_not_hide_the_others(broken):
    body = json.dumps([broken, {"location": "/news/", "tdm-reservation": 1}]).encode()
    assert is_reserved("https://example.org/news/1", read_rules(body))


@pytest.mark.parametrize(
    ("rule", "path", "reserved"),
    [
        ({"location": "/caf\ud800/", "tdm-reservation": 1}, "/caf%C3%A9/1", True),
        ({"location": "/caf\ud800/", "tdm-reservation": 1}, "/tea/", False),
        ({"location": ["/a"], "tdm-reservation": 1}, "/anything", True),
        ({"tdm-reservation": 1}, "/anything", True),
        ({"location": "/" + "x" * 2_000, "tdm-reservation": 1}, "/" + "x" * 1_500, True),
        ({"location": "/" + "x" * 2_000, "tdm-reservation": 1}, "/y", False),
        ({"location": "/x" + "%41" * 500, "tdm-reservation": 1}, "/x" + "A" * 500, True),
    ],
)
def test_a_reservation_that_is_not_precise_is_a_broad_one(rule, path, reserved):
    body = json.dumps(rule).encode()
    assert is_reserved(f"https://example.org{path}", read_rules(body)) is reserved


def test_bytes_that_are_no_text_do_not_hide_other_rules():
    body = b"""[{"location": "/caf\xe9", "tdm-reservation": 1},
        {"location": "/a", "tdm-reservation": 1}]"""
    found = read_rules(body)
    assert is_reserved("https://example.org/a", found)
    assert is_reserved("https://example.org/caf%E9", found)
    assert not is_reserved("https://example.org/b", found)


def test_every_rule_counts_however_many_there_are():
    many = [(f"/{number}$", 0) for number in range(3_000)]
    assert is_reserved("https://example.org/late", rules(*many, ("/late", 1)))


def test_hostile_patterns_cost_little():
    hostile = rules(*[("/" + "a*" * 400 + "b", 1)] * 300)
    start = time.process_time()
    assert not is_reserved("https://example.org/" + "a" * 900, hostile)
    assert time.process_time() - start < 10  # a quadratic way takes minutes


@given(st.binary(max_size=200))
def test_no_bytes_make_it_fail(body):
    with contextlib.suppress(UnreadableError):
        read_rules(body)


ANY_TEXT = st.text(st.characters(codec=None), max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=5,
)


@given(st.lists(st.fixed_dictionaries({}, optional={"location": JSON, "tdm-reservation": JSON})))
def test_no_rule_makes_it_fail(entries):
    with contextlib.suppress(UnreadableError):
        is_reserved("https://example.org/a", read_rules(json.dumps(entries).encode()))


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_pattern_and_no_path_make_it_fail(pattern, path):
    is_reserved(f"https://example.org/{path}".split("[", maxsplit=1)[0], rules((pattern, 1)))
