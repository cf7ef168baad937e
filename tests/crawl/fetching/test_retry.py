"""Failures that may pass are tried again, later each time."""

import time
from email.utils import formatdate

import pytest
import scrapy
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.crawl.fetching.retry import MAX_RETRY_AFTER, delay_of
from bilingual_crawler.crawl.request_state import RequestState
from tests.support.fetching import HTML, PAGE, Site, crawl

BUSY = (503, HTML, b"busy")
NOW = 1_700_000_000.0


@pytest.mark.parametrize(("attempt", "delay"), [(1, 5), (2, 10), (3, 20), (8, 600), (5000, 600)])
def test_the_delay_doubles_up_to_ten_minutes(attempt, delay):
    assert delay_of(attempt, 5, None, NOW) == delay


@pytest.mark.parametrize(
    ("header", "delay"),
    [
        (b"120", 120),
        (b" 120 ", 120),
        (b"1", 5),
        (b"99999", MAX_RETRY_AFTER),
        (b"9" * 5000, MAX_RETRY_AFTER),
        (b"-7", 5),
        (b"soon", 5),
        (b"\xff", 5),
        (formatdate(NOW + 90, usegmt=True).encode(), 90),
        (formatdate(NOW - 90, usegmt=True).encode(), 5),
        (b"Tue, 14 Nov 2023 22:15:20", 120),
        (b"Fri, 31 Dec 9999 23:59:59 GMT", MAX_RETRY_AFTER),
        (b"Fri, 31 Dec 9999 23:59:59 -2359", MAX_RETRY_AFTER),
        (b"Mon, 01 Jan 0001 00:00:00 +2359", 5),
        (b"Fri, 31 Dec 99999999999 23:59:59 GMT", 5),
        (b"Fri, 99999999999999999999 Dec 2023 23:59:59 GMT", 5),
        (b"Fri, 31 Dec 2023 99999999999999999999:59:59 GMT", 5),
        (b"Fri, 31 Dec 2023 23:59:59 +99999999999999999999", 5),
        (b"0" * 5000 + b"120", 120),
    ],
)
def test_the_server_may_ask_for_more_up_to_an_hour(header, delay):
    assert delay_of(1, 5, header, NOW) == delay


NUMBERS = st.integers(-(10**25), 10**25) | st.integers(0, 10_000)


@given(st.tuples(*[NUMBERS] * 5, st.sampled_from(["GMT", "+", "-", ""]), NUMBERS))
def test_no_date_makes_it_fail(parts):
    day, year, hour, minute, second, zone, offset = parts
    zone += "" if zone == "GMT" else str(offset)
    header = f"Fri, {day} Dec {year} {hour}:{minute}:{second} {zone}"
    assert 5 <= delay_of(1, 5, header.encode(), NOW) <= MAX_RETRY_AFTER


@given(st.binary(max_size=40))
def test_no_header_makes_it_fail(header):
    assert 5 <= delay_of(1, 5, header, NOW) <= MAX_RETRY_AFTER


def test_a_failed_page_is_scheduled_again_for_later():
    answers = [(503, {**HTML, "Retry-After": "120"}, b""), PAGE]
    with Site({"/page": lambda _handler: answers.pop(0)}) as site:
        before = time.time()
        result = crawl(f"{site.url}/page", BILINGUAL_RETRY_DELAY=5)
        after = time.time()
    (response,) = result.pages.values()
    assert response.request.meta["retry_times"] == 1
    assert before + 119 < RequestState.of(response).not_before < after + 130
    assert response.request.dont_filter
    assert result.stats["retry/count"] == 1


def test_after_the_last_retry_the_error_goes_through():
    with Site({"/page": BUSY}) as site:
        result = crawl(f"{site.url}/page", RETRY_TIMES=2)
    assert result.reasons == ["http_503"]
    assert site.pages_asked == ["/page"] * 3


def test_a_lost_connection_is_tried_again():
    answers = [None, None, PAGE]
    with Site({"/page": lambda _handler: answers.pop(0)}) as site:
        result = crawl(f"{site.url}/page", RETRY_TIMES=2)
    assert len(result.pages) == 1


@pytest.mark.parametrize("status", [404, 403, 410])
def test_a_lasting_error_is_not_tried_again(status):
    with Site({"/page": (status, HTML, b"")}) as site:
        crawl(f"{site.url}/page")
    assert site.pages_asked == ["/page"]


@pytest.mark.parametrize(
    ("meta", "asked"), [({"dont_retry": True}, 1), ({"max_retry_times": 3}, 4)]
)
def test_a_request_may_say_itself_how_often_it_is_tried(meta, asked):
    with Site({"/page": BUSY}) as site:
        crawl(scrapy.Request(f"{site.url}/page", meta=meta))
    assert len(site.pages_asked) == asked


def test_a_file_that_somebody_waits_for_is_waited_for_here():
    answers = [BUSY, (200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /")]
    with Site({"/robots.txt": lambda _handler: answers.pop(0)}) as site:
        start = time.perf_counter()
        result = crawl(f"{site.url}/page", ROBOTSTXT_OBEY=True, BILINGUAL_RETRY_DELAY=0.2)
    assert result.reasons == ["robots_txt"]
    assert time.perf_counter() - start > 0.2


def test_retries_may_be_switched_off():
    with Site({"/page": BUSY}) as site:
        crawl(f"{site.url}/page", RETRY_ENABLED=False)
    assert site.pages_asked == ["/page"]
