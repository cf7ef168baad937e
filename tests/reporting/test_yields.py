"""The yield curve of a crawl: its points, its line on the terminal, its picture."""

import io
from importlib.util import find_spec
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from bilingual_crawler.crawl.extensions.picture import CURVE, draw_yield, ticks
from bilingual_crawler.languages import LanguagePair
from bilingual_crawler.reporting.progress import Progress, render
from bilingual_crawler.reporting.tally import MAX_POINTS, YieldCurve, sparkline
from bilingual_crawler.store.journal import Journal
from tests.support.crawling import crawl, report
from tests.support.servers import serve_demo


@pytest.fixture
def journal(tmp_path):
    journal = Journal(tmp_path / "crawl.sqlite")
    yield journal
    journal.close()


def grown(journal, pages):
    curve = YieldCurve(journal)
    for page in range(1, pages + 1):
        curve.add(page, page // 3)
    return curve


def test_a_short_crawl_has_a_point_a_page(journal):
    assert grown(journal, 4).up_to(4, 1) == [(1, 0), (2, 0), (3, 1), (4, 1)]


def test_a_crawl_without_pages_has_no_curve(journal):
    assert YieldCurve(journal).up_to(0, 0) == []


def test_a_long_crawl_has_a_bounded_number_of_even_points(journal):
    points = grown(journal, 12_345).up_to(12_345, 4_115)
    assert MAX_POINTS // 2 <= len(points) <= MAX_POINTS
    assert points[-1] == (12_345, 4_115)
    steps = {after[0] - before[0] for before, after in pairwise(points[:-1])}
    assert len(steps) == 1
    assert all(pairs == pages // 3 for pages, pairs in points)


def test_the_end_of_the_curve_is_what_holds_now(journal):
    """A pair may be given up again after its page was counted."""
    assert grown(journal, 3).up_to(3, 0)[-1] == (3, 0)


def test_a_resumed_crawl_goes_on_with_its_curve(tmp_path):
    journal = Journal(tmp_path / "crawl.sqlite")
    before = grown(journal, 500)
    journal.close()
    again = Journal(tmp_path / "crawl.sqlite")
    after = YieldCurve(again)
    assert after.up_to(500, 166) == before.up_to(500, 166)
    for page in range(501, 1_001):
        after.add(page, page // 3)
        before.add(page, page // 3)
    assert after.up_to(1_000, 333) == before.up_to(1_000, 333)
    again.close()


def test_the_line_rises_as_the_pairs_do():
    assert sparkline([(10, 0), (20, 4), (30, 4), (40, 8)], 4) == "▁▄▄█"


def test_a_crawl_without_pairs_has_no_line():
    assert sparkline([], 24) == sparkline([(5, 0)], 24) == ""


def test_the_line_is_no_longer_than_there_are_pages():
    assert sparkline([(1, 0), (2, 1)], 24) == "▁█"


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 50)), max_size=120), st.integers(1, 40))
def test_any_curve_fits_into_its_line(steps, width):
    pages, points = 0, []
    for step, pairs in steps:
        pages += step
        points.append((pages, pairs))
    line = sparkline(points, width)
    assert len(line) == (min(width, pages) if points and points[-1][1] else 0)


def test_the_live_display_shows_the_line():
    text = io.StringIO()
    langs = LanguagePair.parse("spa-eus")
    progress = Progress(langs=langs, pages=4, pairs=2, curve=[(1, 0), (2, 1), (4, 2)])
    Console(file=text, width=80).print(render(progress))
    assert "▁▄▄█  pairs over pages" in text.getvalue()


def test_the_picture_is_drawn(tmp_path):
    image = pytest.importorskip("PIL.Image")
    draw_yield([(1, 0), (2, 1), (40, 7)], "spa-eus", tmp_path / "yield.png")
    with image.open(tmp_path / "yield.png") as picture:
        assert picture.format == "PNG"
        assert CURVE in {colour for _, colour in picture.getcolors(1 << 16)}


def test_a_crawl_without_any_pair_is_drawn(tmp_path):
    pytest.importorskip("PIL")
    draw_yield([], "spa-eus", tmp_path / "yield.png")
    assert (tmp_path / "yield.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("most", "shown"),
    [(1, [0, 1]), (7, list(range(8))), (9, [0, 2, 4, 6, 8]), (1200, list(range(0, 1001, 200)))],
)
def test_ticks_are_round_numbers(most, shown):
    assert list(ticks(most))[: len(shown)] == shown
    assert len(ticks(most)) <= 9


@pytest.mark.crawl
def test_a_stopped_crawl_goes_on_with_its_curve_and_a_finished_one_draws_it(tmp_path):
    with serve_demo() as server:
        url = server.url
        crawl(url, tmp_path / "out", settings={"CLOSESPIDER_PAGECOUNT": 20})
        first = report(tmp_path / "out")["yield"]
        assert not (tmp_path / "out" / "yield.png").exists()
        printed = crawl(url, tmp_path / "out", settings={"EXTENSIONS": "{}"})
    whole = report(tmp_path / "out")
    known = first[:-1]  # the end of a run weighs all pairs once more, which may change the last
    assert whole["yield"][: len(known)] == known
    assert whole["yield"][-1] == [whole["pages"], whole["pairs"]]
    assert [pages for pages, _ in whole["yield"]] == sorted({pages for pages, _ in whole["yield"]})
    assert (tmp_path / "out" / "yield.png").exists() == (find_spec("PIL") is not None)
    assert "yield.png" in printed
