"""Forecasts: their bounds, sums and budgets."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.reporting.forecast import (
    FIRST,
    CrawlForecast,
    Forecast,
    Range,
    shipped_model,
    sum_of,
)
from bilingual_crawler.reporting.site_yield import FEATURES, SiteYield

MODEL = shipped_model()


def site_of(pages, pairs, waiting):
    """Return a site whose pages alternate between two languages, and are paired one by one."""
    site = SiteYield(frozenset({"spa", "eus"}))
    urls = [f"https://a.org/{'es' if n % 2 else 'eu'}/{n // 2}" for n in range(pages + waiting)]
    for url in urls:
        site.found(url)
    for number, url in enumerate(urls[:pages]):
        site.ended(url, is_page=True)
        if number % 2 and site.pairs < pairs:
            site.paired((urls[number - 1], url), 1)
    return site


sites = st.builds(site_of, st.integers(FIRST, 200), st.integers(0, 100), st.integers(1, 400))
ranges = st.lists(st.integers(0, 1000), min_size=3, max_size=3).map(lambda n: Range(*sorted(n)))
forecasts = st.builds(Forecast, ranges, ranges)


@given(sites)
def test_a_forecast_is_ordered_and_never_below_what_is_found(site):
    forecast = MODEL.of(site)
    assert site.pairs <= forecast.pairs.low <= forecast.pairs.middle <= forecast.pairs.high
    assert site.pages <= forecast.pages.low <= forecast.pages.middle <= forecast.pages.high


@given(sites, st.integers(0, 300))
def test_a_budget_is_never_exceeded(site, left):
    forecast = MODEL.of(site, left)
    assert forecast.pages.high <= site.pages + left
    assert site.pairs <= forecast.pairs.low <= forecast.pairs.middle <= forecast.pairs.high
    assert forecast.pairs.high <= site.pairs + left + 1


@given(sites)
def test_a_budget_that_is_never_reached_changes_no_page(site):
    assert MODEL.of(site, 10**9).pages == MODEL.of(site).pages


def test_nothing_is_said_before_some_dozens_of_pages():
    assert MODEL.of(site_of(FIRST - 1, 10, 50)) is None
    assert MODEL.of(site_of(FIRST, 10, 50)) is not None


@pytest.mark.parametrize("left", [None, 0])
def test_the_forecast_is_exact_when_nothing_is_left(left):
    site = site_of(40, 20, 0 if left is None else 50)
    assert MODEL.of(site, left) == Forecast(Range(20, 20, 20), Range(40, 40, 40))


def test_a_site_with_more_waiting_urls_promises_more():
    few, many = (MODEL.of(site_of(60, 30, waiting)) for waiting in (10, 300))
    assert few.pairs.middle < many.pairs.middle
    assert few.pages.high < many.pages.high


@given(st.dictionaries(st.text(), forecasts, min_size=1, max_size=6))
def test_the_total_holds_the_middles_and_is_narrower_than_the_sum_of_the_ranges(by_site):
    total = sum_of(by_site, []).total
    for what in ("pairs", "pages"):
        each = [getattr(forecast, what) for forecast in by_site.values()]
        low, middle, high = getattr(total, what)
        assert middle == sum(one.middle for one in each)
        assert sum(one.low for one in each) <= low <= middle <= high
        assert high <= sum(one.high for one in each) + 1


def test_sites_without_a_forecast_count_with_what_they_gave():
    known = Forecast(Range(10, 20, 30), Range(100, 200, 300))
    found = sum_of({"a.org": known}, [site_of(10, 5, 90)])
    assert found.total == Forecast(Range(15, 25, 35), Range(110, 210, 310))
    assert found.unknown == 1
    assert str(found) == "15-35 pairs in about 210 pages, without 1 site that is still new"


def test_a_crawl_without_any_forecast_says_when_there_will_be_one():
    found = sum_of({}, [site_of(3, 0, 9)])
    assert found.to_dict() is None
    assert str(found) == f"after {FIRST} pages of a site"


def test_a_forecast_survives_crawl_json():
    known = Forecast(Range(10, 20, 30), Range(100, 200, 300))
    written = CrawlForecast(known, {"a.org": known}, 0).to_dict()
    assert Forecast.from_dict(json.loads(json.dumps(written))) == known


@pytest.mark.parametrize(
    "fields",
    [None, [], {}, {"pairs": 1, "pages": [1, 2, 3]}, {"pairs": ["x", 1, 2], "pages": [1, 2, 3]},
     {"pairs": [1, 2], "pages": [1, 2, 3]}, {"pairs": [1, 2, 1e999], "pages": [1, 2, 3]}],
)  # fmt: skip
def test_a_strange_forecast_in_crawl_json_is_none(fields):
    assert Forecast.from_dict(fields) is None


def test_the_shipped_model_has_a_weight_for_every_feature():
    assert {len(each) for each in (*MODEL.pages, *MODEL.pairs)} == {len(FEATURES)}
    assert len(MODEL.pages) == len(MODEL.pairs) == len(Range._fields)
