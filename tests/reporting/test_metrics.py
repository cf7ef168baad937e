"""The figures of a crawl as Prometheus metrics."""

import pytest

from bilingual_crawler.reporting.forecast import CrawlForecast, Forecast, Range

metrics = pytest.importorskip(
    "bilingual_crawler.reporting.metrics", reason="pip install 'bilingual-crawler[metrics]'"
)


def samples(snapshot):
    """Return the values of all metrics, by name and label."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in metrics.CrawlCollector({}, lambda: snapshot).collect()
        for sample in family.samples
    }


def test_a_forecast_is_a_gauge_per_quantile():
    expected = Forecast(Range(180, 220, 260), Range(700, 900, 1200))
    found = samples(metrics.Snapshot(forecast=CrawlForecast(expected, {"a.org": expected}, 0)))
    assert found["bilingual_forecast_pairs", "0.1"] == 180
    assert found["bilingual_forecast_pairs", "0.9"] == 260
    assert found["bilingual_forecast_pages", "0.5"] == 900


def test_a_crawl_that_is_too_new_has_no_metric_for_it():
    found = samples(metrics.Snapshot(forecast=CrawlForecast(None, {}, 1)))
    assert not any(name.startswith("bilingual_forecast") for name, *_ in found)
