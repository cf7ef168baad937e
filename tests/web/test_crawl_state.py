"""The crawl page reads the journal from outside, of a crawl that runs and of one that is over."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from bilingual_crawler.corpus.pages import PageFacts, Pages
from bilingual_crawler.store.journal import open_read_only
from bilingual_crawler.web.crawl_state import CrawlFigures, frontier_view
from bilingual_crawler.web.rendering import draw
from bilingual_crawler.web.search.index import INDEX
from bilingual_crawler.web.search.indexer import Indexer
from tests.support.web_folders import SITE, LiveCrawl, small_crawl


def state_of(folder):
    indexer = Indexer(folder)
    indexer.refresh()
    indexer.close()
    return CrawlFigures(folder, folder / INDEX).state()


def test_a_crawl_that_is_over_is_counted(tmp_path):
    state = state_of(small_crawl(tmp_path))
    assert (state.state, state.pages, state.pairs, state.waiting) == ("stopped", 5, 2, 2)
    assert state.documents == {"eus": 2, "spa": 2}
    assert state.off_language == {"eng": 1}
    assert state.why.startswith("It was stopped")
    assert state.per_100_pages == 40


def test_the_figures_of_a_running_crawl_grow(tmp_path):
    crawl = LiveCrawl(tmp_path)
    crawl.pair("uno")
    crawl.save()
    indexer = Indexer(tmp_path)
    figures = CrawlFigures(tmp_path, tmp_path / INDEX)
    indexer.refresh()
    assert (figures.state().pages, figures.state().pairs) == (2, 1)
    crawl.pair("dos")
    crawl.save()
    indexer.refresh()
    state = figures.state()
    assert (state.pages, state.pairs, state.state) == (4, 2, "running")
    assert state.curve[0] == (0, 0)
    assert state.curve[-1] == (4, 2)
    indexer.close()
    crawl.close()


def test_a_running_crawl_shows_its_forecast(tmp_path):
    crawl = LiveCrawl(tmp_path)
    crawl.save(forecast={"pairs": [5, 7, 9], "pages": [20, 30, 40], "sites": {}})
    forecast = state_of(tmp_path).forecast
    assert (forecast.pairs, forecast.pages) == ((5, 7, 9), (20, 30, 40))
    crawl.save(forecast="planted")
    assert state_of(tmp_path).forecast is None
    crawl.close()


def test_pages_that_the_crawl_gave_up_do_not_count(tmp_path):
    crawl = LiveCrawl(tmp_path)
    crawl.pair("uno")
    crawl.pair("dos")
    pages = Pages(crawl.folder.journal)
    for language in ("es", "eu"):
        url = f"{SITE}/{language}/uno"
        pages.add(PageFacts(url, url, "", b"", b"", b""), "", duplicate=False)
        pages.keep(url)
        pages.drop(url)
    crawl.save()
    state = state_of(tmp_path)
    crawl.close()
    assert (state.pairs, state.documents) == (1, {"eus": 1, "spa": 1})


def test_every_ending_is_explained_in_its_group(tmp_path):
    state = state_of(small_crawl(tmp_path))
    assert [(each.code, each.number) for each in state.dropped] == [("off_language", 1)]
    assert [(each.code, each.meaning) for each in state.failures] == [
        ("dns", "The name of the host has no address.")
    ]


def test_sites_are_told_with_what_they_gave(tmp_path):
    sites = {each.name: each for each in state_of(small_crawl(tmp_path)).sites}
    assert sites["example.org"][1:] == (5, 2, 40.0, 1, 0, "waiting")
    assert sites["broken.example"].state == "unreachable"


def test_the_best_waiting_urls_come_first(tmp_path):
    crawl = LiveCrawl(tmp_path)
    for score in (0.1, 0.9, float("inf"), 0.5):
        crawl.queue(f"{SITE}/{score}", score)
    crawl.save()
    crawl.close()
    best = frontier_view(tmp_path / "crawl.sqlite").best
    assert [each.score for each in best] == [None, 0.9, 0.5, 0.1]


def test_the_journal_cannot_be_changed_from_here(tmp_path):
    small_crawl(tmp_path)
    with (
        open_read_only(tmp_path / "crawl.sqlite") as connection,
        pytest.raises(Exception, match="readonly"),
    ):
        connection.execute("DELETE FROM urls")


def test_a_crawl_that_was_killed_is_not_called_running(tmp_path):
    crawl = LiveCrawl(tmp_path)
    crawl.save("stopped")  # before it was resumed
    assert state_of(tmp_path).state == "running"
    crawl.save()
    crawl.close()
    assert state_of(tmp_path).state == "killed"
    (tmp_path / "crawl.lock").unlink()  # as in a copy
    assert state_of(tmp_path).state == "running"
    old = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    (tmp_path / "crawl.json").write_text(json.dumps({"state": "running", "updated": old}))
    assert state_of(tmp_path).state == "silent"


def test_the_curve_does_not_fall_while_the_index_is_behind_the_crawl(tmp_path):
    crawl = LiveCrawl(tmp_path)
    Indexer(tmp_path).close()
    crawl.pair("uno")
    crawl.save(pairs=1, documents={"spa": 1, "eus": 1})
    figures = CrawlFigures(tmp_path, tmp_path / INDEX)
    state = figures.state()
    assert (state.pairs, state.documents) == (1, {"spa": 1, "eus": 1})
    crawl.pairs = 4
    crawl.end(f"{SITE}/es/", "stored")
    crawl.folder.journal.checkpoint(wait=True)
    assert figures.state().curve[-1] == (3, 4)
    crawl.close()


def test_a_journal_of_someone_else_breaks_no_page(tmp_path):
    small_crawl(tmp_path)
    with closing(sqlite3.connect(tmp_path / "crawl.sqlite")) as connection, connection:
        connection.execute("INSERT OR REPLACE INTO facts VALUES ('yield', '[1, [[5], \"x\"]]')")
        connection.execute("UPDATE tally SET amount = 'many'")
    state = state_of(tmp_path)
    assert (state.pages, state.curve) == (0, [])


def test_a_folder_without_a_journal_is_shown_from_its_report(tmp_path):
    small_crawl(tmp_path)
    for file in tmp_path.glob("crawl.sqlite*"):
        file.unlink()
    report = {
        "pages": 5, "yield": [[1, 0], [5, 2]], "urls_waiting": 7, "state": "finished",
        "urls_ended": {"dns": {"count": 3, "meaning": ""}},
        "best_waiting": [{"url": f"{SITE}/x", "score": 0.5}],
    }  # fmt: skip
    (tmp_path / "crawl.json").write_text(json.dumps(report))
    state = state_of(tmp_path)
    assert (state.pages, state.pairs, state.waiting, state.has_journal) == (5, 2, 7, False)
    assert list(state.curve) == [(0, 0), (1, 0), (5, 2)]
    assert [each.number for each in state.failures] == [3]
    assert state.best[0].url == f"{SITE}/x"


@pytest.mark.parametrize("report", ["", "{", "[]"])
def test_a_report_that_cannot_be_read_is_as_none(tmp_path, report):
    small_crawl(tmp_path)
    (tmp_path / "crawl.json").write_text(report)
    assert state_of(tmp_path).state == "unknown"


def test_a_curve_is_drawn_from_corner_to_corner():
    drawing = draw([(0, 0), (10, 3), (100, 40)])
    assert drawing.line.startswith("M56.0 256.0L")
    assert drawing.end == (744.0, 14.0)
    assert [each.label for each in drawing.up] == ["0", "10", "20", "30", "40"]
    assert [each.label for each in drawing.across] == ["0", "25", "50", "75", "100"]


@pytest.mark.parametrize("points", [[], [(0, 0)]])
def test_a_curve_without_pages_is_not_drawn(points):
    assert draw(points) is None


@pytest.mark.parametrize("pairs", [0, 1, 3, 7, 10, 99, 12345])
def test_the_grid_is_of_whole_numbers_and_reaches_the_top(pairs):
    drawing = draw([(0, 0), (5, pairs)])
    labels = [int(each.label.replace(",", "")) for each in drawing.up]
    assert labels == sorted(set(labels))
    assert labels[-1] >= pairs
    assert len(labels) <= 7
