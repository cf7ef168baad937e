"""Requests survive a restart whole."""

import sys
from dataclasses import replace
from typing import ClassVar

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import FormRequest, Request, Spider

from bilingual_crawler.crawl.request_state import RequestState, end_url
from bilingual_crawler.crawl.requests import (
    LOOK,
    META_TYPES,
    PRIVILEGES,
    StoredRequestError,
    decode,
    encode,
)
from bilingual_crawler.frontier.entry import State
from bilingual_crawler.outcomes import Outcome
from bilingual_crawler.spiders.bilingual import BilingualSpider


class SomeSpider(Spider):
    name = "some"
    callbacks: ClassVar = {"parse", "other"}

    def parse(self, response):
        pass

    def other(self, response, which):
        pass

    def failed(self, failure):
        pass


SPIDER = SomeSpider()


def round_trip(request):
    again = decode(request.url, encode(request, SPIDER), SPIDER)
    assert type(again) is type(request)
    assert again.to_dict(spider=SPIDER) == request.to_dict(spider=SPIDER)
    return again


def test_a_plain_link_needs_no_bytes():
    request = Request("https://a.example/", SPIDER.parse, errback=SPIDER.failed)
    assert encode(request, SPIDER) is None
    round_trip(request)


def test_everything_a_request_can_carry_comes_back():
    again = round_trip(
        Request(
            "https://a.example/?q=1",
            SPIDER.other,
            method="POST",
            headers={"X-One": ["a", b"b\xff"], "Accept": "text/html"},
            body=b"\x00\xff binary",
            cookies=[{"name": "k", "value": "v", "domain": "a.example"}],
            meta={"depth": 3, "nested": {"list": [1, 2.5, None, True, "ñ"]}, "raw": b"\x00"},
            encoding="latin-1",
            priority=7,
            dont_filter=True,
            errback=SPIDER.failed,
            flags=["cached"],
            cb_kwargs={"which": "this"},
        )
    )
    assert again.callback == SPIDER.other
    assert again.headers.getlist("X-One") == [b"a", b"b\xff"]


def test_a_subclass_comes_back_as_itself():
    round_trip(FormRequest("https://a.example/", SPIDER.parse, formdata={"a": "b"}))


def test_a_request_without_callbacks_stays_without():
    again = round_trip(Request("https://a.example/"))
    assert again.callback is None
    assert again.errback is None


def test_our_own_state_comes_back_but_for_what_belongs_to_one_run():
    state = RequestState(
        score=3.5, variant="eus", probe=True, claimed_by="a.example", claim_answered=True
    )
    request = Request("https://b.example/", SPIDER.parse, meta=state.as_meta())
    again = decode(request.url, encode(request, SPIDER), SPIDER)
    assert RequestState.of(again) == replace(state, score=None)


def test_a_changed_state_does_not_change_the_request_it_was_copied_from():
    request = Request("https://a.example/", meta=RequestState(score=1.0).as_meta())
    again = request.replace(url="https://a.example/b")
    end_url(again, State.DONE, Outcome.STORED)
    assert RequestState.of(request).end is None
    assert RequestState.of(again).end == (State.DONE, "stored")


def test_two_requests_share_nothing():
    one, two = (decode("https://a.example/", None, SPIDER) for _ in range(2))
    one.meta["depth"] = 1
    assert two.meta == {}


@pytest.mark.parametrize(
    "request_",
    [
        Request("https://a.example/", lambda response: None),  # type: ignore[misc]
        Request("https://a.example/", SPIDER.parse, meta={"object": object()}),
        Request("https://a.example/", SPIDER.log),
        Request("https://a.example/", SPIDER.parse, meta={"proxy": "http://b.example:8080"}),
        Request("https://a.example/", SPIDER.parse, meta={"dont_obey_robotstxt": True}),
        Request("https://a.example/", SPIDER.parse, body=b"x" * 2_000_000),
        Request("https://a.example/", SPIDER.parse, meta=RequestState(site_file=True).as_meta()),
    ],
)
def test_what_cannot_be_written_says_so(request_):
    with pytest.raises((TypeError, ValueError)):
        encode(request_, SPIDER)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


SPECIAL = PRIVILEGES | META_TYPES.keys()


@given(st.dictionaries(st.text().filter(lambda key: key not in SPECIAL), VALUES))
def test_any_meta_data_comes_back(meta):
    """Hypothesis takes words from the code too, so keys with rules of their own are left out."""
    round_trip(Request("https://a.example/", SPIDER.parse, errback=SPIDER.failed, meta=meta))


def test_code_that_a_stored_request_names_is_not_run(tmp_path, monkeypatch):
    (tmp_path / "planted.py").write_text("Bait = print\nopen(__file__ + '.ran', 'w').close()\n")
    monkeypatch.syspath_prepend(tmp_path)
    payload = msgpack.packb({"_class": "planted.Bait"})
    with pytest.raises(StoredRequestError, match=r"planted\.Bait"):
        decode("https://a.example/", payload, SPIDER)
    assert not (tmp_path / "planted.py.ran").exists()
    assert "planted" not in sys.modules


HOSTILE = {
    "a class": {"_class": "os.system"},
    "a method of Scrapy": {"callback": "from_crawler"},
    "a method of ours": {"callback": "prepare"},
    "an attribute": {"callback": "__init__"},
    "an errback": {"errback": "parse"},
    "a number as callback": {"callback": 1},
    "an unknown field": {"formdata": {"a": "b"}},
    "a field of another class": {
        "_class": "scrapy.http.request.form.FormRequest",
        "formdata": {"a": "b"},
    },
    "a field twice": {"url": "https://b.example/"},
    "a proxy": {"meta": {"proxy": "http://127.0.0.1:8080"}},
    "no robots.txt": {"meta": {"dont_obey_robotstxt": True}},
    "a slot": {"meta": {"download_slot": "elsewhere"}},
    "a file of a site": {"meta": {"bilingual_site_file": True}},
    "a depth of text": {"meta": {"depth": "1"}},
    "not a number": {"meta": {"download_timeout": float("nan")}},
    "no end": {"meta": {"download_timeout": float("inf")}},
    "no redirects": {"meta": {"redirect_urls": [1]}},
    "no look": {"meta": {LOOK: {"words": 3}}},
    "numbered meta": {"meta": {1: 2}},
    "meta of text": {"meta": "depth"},
    "an extension": {"meta": {"x": msgpack.ExtType(5, b"code")}},
    "an encoding": {"encoding": "none-such", "cookies": {}, "headers": {"a": ["b"]}, "body": b"a"},
    "headers of lists": {"headers": {"a": [[1]]}},
    "a priority": {"priority": 1.5},
    "a list": [],
}


@pytest.mark.parametrize("fields", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("spider", [SPIDER, BilingualSpider()], ids=["any", "ours"])
def test_a_stored_request_that_is_none_of_ours_is_refused(fields, spider):
    if fields == HOSTILE["an encoding"]:
        fields = {**fields, "encoding": "none such"}
    with pytest.raises(StoredRequestError):
        decode("https://a.example/", msgpack.packb(fields), spider)


@pytest.mark.parametrize(
    "payload", [b"\x81", b"\xc1", b"\x80\x80", b"\x91" * 5000, b"\x80" + b"x" * 2_000_000, "text"]
)
def test_bytes_that_are_no_request_are_refused(payload):
    with pytest.raises(StoredRequestError):
        decode("https://a.example/", payload, SPIDER)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "data:,a", "ftp://a.example/", "https://", "x", "http://[a/"]
)
def test_only_addresses_of_the_web_are_asked_for(url):
    with pytest.raises(StoredRequestError, match="address"):
        decode(url, None, SPIDER)


def test_a_stored_request_cannot_lift_the_limits():
    meta = {"download_maxsize": 0, "download_timeout": 1e9, "max_retry_times": 0}
    payload = encode(Request("https://a.example/", SPIDER.parse, meta=meta), SPIDER)
    limits = decode("https://a.example/", payload, SPIDER).meta
    assert limits["download_maxsize"] == 1 << 30
    assert limits["download_timeout"] == 86_400
    assert limits["max_retry_times"] == 0


def test_the_proxy_of_the_environment_and_its_password_are_not_stored():
    meta = {"proxy": "http://p.example", "_scheme_proxy": True, "_auth_proxy": "http://p.example"}
    headers = {"Proxy-Authorization": "Basic aGlkZGVu", "Accept": "text/html"}
    request = Request("https://a.example/", SPIDER.parse, meta=meta, headers=headers)
    payload = encode(request, SPIDER)
    assert b"aGlkZGVu" not in payload
    assert b"p.example" not in payload
    assert decode("https://a.example/", payload, SPIDER).headers.getlist("Accept")
