"""Requests survive a restart whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import FormRequest, Request, Spider

from bilingual_crawler.frontier.requests import decode, encode


class SomeSpider(Spider):
    name = "some"

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


def test_two_requests_share_nothing():
    one, two = (decode("https://a.example/", None, SPIDER) for _ in range(2))
    one.meta["depth"] = 1
    assert two.meta == {}


@pytest.mark.parametrize(
    "request_",
    [
        Request("https://a.example/", lambda response: None),
        Request("https://a.example/", SPIDER.parse, meta={"object": object()}),
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


@given(st.dictionaries(st.text().filter(lambda key: not key.startswith("bilingual_")), VALUES))
def test_any_meta_data_comes_back(meta):
    round_trip(Request("https://a.example/", SPIDER.parse, errback=SPIDER.failed, meta=meta))
