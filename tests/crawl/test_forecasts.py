"""The forecasts of a crawl, kept in its journal."""

import sqlite3

import pytest

from bilingual_crawler.crawl.forecasts import Forecasts
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.store.journal import Journal

LANGS = LanguagePair.parse("spa-eus")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "crawl.sqlite"


def opened(path):
    journal = Journal(path)
    return journal, Forecasts(journal, lambda _url: LANGS)


def crawled(forecasts, host, pages=30, waiting=40):
    for number in range(pages + waiting):
        forecasts.found(f"https://{host}/es/{number}")
    for number in range(pages):
        forecasts.ended(f"https://{host}/es/{number}", is_page=True)


def test_each_site_has_a_forecast_once_it_has_had_enough_pages(path):
    journal, forecasts = opened(path)
    crawled(forecasts, "www.a.org")
    crawled(forecasts, "b.org", pages=3)
    now = forecasts.now()
    assert set(now.sites) == {"a.org"}
    assert now.unknown == 1
    journal.close()


def test_a_resumed_crawl_goes_on_with_its_forecast(path):
    journal, forecasts = opened(path)
    crawled(forecasts, "a.org")
    before = forecasts.now()
    journal.checkpoint(wait=True)
    journal.close()
    journal, again = opened(path)
    again.begin(known=70)
    assert again.now() == before
    journal.close()


def test_a_crawl_that_an_earlier_version_began_has_no_forecast(path):
    journal, forecasts = opened(path)
    forecasts.begin(known=70)
    crawled(forecasts, "a.org")
    assert forecasts.now().total is None
    journal.close()


def test_a_site_that_another_worker_has_crawled_has_no_forecast(path):
    journal, forecasts = opened(path)
    crawled(forecasts, "a.org")
    crawled(forecasts, "b.org")
    forecasts.begin_site("b.org", 30)
    forecasts.begin_site("a.org", 90)
    assert set(forecasts.now().sites) == {"b.org"}
    journal.close()


@pytest.mark.parametrize(
    "state",
    [
        *("", "[]", "{}", '{"numbers": [1], "rates": [], "sections": 3}'),
        '{"numbers": [30, 0, 40], "rates": [NaN, 0], "sections": {}}',
        '{"numbers": [30, 0, 40], "rates": [0, 0], "sections": {"a": [1, 1e999, 0, 0]}}',
    ],
)
def test_a_damaged_state_costs_the_forecast_of_its_site(path, state, caplog):
    journal, forecasts = opened(path)
    crawled(forecasts, "a.org")
    journal.checkpoint(wait=True)
    journal.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE site_yields SET state = ?", (state,))
    journal, again = opened(path)
    crawled(again, "a.org")
    assert again.now().total is None
    assert "a.org cannot be read" in caplog.text
    journal.close()
