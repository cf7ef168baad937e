"""The geometry of the pictures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.reporting.forecast import Forecast, Range
from bilingual_crawler.web.charts import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TONES,
    TOP,
    WIDTH,
    draw_bars,
    draw_histogram,
    draw_layers,
    draw_map,
    draw_yield,
)


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.tuples(st.integers(0, 10**7), st.floats(0, 1)),
        max_size=45,
    )
)
def test_a_map_fills_its_frame_with_areas_in_proportion(sections):
    areas = draw_map(sections)
    numbers = {name: number for name, (number, _) in sections.items() if number}
    assert {each.name: each.number for each in areas} == numbers
    total = sum(numbers.values())
    for each in areas:
        assert each.x >= 0
        assert each.y >= 0
        assert each.x + each.width <= WIDTH + 1
        assert each.y + each.height <= HEIGHT + 1
        wanted = WIDTH * HEIGHT * each.number / total
        assert each.width * each.height == pytest.approx(wanted, abs=60)
        assert 0 <= each.tone < TONES


def test_a_forecast_is_a_fan_behind_the_end_of_the_curve():
    drawing = draw_yield([(0, 0), (50, 20)], Forecast(Range(20, 30, 40), Range(80, 100, 150)))
    middle = (LEFT + WIDTH - RIGHT) / 2
    assert drawing.end == (middle, round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) / 2, 1))
    assert drawing.fan.startswith(f"M{drawing.end[0]} {drawing.end[1]}L{float(WIDTH - RIGHT)} ")
    ended = Forecast(Range(20, 20, 20), Range(50, 50, 50))
    assert draw_yield([(0, 0), (50, 20)], ended).fan == ""
    assert draw_yield([], None) is None


def test_bars_are_as_long_as_their_numbers():
    first, second = draw_bars({"a": 10, "b": 5}).bars
    assert second.width == pytest.approx(first.width / 2, abs=0.1)
    assert [bar.label for bar in draw_histogram([1, 0, 3, 0]).bars][1] == "0.25-0.50"
    assert draw_bars({}) is None
    assert draw_histogram([0, 0]) is None


def test_layers_end_at_the_top():
    drawing = draw_layers([{"a": 1, "b": 3}, {"a": 2}], ["a", "b"])
    assert drawing.layers[1].path.startswith(f"M{float(LEFT)} {float(TOP)}L")
    assert draw_layers([{"a": 1}], ["a"]) is None
